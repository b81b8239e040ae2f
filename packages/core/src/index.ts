// The words and the decisions. Imports nothing.
export * from './problem.ts';
export * from './addresses.ts';
export * from './address-pool.ts';
export type { Clock } from './clock.ts';
export type * from './load-balancer.ts';
export * from './member.ts';
export type * from './provider.ts';
