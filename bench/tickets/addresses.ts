// All addresses of a /16 given out, as pairs, by the ledger of the controller.
import { loadbalancers, filled, type Loadbalancer } from '@fairlead/api';
import { Ledger } from '../../packages/tickets/src/ledger.ts';
import { spread, type Figure } from '../figure.ts';

const repetitions = 5;

/** Milliseconds of CPU for 65,536 pairs, so for 131,072 addresses; and the pools are empty then. */
export function addressesCpuMs(say: (text: string) => void): Figure {
  say(`65,536 addresses of a /16: ${repetitions} times`);
  const samples: number[] = [];
  for (let i = 0; i < repetitions + 1; i += 1) {
    const ledger = new Ledger(() => undefined);
    // One more bit each, so that network and broadcast are not among the 65,536.
    ledger.open(wide());
    const before = process.cpuUsage();
    for (let n = 0; n < 65_536; n += 1) {
      const taken = ledger.take('wide', { name: `project/t-${n}`, created: n }, {});
      if (!taken.ok) throw new Error(taken.problem.message);
      ledger.settle('wide', `project/t-${n}`, taken.value);
    }
    const { user, system } = process.cpuUsage(before);
    if (i > 0) samples.push((user + system) / 1000);
  }
  return { ...spread(samples), unit: 'ms of CPU for 65,536 pairs', goal: { max: 1000 } };
}

const wide = (): Loadbalancer =>
  filled(loadbalancers, {
    apiVersion: 'ebcpaas.lb/v1',
    kind: 'Loadbalancer',
    metadata: { name: 'wide' },
    spec: {
      ltm: { url: 'http://100.1.1.1/api', cidr: '10.0.0.0/15' },
      ve: { addr: '200.1.1.1', user: 'admin', passwd: 'admin', cidr: '20.0.0.0/15' },
      cluster: 'region01',
      nsselector: { wide: 'true' },
    },
  } as unknown as Loadbalancer);
