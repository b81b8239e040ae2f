// The transcript of kubectl on the real server and on ours, each with simulated nodes and informers, compared.
import { cluster } from '@fairlead/sim-cluster';
import { spawnSync } from 'node:child_process';
import { inform } from './informer.ts';
import { compareTyped, typeAll, type Access, type Typed } from './transcript.ts';

const namespace = 'typed';
/** While the first half of the transcript is typed. */
const informerSeconds = 15;

export interface KubectlServer extends Access {
  /** Where its pods listen; the API shows 10.244.0.0/16 on both, since a real server refuses loopback endpoints. */
  listenCidr: string;
  /** True when no controller manager collects garbage and empties namespaces. */
  collect: boolean;
}

export const hasKubectl = (): boolean => spawnSync('kubectl', ['version', '--client']).status === 0;

/** What was typed and what differed, as lines. `informer`: path of the informer program, which follows meanwhile. */
export async function compareKubectl(
  real: KubectlServer,
  ours: KubectlServer,
  informer: string | undefined,
): Promise<{ count: number; differences: string[] }> {
  const [theirs, own] = await Promise.all([typed(real, informer), typed(ours, informer)]);
  return {
    count: theirs.typed.length,
    differences: [...missed('real', theirs), ...missed('ours', own), ...compareTyped(theirs.typed, own.typed)],
  };
}

interface Session {
  typed: Typed[];
  /** What the informers had to complain of while it was typed. */
  complaint: string | undefined;
}

async function typed(access: KubectlServer, informer: string | undefined): Promise<Session> {
  const nodes = cluster({ ...access, name: 'sim', podCidr: '10.244.0.0/16', nodes: 1 });
  await nodes.start();
  try {
    const [all, complaint] = await Promise.all([
      typeAll(access, namespace),
      informer === undefined ? undefined : inform(informer, access, informerSeconds),
    ]);
    return { typed: all, complaint };
  } finally {
    await nodes.stop();
  }
}

const missed = (server: string, { complaint }: Session): string[] =>
  complaint === undefined ? [] : [`differs    client-go informers on the ${server} server: ${complaint}`];
