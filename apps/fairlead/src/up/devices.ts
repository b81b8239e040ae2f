// The simulated devices of `fairlead up`: the VE, whose data plane carries traffic, and the LTM in front of it.
import { bigip, loopback, type Bigip, type BigipOptions } from '@fairlead/sim-bigip';
import type { DataDir } from './data-dir.ts';
import { administrator } from './device-view.ts';
import { boundAt } from './requests.ts';

export interface Devices {
  ve: { sim: Bigip; url: string };
  ltm: { sim: Bigip; url: string };
  close(): Promise<void>;
}

const users = { [administrator.user]: administrator.password };

export async function startDevices(dir: DataDir, ports: Readonly<Record<string, number>>): Promise<Devices> {
  const start = async (name: string, more: Pick<BigipOptions, 'reach'> = {}) => {
    const file = `${name}.json`;
    const saved = { load: () => dir.load(file), save: (text: string) => dir.save(file, text) };
    const sim = bigip({ users, bind: loopback, saved, ...more });
    const { url } = await sim.listen({ host: '127.0.0.1', port: ports[name] ?? 0 });
    return { sim, url };
  };
  const ve = await start('ve');
  // The network between the two: what the LTM sends to a VE address arrives where the VE has bound it.
  const reach = (address: string, port: number) => boundAt(ve.sim, address, port) ?? { host: address, port };
  const ltm = await start('ltm', { reach });
  return {
    ve,
    ltm,
    close: async () => {
      await Promise.all([ve.sim.close(), ltm.sim.close()]);
    },
  };
}
