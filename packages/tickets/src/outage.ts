// What the controller is told of clusters and devices: since when one cannot be worked with, and why.
import type { Problem } from '@fairlead/core';

export interface Outage {
  problem: Problem;
  /** Milliseconds since the epoch. */
  since: number;
}

/** `pending`: nobody has asked it yet. `external`: nobody here talks to it. */
export type DeviceState = 'reachable' | 'pending' | 'external' | Outage;

/** Kept by whoever holds the connections. Reads never wait. */
export interface Surroundings {
  /** Undefined while the cluster can be worked with, or is being connected for the first time. */
  cluster(name: string): Outage | undefined;
  /** The VE of a Loadbalancer. */
  device(loadbalancer: string): DeviceState;
  /** Calls back when either changed; without a name, any may have. Returns the way to stop. */
  listen(heard: { cluster(name?: string): void; device(loadbalancer: string): void }): () => void;
}
