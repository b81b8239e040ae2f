// From a change in what is wanted to a turn for what it touches.
export { engine, type Engine, type EngineOptions, type ScopeTurn } from './engine.ts';
export { backoff, type Backoff, type BackoffOptions } from './backoff.ts';
export { lanes, type LanesOptions } from './lanes.ts';
export { ingressStatuses, isOfIngresses, type IngressCluster, type IngressStatusOptions } from './ingress-status.ts';
export { memberTurns, type MembersWritten, type MemberTurnOptions, type MemberTurns } from './member-turns.ts';
export type { Outcome } from './outcome.ts';
export { queue, type Queue, type QueueOptions, type Turn, type TurnTaken } from './queue.ts';
export { reconcile, type TurnResult, type TurnQuestion } from './reconcile.ts';
export { statusText, withOutcome, type Remark, type Report } from './report.ts';
export { statuses, type ClusterReports, type Statuses, type StatusOptions } from './status.ts';
