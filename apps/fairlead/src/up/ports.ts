// Ports that stay the same over restarts, so that a kubeconfig copied elsewhere goes on working.
import { createServer } from 'node:net';
import type { DataDir } from './data-dir.ts';

const file = 'ports.json';

/** Those of an environment, by the number of its slot. A port is found free some time before it is listened on: no two environments may want the same. */
export const preferredPorts = (slot: number): Record<string, number> => ({
  management: 6440 + 10 * slot,
  'acp-region01': 6441 + 10 * slot,
  'acp-region02': 6442 + 10 * slot,
  ve: 8443 + 10 * slot,
  ltm: 8444 + 10 * slot,
  metrics: 8480 + 10 * slot,
});

/** A port on 127.0.0.1 for each name: last time's if it is free, else the preferred one, else any. */
export async function choosePorts(
  dir: DataDir,
  preferred: Readonly<Record<string, number>>,
): Promise<Record<string, number>> {
  const kept = JSON.parse(dir.load(file) ?? '{}') as Record<string, number>;
  const chosen: Record<string, number> = {};
  for (const [name, first] of Object.entries(preferred)) {
    const candidates = [kept[name], first].filter((port) => port !== undefined);
    chosen[name] = await firstFree([...candidates, 0], new Set(Object.values(chosen)));
  }
  dir.save(file, `${JSON.stringify(chosen, null, 2)}\n`);
  return chosen;
}

async function firstFree(candidates: number[], used: Set<number>): Promise<number> {
  for (const candidate of candidates) {
    if (used.has(candidate)) continue;
    const port = await tryPort(candidate);
    if (port !== undefined) return port;
  }
  throw new Error('bug: the system had no free port on 127.0.0.1');
}

function tryPort(port: number): Promise<number | undefined> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', () => resolve(undefined));
    probe.listen(port, '127.0.0.1', () => {
      const address = probe.address();
      probe.close(() => resolve(typeof address === 'object' && address ? address.port : undefined));
    });
  });
}
