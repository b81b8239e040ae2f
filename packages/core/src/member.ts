// Members: the pod addresses behind a pool, and what to write when they change. The fast lane carries these.
import type { Scope } from './load-balancer.ts';

/**
 * `enabled`: gets new connections. `draining`: keeps what it has, gets nothing new.
 */
export type MemberState = 'enabled' | 'draining';

export interface Member {
  /** IPv4 or IPv6 text. */
  address: string;
  /** 1 to 65535. */
  port: number;
  state: MemberState;
  /** Share among the pool's members, 1 to 100; 1 when not given. */
  ratio?: number | undefined;
}

/** A pool in a place: `application/pool` inside `scope`, as the provider names it. */
export interface PoolRef {
  scope: Scope;
  /** Key of the load balancer that holds the pool. */
  key: string;
  pool: string;
}

export interface MemberPlan {
  add: Member[];
  change: Member[];
  remove: Member[];
}

export const memberName = (member: { address: string; port: number }): string =>
  member.address.includes(':') ? `${member.address}.${member.port}` : `${member.address}:${member.port}`;
