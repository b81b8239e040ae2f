// Is a target cluster there to be written to? One that is slow at start is no news; one that stays away is.
import { fail, type Problem } from '@fairlead/core';
import { laterTry, type Desk, type FreshTarget, type Next } from './desk.ts';

export type Reached =
  | { ok: true; target: FreshTarget }
  /** `isNews`: it has been away for long enough to tell users. */
  | { ok: false; problem: Problem; isNews: boolean; next: Next };

/** After this many looks, some seconds, it is news. */
const patience = 3;

export function reach(desk: Desk, cluster: string): Reached {
  const target = desk.target(cluster);
  const key = `cluster ${cluster}`;
  if (isRead(target)) {
    desk.tries.delete(key);
    return { ok: true, target };
  }
  // Many ask for one cluster: looks are counted in time, not by who asks.
  const before = desk.tries.get(key);
  if (!before || before.at <= desk.clock.now()) laterTry(desk, key);
  const { count = 0, at = 0 } = desk.tries.get(key) ?? {};
  const why = `cluster "${cluster}" is not connected; what is on the device stays as it is`;
  const next = { after: Math.max(at - desk.clock.now(), 1) };
  return { ok: false, problem: fail('unreachable', why).problem, isNews: count > patience, next };
}

/** Were its objects read once? Until then absent may mean late. */
export const isRead = (target: FreshTarget | undefined): target is FreshTarget =>
  target !== undefined &&
  target.stores.namespaces.synced &&
  target.stores.services.synced &&
  target.stores.configmaps.synced;
