// What the controller is told of clusters and devices: since when one cannot be worked with, and why.
import type { Lbticket } from '@fairlead/api';
import type { Problem } from '@fairlead/core';
import type { LtmState } from './ltm.ts';

export interface Outage {
  problem: Problem;
  /** Milliseconds since the epoch. */
  since: number;
}

/** `pending`: nobody has asked it yet. `external`: nobody here talks to it. */
export type DeviceState = 'reachable' | 'pending' | 'external' | Outage;

/** The first layer, and the second: which of the two devices of a Loadbalancer. */
export type Layer = 've' | 'ltm';

/** Kept by whoever holds the connections. Reads never wait. */
export interface Surroundings {
  /** Undefined while the cluster can be worked with, or is being connected for the first time. */
  cluster(name: string): Outage | undefined;
  /** The VE of a Loadbalancer. */
  device(loadbalancer: string): DeviceState;
  /** The LTM of a Loadbalancer; `external` when it is not ours to configure. Absent where nobody configures one. */
  ltmDevice?(loadbalancer: string): DeviceState;
  /** What became of the ticket's wish on the LTM; absent where nobody configures one. */
  ltm?(ticket: Lbticket): LtmState;
  /** Calls back when one of them changed; without a name, any may have. Returns the way to stop. */
  listen(heard: {
    cluster(name?: string): void;
    /** The VE, or the LTM. */
    device(loadbalancer: string): void;
    /** `namespace/name` of a ticket whose LtmState is another one. */
    ltm(ticket: string): void;
  }): () => void;
}
