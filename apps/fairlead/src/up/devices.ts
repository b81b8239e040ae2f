// The simulated devices of `fairlead up`: the VE, whose data plane carries traffic, and the LTM in front of it.
import { bigip, loopback, type Bigip } from '@fairlead/sim-bigip';
import type { DataDir } from './data-dir.ts';
import { administrator } from './device-view.ts';

export interface Devices {
  ve: { sim: Bigip; url: string };
  ltm: { sim: Bigip; url: string };
  close(): Promise<void>;
}

const users = { [administrator.user]: administrator.password };

export async function startDevices(dir: DataDir, ports: Readonly<Record<string, number>>): Promise<Devices> {
  const start = async (name: string) => {
    const file = `${name}.json`;
    const saved = { load: () => dir.load(file), save: (text: string) => dir.save(file, text) };
    const sim = bigip({ users, bind: loopback, saved });
    const { url } = await sim.listen({ host: '127.0.0.1', port: ports[name] ?? 0 });
    return { sim, url };
  };
  const [ve, ltm] = [await start('ve'), await start('ltm')];
  return {
    ve,
    ltm,
    close: async () => {
      await Promise.all([ve.sim.close(), ltm.sim.close()]);
    },
  };
}
