// The transcript of kubectl on the real server and on ours, each with simulated nodes, compared.
import { cluster } from '@fairlead/sim-cluster';
import { spawnSync } from 'node:child_process';
import { compareTyped, typeAll, type Access, type Typed } from './transcript.ts';

const namespace = 'typed';

export interface KubectlServer extends Access {
  /** Where its pods listen; the API shows 10.244.0.0/16 on both, since a real server refuses loopback endpoints. */
  listenCidr: string;
  /** True when no controller manager collects garbage and empties namespaces. */
  collect: boolean;
}

export const hasKubectl = (): boolean => spawnSync('kubectl', ['version', '--client']).status === 0;

/** What was typed and what differed, as lines. */
export async function compareKubectl(
  real: KubectlServer,
  ours: KubectlServer,
): Promise<{ count: number; differences: string[] }> {
  const [theirs, own] = await Promise.all([typed(real), typed(ours)]);
  return { count: theirs.length, differences: compareTyped(theirs, own) };
}

async function typed(access: KubectlServer): Promise<Typed[]> {
  const nodes = cluster({ ...access, name: 'sim', podCidr: '10.244.0.0/16', nodes: 1 });
  await nodes.start();
  try {
    return await typeAll(access, namespace);
  } finally {
    await nodes.stop();
  }
}
