// Is a target cluster there to be written to? One that is slow at start is no news; one that stays away is.
import type { Loadbalancer } from '@fairlead/api';
import { fail, problems, type Problem } from '@fairlead/core';
import { laterTry, type Desk, type FreshTarget, type Next } from './desk.ts';
import { onChange } from './finding.ts';
import type { DeviceState, Layer, Outage } from './outage.ts';
import { timeText } from './status.ts';

export type Reached =
  | { ok: true; target: FreshTarget }
  /** `isNews`: it has been away for long enough to tell users. */
  | { ok: false; problem: Problem; isNews: boolean; next: Next };

/** After this many looks, some seconds, it is news. */
const patience = 3;

/** An outage that time may cure is told when it has lasted this long. Milliseconds. */
const newsAfter = 10_000;

export function reach(desk: Desk, cluster: string): Reached {
  const target = desk.target(cluster);
  const outage = desk.surroundings?.cluster(cluster);
  const key = `cluster ${cluster}`;
  if (outage) {
    desk.tries.delete(key);
    const left = untilNews(desk, outage);
    const problem = clusterOutage(cluster, outage);
    return { ok: false, problem, isNews: left <= 0, next: left <= 0 ? onChange : { after: left } };
  }
  if (isRead(target)) {
    desk.tries.delete(key);
    return { ok: true, target };
  }
  // Many ask for one cluster: looks are counted in time, not by who asks.
  const before = desk.tries.get(key);
  if (!before || before.at <= desk.clock.now()) laterTry(desk, key);
  const { count = 0, at = 0 } = desk.tries.get(key) ?? {};
  const why = `cluster "${cluster}" is not connected; ${stays}`;
  const next = { after: Math.max(at - desk.clock.now(), 1) };
  return { ok: false, problem: fail('unreachable', why).problem, isNews: count > patience, next };
}

/** Were its objects read once? Until then absent may mean late. */
export const isRead = (target: FreshTarget | undefined): target is FreshTarget =>
  target !== undefined &&
  target.stores.namespaces.synced &&
  target.stores.services.synced &&
  target.stores.configmaps.synced;

/** Milliseconds; what time does not cure is news at once. */
export const untilNews = ({ clock }: Pick<Desk, 'clock'>, { problem, since }: Outage): number =>
  problems[problem.code].retry ? since + newsAfter - clock.now() : 0;

const stays = 'what is on the device stays as it is';

export const clusterOutage = (cluster: string, { problem, since }: Outage): Problem => ({
  code: problem.code,
  message: `cluster "${cluster}" cannot be worked with since ${timeText(since)}: ${problem.message}; ${stays}`,
});

/** One of the two devices of a Loadbalancer. */
export interface On {
  loadbalancer: Loadbalancer;
  layer: Layer;
}

/** What is known of it. */
export const deviceState = (
  { surroundings }: Pick<Desk, 'surroundings'>,
  { loadbalancer: { metadata }, layer }: On,
): DeviceState | undefined =>
  layer === 've' ? surroundings?.device(metadata.name) : surroundings?.ltmDevice?.(metadata.name);

/** Why it cannot be worked with, once that is news. */
export function deviceAway(desk: Pick<Desk, 'surroundings' | 'clock'>, on: On): Problem | undefined {
  const state = deviceState(desk, on);
  if (typeof state !== 'object' || untilNews(desk, state) > 0) return undefined;
  const { spec } = on.loadbalancer;
  const device = on.layer === 've' ? `VE ${spec.ve.addr}` : `LTM ${spec.ltm.url}`;
  const { problem, since } = state;
  const message = `the ${device} cannot be worked with since ${timeText(since)}: ${problem.message}; what is on it stays as it is`;
  return { code: problem.code, message };
}
