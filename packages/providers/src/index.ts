// Load balancers → places.
export { memory, type Memory, type MemoryForm } from './memory.ts';
