// What is around the controllers, as a test tells it.
import type { DeviceState, Surroundings } from '../outage.ts';
import type { LtmState } from '../ltm.ts';

export interface ToldSurroundings extends Surroundings {
  /** From now on the LTM has this to say of every ticket; those named hear of it. */
  ltmSays(state: LtmState, ...tickets: string[]): void;
  devicesAre(states: { ve?: DeviceState; ltm?: DeviceState }, loadbalancer: string): void;
}

export function toldSurroundings(): ToldSurroundings {
  const heard = new Set<Parameters<Surroundings['listen']>[0]>();
  let ltm: LtmState = 'none';
  let devices: { ve: DeviceState; ltm: DeviceState } = { ve: 'reachable', ltm: 'external' };
  return {
    cluster: () => undefined,
    device: () => devices.ve,
    ltmDevice: () => devices.ltm,
    ltm: () => ltm,
    listen(who) {
      heard.add(who);
      return () => void heard.delete(who);
    },
    ltmSays(state, ...tickets) {
      ltm = state;
      for (const who of heard) tickets.forEach((ticket) => who.ltm(ticket));
    },
    devicesAre(states, loadbalancer) {
      devices = { ...devices, ...states };
      for (const who of heard) who.device(loadbalancer);
    },
  };
}
