// The condition DeviceReachable of a Loadbalancer: of its VE, and of its LTM where that is ours to configure.
import type { Loadbalancer } from '@fairlead/api';
import type { Desk, Next } from './desk.ts';
import { fails, holds, onChange } from './finding.ts';
import type { DeviceState } from './outage.ts';
import { deviceAway, untilNews } from './reach.ts';
import type { Fact } from './status.ts';

type DeviceDesk = Pick<Desk, 'surroundings' | 'clock'>;

/**
 *   VE        | LTM       | DeviceReachable
 *   ----------+-----------+------------------------------------------
 *   away      | any       | False: the VE; and the LTM when it is, too
 *   any       | away      | False: the LTM
 *   pending   | any       | as it was
 *   any       | pending   | as it was
 *   external  | well      | Unknown
 *   well      | well      | True
 *
 * An outage that is no news yet is pending, a LTM that is not ours is well. Undefined leaves the condition as it is.
 */
export function deviceFact(desk: DeviceDesk, loadbalancer: Loadbalancer): Fact | undefined {
  const { ve, ltm } = statesOf(desk, loadbalancer.metadata.name);
  if (ve === undefined) return undefined;
  const away = (['ve', 'ltm'] as const).flatMap((layer) => deviceAway(desk, { loadbalancer, layer }) ?? []);
  const [first] = away;
  if (first) return fails(first.code, away.map(({ message }) => message).join('; '));
  if (ve === 'external' && ltm === 'reachable')
    return {
      status: 'Unknown',
      reason: 'External',
      message: 'spec.cis.mode is external: the CIS of the cluster talks to it',
    };
  return ve === 'reachable' && ltm === 'reachable' ? holds('Connected') : undefined;
}

/** When an outage becomes news. */
export function nextForDevice(desk: DeviceDesk, name: string): Next {
  const { ve, ltm } = statesOf(desk, name);
  const waits = [ve, ltm].flatMap((state) => (typeof state === 'object' ? untilNews(desk, state) : []));
  const ahead = waits.filter((wait) => wait > 0);
  return ahead.length > 0 ? { after: Math.min(...ahead) } : onChange;
}

function statesOf({ surroundings }: DeviceDesk, name: string): { ve: DeviceState | undefined; ltm: DeviceState } {
  const ltm = surroundings?.ltmDevice?.(name) ?? 'external';
  return { ve: surroundings?.device(name), ltm: ltm === 'external' ? 'reachable' : ltm };
}
