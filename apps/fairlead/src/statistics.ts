// Reads what devices have counted, over connections of its own, so that neither lane of the agents waits for it.
import type { Loadbalancer } from '@fairlead/api';
import { fail, type Clock, type Result, type Statistics, type StatisticsQuestion } from '@fairlead/core';
import type { AddressMap } from './address-map.ts';
import type { Credentials } from './credentials.ts';
import type { Device, DeviceOptions } from './device.ts';

export interface StatisticsReaderOptions {
  device(options: DeviceOptions): Device;
  credentials(loadbalancer: Loadbalancer): Credentials | undefined;
  map: AddressMap;
  clock: Clock;
}

export interface StatisticsReader {
  read(loadbalancer: Loadbalancer, question: StatisticsQuestion, signal: AbortSignal): Promise<Result<Statistics>>;
  /** Once nobody reads any more. */
  close(): Promise<void>;
}

export function statisticsReader({ device, credentials, map, clock }: StatisticsReaderOptions): StatisticsReader {
  const open = new Map<string, { login: string; device: Device }>();
  const deviceOf = (name: string, url: string, login: Credentials): Device => {
    const key = JSON.stringify([url, login]);
    const present = open.get(name);
    if (present?.login === key) return present.device;
    void present?.device.close();
    const made = device({ url, credentials: login, clock });
    open.set(name, { login: key, device: made });
    return made;
  };
  return {
    async read(loadbalancer, question, signal) {
      const { name } = loadbalancer.metadata;
      const login = credentials(loadbalancer);
      if (!login)
        return fail(
          'missing',
          `Loadbalancer ${name} has no credentials for its VE, so what the device counts cannot be read; look at spec.ve`,
        );
      const { provider } = deviceOf(name, map(loadbalancer.spec.ve.addr), login);
      if (!provider.statistics) return fail('missing', `the device of Loadbalancer ${name} counts nothing`);
      return provider.statistics(question, signal);
    },
    async close() {
      await Promise.all([...open.values()].map((one) => one.device.close()));
    },
  };
}
