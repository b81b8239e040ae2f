// The living side of pools: which members are up, how many connections each has, and which gets the next one.

import type { Member, Pool } from '../configuration/object.ts';
import { monitorsOf, nodePath } from '../configuration/check.ts';
import type { View } from '../configuration/store.ts';

/** By its monitors. `checking`: no result yet; `unchecked`: it has no monitor. */
export type MonitorStatus = 'up' | 'down' | 'checking' | 'unchecked';

interface Living {
  status: MonitorStatus;
  /** Ends a connection at once. */
  connections: Set<() => void>;
  total: number;
  requests: number;
  /** For the smooth weighted round: grows by the ratio each turn, falls by the sum when picked. */
  credit: number;
  picked: number;
}

export interface MemberStatus {
  /** As REST shows them. */
  state: 'up' | 'down' | 'checking' | 'unchecked' | 'user-down';
  session: 'monitor-enabled' | 'user-enabled' | 'user-disabled';
  connections: number;
  total: number;
  /** Of HTTP, that were sent to it. */
  requests: number;
}

/*
 *  member is                        | new connection | persisted one | living one
 *  ---------------------------------+----------------+---------------+-----------
 *  up, unchecked, checking          | yes            | yes           | goes on
 *  user-disabled (session)          | no             | yes           | goes on
 *  user-down (state)                | no             | no            | goes on
 *  down by its monitors             | no             | no            | goes on
 *  at its connection limit          | no             | no            | goes on
 *  removed from the pool            | -              | -             | reset
 */
export class Members {
  #configuration: View;
  #living = new Map<string, Living>();
  /** Of each pool since it was made, members that have left it included. */
  #totals = new Map<string, { connections: number; requests: number }>();
  #turn = 0;
  /** Called when a member of the pool became usable or unusable. */
  onStatus: (pool: string) => void = () => undefined;

  constructor(configuration: View) {
    this.#configuration = configuration;
  }

  status(pool: Pool, member: Member): MemberStatus {
    const living = this.#of(pool, member);
    const { session, state } = this.#administered(member);
    const isMonitored = monitorsOf(pool.monitor).needed > 0;
    return {
      state: state === 'user-down' ? 'user-down' : living.status,
      session: session === 'user-disabled' ? 'user-disabled' : isMonitored ? 'monitor-enabled' : 'user-enabled',
      connections: living.connections.size,
      total: living.total,
      requests: living.requests,
    };
  }

  /** Whether the member takes a connection: a new one, or one that persistence leads to it. */
  takes(pool: Pool, member: Member, isPersisted = false): boolean {
    const living = this.#of(pool, member);
    const { session, state } = this.#administered(member);
    if (state === 'user-down' || living.status === 'down') return false;
    if (member.connectionLimit > 0 && living.connections.size >= member.connectionLimit) return false;
    return isPersisted || session === 'user-enabled';
  }

  /** The member for a new connection by the pool's method. */
  pick(pool: Pool): Member | undefined {
    const open = this.#inPriority(pool);
    if (open.length === 0) return undefined;
    const isRatio = pool.loadBalancingMode.startsWith('ratio');
    const chosen = pool.loadBalancingMode.includes('least-connections')
      ? this.#leastLoaded(pool, open)
      : this.#inTurn(pool, open, isRatio);
    if (chosen) this.#of(pool, chosen).picked = this.#turn += 1;
    return chosen;
  }

  /** Counts a connection to the member until the answer is called. `reset` ends it when the member is removed. */
  open(pool: Pool, member: Member, reset: () => void): () => void {
    const living = this.#of(pool, member);
    living.connections.add(reset);
    living.total += 1;
    this.totals(pool.fullPath).connections += 1;
    return () => void living.connections.delete(reset);
  }

  /** Counts an HTTP request that was sent to the member. */
  asked(pool: Pool, member: Member): void {
    this.#of(pool, member).requests += 1;
    this.totals(pool.fullPath).requests += 1;
  }

  totals(pool: string): { connections: number; requests: number } {
    const known = this.#totals.get(pool);
    if (known) return known;
    const made = { connections: 0, requests: 0 };
    this.#totals.set(pool, made);
    return made;
  }

  /** A pool that is gone, or made anew, counts from 0. */
  forget(pool: string): void {
    this.#totals.delete(pool);
  }

  setStatus(pool: Pool, member: Member, status: MonitorStatus): void {
    const living = this.#of(pool, member);
    if (living.status === status) return;
    living.status = status;
    this.onStatus(pool.fullPath);
  }

  /** A member has left its pool: its connections are reset. Answers how many. */
  remove(pool: string, member: Member): number {
    const key = keyOf(pool, member);
    const connections = [...(this.#living.get(key)?.connections ?? [])];
    this.#living.delete(key);
    for (const reset of connections) reset();
    return connections.length;
  }

  /** The member's own words, unless its node's are worse. */
  #administered(member: Member): Pick<Member, 'session' | 'state'> {
    const node = this.#configuration.get('node', nodePath(member));
    return {
      session: node?.session === 'user-disabled' ? 'user-disabled' : member.session,
      state: node?.state === 'user-down' ? 'user-down' : member.state,
    };
  }

  /** Members that take new connections, down to the priority group that brings enough of them. */
  #inPriority(pool: Pool): Member[] {
    const open = pool.members.filter((member) => this.takes(pool, member));
    if (pool.minActiveMembers === 0) return open;
    const groups = [...new Set(open.map((member) => member.priorityGroup))].sort((a, b) => b - a);
    const chosen: Member[] = [];
    for (const group of groups) {
      if (chosen.length >= pool.minActiveMembers) break;
      chosen.push(...open.filter((member) => member.priorityGroup === group));
    }
    return chosen;
  }

  #leastLoaded(pool: Pool, open: Member[]): Member | undefined {
    const isRatio = pool.loadBalancingMode.startsWith('ratio');
    const load = (member: Member): number =>
      this.#of(pool, member).connections.size / (isRatio ? Math.max(member.ratio, 1) : 1);
    return [...open].sort((a, b) => load(a) - load(b) || this.#of(pool, a).picked - this.#of(pool, b).picked)[0];
  }

  /** Smooth weighted round robin: 5:1:1 gives aabacaa, not aaaaabc. Ratio 0 gets nothing unless all have 0. */
  #inTurn(pool: Pool, open: Member[], isRatio: boolean): Member | undefined {
    const total = isRatio ? open.reduce((sum, member) => sum + member.ratio, 0) : 0;
    const weight = (member: Member): number => (total > 0 ? member.ratio : 1);
    let best: { member: Member; living: Living } | undefined;
    for (const member of open) {
      if (weight(member) === 0) continue;
      const living = this.#of(pool, member);
      living.credit += weight(member);
      if (!best || living.credit > best.living.credit) best = { member, living };
    }
    if (best) best.living.credit -= total > 0 ? total : open.length;
    return best?.member;
  }

  #of(pool: Pool, member: Member): Living {
    const key = keyOf(pool.fullPath, member);
    const known = this.#living.get(key);
    if (known) return known;
    const status = monitorsOf(pool.monitor).needed > 0 ? 'checking' : 'unchecked';
    const living: Living = { status, connections: new Set(), total: 0, requests: 0, credit: 0, picked: 0 };
    this.#living.set(key, living);
    return living;
  }
}

function keyOf(pool: string, member: Member): string {
  return `${pool} ${member.fullPath}`;
}
