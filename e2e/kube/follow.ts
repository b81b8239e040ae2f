// client-go informers on our own server for a long time, while everything they follow keeps changing.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, fetch } from 'undici';
import { parse } from 'yaml';
import { cluster } from '../../sims/cluster/src/index.ts';
import { followFor } from './informer.ts';
import type { PeerUser } from './peer.ts';
import { startServed, type Served } from './served.ts';

/** A window so short that the busy kinds are compacted all the time. */
const history = 200;
const between = 40;
/** Our own kinds' objects: the file of each in the quickstart, and its path once it is made. */
const own = [
  ['01-loadbalancer.yaml', '/apis/ebcpaas.lb/v1/loadbalancers/demo'],
  ['02-lbticket.yaml', '/apis/ebcpaas.io/v1/namespaces/default/lbtickets/test'],
  ['03-lbrule.yaml', '/apis/ebcpaas.lb/v1/namespaces/default/lbrules/irule'],
] as const;

/** Runs `program` for `length` (`10m`) on a busy server; gives what went wrong, one line each. */
export async function follow(
  program: string,
  length: string,
  { users, say }: { users: readonly PeerUser[]; say(line: string): void },
): Promise<string[]> {
  const failures: string[] = [];
  const served = await startServed(users, { history });
  const nodes = cluster({ ...served, name: 'follow', podCidr: '10.121.0.0/16', nodes: 2, listen: false });
  await nodes.start();
  const stop = new AbortController();
  const writer = writerOf(served);
  await installOwn(writer.ask);
  const writing = write(writer, stop.signal);
  say(`our server at ${served.server}, ${history} events kept of each kind, two simulated nodes, writes all the time`);
  const problem = await followFor(program, served, length);
  if (problem !== undefined) failures.push(problem);
  stop.abort();
  const { writes, refused } = await writing;
  await nodes.stop();
  await served.stop();
  say(`${writes} writes, ${refused.length} refused`);
  return [...failures, ...refused.slice(0, 5), ...served.reports];
}

interface Written {
  writes: number;
  refused: string[];
}

interface Writer {
  ask(method: string, path: string, body?: object): Promise<void>;
  written: Written;
}

function writerOf(served: Served): Writer {
  const send = sender(served);
  const written: Written = { writes: 0, refused: [] };
  return {
    written,
    async ask(method, path, body) {
      const status = await send(method, path, body);
      written.writes++;
      if (status >= 300) written.refused.push(`${method} ${path}: ${status}`);
    },
  };
}

/** Objects that come, change and go; a Deployment that is scaled and restarted, so that pods and slices do too. */
async function write({ ask, written }: Writer, signal: AbortSignal): Promise<Written> {
  const labels = { app: 'web' };
  await ask('POST', at('services'), {
    metadata: { name: 'web' },
    spec: { selector: labels, ports: [{ port: 80 }] },
  });
  await ask('POST', apps('deployments'), {
    metadata: { name: 'web' },
    spec: {
      replicas: 3,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: 'web', image: 'web:1' }] } },
    },
  });
  for (let round = 0; !signal.aborted; round++) {
    const name = `n-${round}`;
    for (const kind of ['configmaps', 'secrets']) {
      await ask('POST', at(kind), { metadata: { name } });
      await ask('PATCH', `${at(kind)}/${name}`, { metadata: { labels: { round: String(round) } } });
      if (round >= 20) await ask('DELETE', `${at(kind)}/n-${round - 20}`);
    }
    for (const [, path] of own) await ask('PATCH', path, { metadata: { labels: { round: String(round) } } });
    if (round % 100 === 0)
      await ask('PATCH', `${apps('deployments')}/web`, { spec: { replicas: 1 + ((round / 100) % 8) } });
    if (round % 500 === 250)
      await ask('PATCH', `${apps('deployments')}/web`, {
        spec: { template: { metadata: { annotations: { round: String(round) } } } },
      });
    await sleep(between);
  }
  return written;
}

/** Our own kinds, and the quickstart's object of each. */
async function installOwn(ask: Writer['ask']): Promise<void> {
  for (const file of readdirSync(new URL('deploy/crds/', root)).filter((one) => one.endsWith('.yaml')))
    await ask('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', yaml(`deploy/crds/${file}`));
  for (const [file, path] of own) await ask('POST', dirname(path), yaml(`examples/quickstart/management/${file}`));
}

const root = new URL('../../', import.meta.url);
const yaml = (path: string): object => parse(readFileSync(new URL(path, root), 'utf8')) as object;

/** One request to `served`; gives the status. */
function sender({ server, ca, token }: Served): (method: string, path: string, body?: object) => Promise<number> {
  const dispatcher = new Agent({ connect: { ca } });
  return async (method, path, body) => {
    const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
    const answered = await fetch(server + path, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': type },
      ...(body ? { body: JSON.stringify(body) } : {}),
      dispatcher,
    });
    await answered.text();
    return answered.status;
  };
}

const at = (kind: string): string => `/api/v1/namespaces/default/${kind}`;
const apps = (kind: string): string => `/apis/apps/v1/namespaces/default/${kind}`;
