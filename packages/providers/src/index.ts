// Load balancers → places. One line for each provider; a test fails when one is missing.
import { bigip } from './bigip/bigip.ts';
import { memory } from './memory.ts';

export const providers = { memory, bigip };

export { bigip, type BigipOptions } from './bigip/bigip.ts';
export { memory, type Memory, type MemoryForm } from './memory.ts';
