// From a change in what is wanted to a turn for what it touches.
export { queue, type Queue, type QueueOptions, type Turn } from './queue.ts';
