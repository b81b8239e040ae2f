// Members: the pod addresses behind a pool, and what to write when they change. The fast lane carries these.
import type { Key, Scope } from './load-balancer.ts';

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
  /** Only on members read from a place: an operator disabled it (or forced it offline) by hand, and so it stays. */
  byHand?: 'disabled' | 'offline' | undefined;
}

/** A pool in a place: `application/pool` inside `scope`, as the provider names it. */
export interface PoolRef {
  scope: Scope;
  /** Key of the load balancer that holds the pool. */
  key: Key;
  pool: string;
}

export interface MemberPlan {
  add: Member[];
  change: Member[];
  remove: Member[];
}

/** The trade's name of a member: `10.0.0.1:80`, `2001:db8::1.80`. */
export const memberName = (member: { address: string; port: number }): string =>
  member.address.includes(':') ? `${member.address}.${member.port}` : `${member.address}:${member.port}`;

/**
 * What to write so that a pool's members match.
 *
 *   wanted | found            | then
 *   -------+------------------+------------------------------------------------
 *   yes    | nothing          | add
 *   yes    | same             | leave
 *   yes    | other state/ratio| change
 *   yes    | disabled by hand | leave: it is the operator's, until it is removed
 *   no     | anything         | remove
 *
 * Sorted by name, so that the same step always makes the same calls.
 */
export function planMembers(wanted: readonly Member[], found: readonly Member[]): MemberPlan {
  const rest = new Map(found.map((member) => [memberName(member), member]));
  const plan: MemberPlan = { add: [], change: [], remove: [] };
  for (const member of new Map(wanted.map((one) => [memberName(one), one])).values()) {
    const present = rest.get(memberName(member));
    rest.delete(memberName(member));
    if (!present) plan.add.push(member);
    else if (!present.byHand && !isSameMember(member, present)) plan.change.push(member);
  }
  plan.remove.push(...rest.values());
  for (const part of [plan.add, plan.change, plan.remove]) part.sort(byMemberName);
  return plan;
}

/** What a pool holds once `plan` is written. */
export function membersAfter(plan: MemberPlan, found: readonly Member[]): Member[] {
  const after = new Map(found.map((member) => [memberName(member), member]));
  for (const member of plan.remove) after.delete(memberName(member));
  for (const member of [...plan.add, ...plan.change]) after.set(memberName(member), member);
  return [...after.values()].sort(byMemberName);
}

export const isMemberPlanEmpty = (plan: MemberPlan): boolean =>
  plan.add.length + plan.change.length + plan.remove.length === 0;

/** Order of members by name: a fixed one, so that reordering alone is never a change. */
export const byMemberName = (a: Member, b: Member): number => compareText(memberName(a), memberName(b));

const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

const isSameMember = (a: Member, b: Member): boolean => a.state === b.state && (a.ratio ?? 1) === (b.ratio ?? 1);
