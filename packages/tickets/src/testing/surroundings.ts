// What is around the controllers, as a test tells it.
import type { DeviceState, Surroundings } from '../outage.ts';
import type { LtmState } from '../ltm.ts';

export interface ToldSurroundings extends Surroundings {
  /** From now on the LTM has this to say of every ticket; those named hear of it. */
  ltmSays(state: LtmState, ...tickets: string[]): void;
  veIs(state: DeviceState, loadbalancer: string): void;
}

export function toldSurroundings(): ToldSurroundings {
  const heard = new Set<Parameters<Surroundings['listen']>[0]>();
  let ltm: LtmState = 'none';
  let ve: DeviceState = 'reachable';
  return {
    cluster: () => undefined,
    device: () => ve,
    ltm: () => ltm,
    listen(who) {
      heard.add(who);
      return () => void heard.delete(who);
    },
    ltmSays(state, ...tickets) {
      ltm = state;
      for (const who of heard) tickets.forEach((ticket) => who.ltm(ticket));
    },
    veIs(state, loadbalancer) {
      ve = state;
      for (const who of heard) who.device(loadbalancer);
    },
  };
}
