// Asks for turns of what tickets add up to: at once when there is little to do, and gathered while there is much.
import type { Desk } from './desk.ts';
import type { ConfigMapKey } from './directory.ts';

/** Milliseconds. A ConfigMap or a status is written whole, so while many tickets move, each write should take many along. */
const gather = { configMap: { idle: 0, busy: 5000 }, loadbalancer: { idle: 100, busy: 5000 } };

type WakeDesk = Pick<Desk, 'queue' | 'isBusy'>;

export const wakeConfigMap = (desk: WakeDesk, key: ConfigMapKey): void =>
  desk.queue.add(`configmap ${key}`, desk.isBusy() ? gather.configMap.busy : gather.configMap.idle);

export const wakeLoadbalancer = (desk: WakeDesk, name: string): void =>
  desk.queue.add(`loadbalancer ${name}`, desk.isBusy() ? gather.loadbalancer.busy : gather.loadbalancer.idle);
