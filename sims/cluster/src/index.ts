// The package's public surface.
export { cluster } from './cluster.ts';
export type { Cluster, ClusterOptions } from './cluster.ts';
export { realClock } from './clock.ts';
export type { Clock } from './clock.ts';
