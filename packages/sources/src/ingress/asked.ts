// What the Ingresses of one ticket ask for together, and what is to be told of each.
import type { Ingress } from '@fairlead/kube';
import type { VipClaim } from '@fairlead/api';
import type { LoadBalancer, Origin, Problem, Scope } from '@fairlead/core';
import type { Refusal } from '../source.ts';
import type { Use } from '../supply.ts';

/** Ports, ascending. `undefined`: not known, so they stay as they are. */
export type Ports = readonly number[] | undefined;

/** One Ingress of a group, and what is to be told of it. */
export interface IngressMember {
  ingress: Ingress;
  claim: VipClaim;
  /** Why it is not served as it is written; what was read of it last may be served still. */
  problem?: Problem | undefined;
  /** Its ticket is not enabled, or has another address by now. */
  isWaiting: boolean;
  notes: string[];
}

/** The Ingresses of one ticket: what they ask for together, and each of them. */
export interface IngressGroup {
  origin: Origin;
  scope: Scope;
  members: IngressMember[];
  /** By pool, the Ingresses that use it. */
  users: ReadonlyMap<string, readonly string[]>;
  /** Secrets of its certificates are not read yet: until then it stays as the place has it, and nothing is told. */
  isReading: boolean;
  /** With a front: what the place has or gets, to be remembered over a restart. */
  ports?: Ports;
}

/** The same, for the source that keeps it. */
export interface Group extends IngressGroup {
  balancer?: LoadBalancer | undefined;
  uses: ReadonlyMap<string, Use>;
  refusal?: Refusal | undefined;
  secrets: string[];
}
