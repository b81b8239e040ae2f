// The words and the decisions. Imports nothing.
export * from './problem.ts';
export * from './addresses.ts';
export * from './address-pool.ts';
export { untilAborted, type Clock } from './clock.ts';
export * from './load-balancer.ts';
export * from './member.ts';
export type * from './provider.ts';
export type * from './statistics.ts';
export { plan, isPlanEmpty, type PlanAnswer, type PlanQuestion } from './plan.ts';
export { settle, type Ask, type Refused } from './claim.ts';
export { brake, permit, type Brake, type Policy, type Withheld } from './policy.ts';
export { isEqual } from './equal.ts';
export { apportion, reduceWeights, shares } from './weights.ts';
export { crc32 } from './crc32.ts';
export { portable } from './regexp.ts';
export { canonicalNumber, parseCondition, type Check, type Clause, type TestRequest } from './condition.ts';
export * from './host-routes.ts';
export { choose, parseRoute, reducedWeights, type Choice } from './choose.ts';
