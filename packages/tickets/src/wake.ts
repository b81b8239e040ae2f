// Asks for turns of what tickets add up to: at once when there is little to do, and gathered while there is much.
import type { Desk, TurnKey } from './desk.ts';
import type { ConfigMapKey } from './directory.ts';

/**
 * Milliseconds. A ConfigMap or a status is written whole, so while many tickets are on their way, what they add waits
 * until they have come to rest, and one write takes them all along. `longest`: nobody waits for ever because others
 * keep filing. What is served already never waits: its edits are written at once.
 */
const wait = { configMap: 0, loadbalancer: 100, longest: 60_000 };

/**
 * Milliseconds in which an edit of what is served is mostly through. The one write of its status then says so, instead
 * of two that say "on its way" and "done"; whoever brings it about wakes the ticket before.
 */
export const quick = 100;

type WakeDesk = Pick<Desk, 'queue' | 'isBusy' | 'gathered'>;

export const wakeConfigMap = (desk: WakeDesk, key: ConfigMapKey): void =>
  wake(desk, `configmap ${key}`, wait.configMap);

/** Of a ticket that is served: with its edit goes whatever else there is to write. */
export const wakeConfigMapNow = (desk: WakeDesk, key: ConfigMapKey): void =>
  desk.queue.add(`configmap ${key}`, wait.configMap);

export const wakeLoadbalancer = (desk: WakeDesk, name: string): void =>
  wake(desk, `loadbalancer ${name}`, wait.loadbalancer);

function wake(desk: WakeDesk, key: TurnKey, soon: number): void {
  if (!desk.isBusy()) return desk.queue.add(key, soon);
  desk.gathered.add(key);
  desk.queue.add(key, wait.longest);
}

/** The many have come to rest. */
export function wakeGathered({ queue, gathered }: Pick<Desk, 'queue' | 'gathered'>): void {
  for (const key of gathered) queue.add(key);
  gathered.clear();
}
