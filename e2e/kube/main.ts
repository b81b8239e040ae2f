// The real lane: the suite on a real kube-apiserver and on ours, compared. Started by scripts/test-kube.mjs.
import { parseArgs } from 'node:util';
import { chapters } from '../../packages/testkit/src/kube-conformance/index.ts';
import { compare, isFine, record, table } from './compare.ts';
import { givenCluster } from './given.ts';
import { follow } from './follow.ts';
import { startHook, type Hook } from './hook.ts';
import { compareKubectl, hasKubectl } from './kubectl.ts';
import { startPeer, type Peer } from './peer.ts';
import { quickstart } from './quickstart.ts';
import { realPlace, type RealPlace } from './real-place.ts';
import { startServed } from './served.ts';

const { values } = parseArgs({
  options: {
    etcd: { type: 'string' },
    apiserver: { type: 'string' },
    kubeconfig: { type: 'string' },
    'informer-program': { type: 'string' },
    informer: { type: 'string' },
    report: { type: 'boolean' },
    record: { type: 'boolean' },
    kubectl: { type: 'boolean' },
    quickstart: { type: 'boolean' },
    chapter: { type: 'string', multiple: true },
  },
});

const programs = { etcd: values.etcd ?? '', apiserver: values.apiserver ?? '' };
const users = [
  { token: 'admin', user: 'admin', groups: ['system:masters'] },
  { token: 'joe', user: 'joe', groups: ['people'] },
];
const tokens = Object.fromEntries(users.map(({ user, token }) => [user, token]));
const say = (text: string): void => void process.stdout.write(`${text}\n`);
const fail = (text: string): void => {
  say(text);
  process.exitCode = 1;
};

// Ends through `exit`, where the peer's programs are ended.
for (const [signal, code] of Object.entries({ SIGINT: 130, SIGTERM: 143 }))
  process.once(signal, () => process.exit(code));

if (values.informer !== undefined) await followLong(values.informer);
else if (values.kubeconfig === undefined) await withPeer();
else await withGiven(values.kubeconfig);

/** A server of our own starting: everything is asked. */
async function withPeer(): Promise<void> {
  const began = Date.now();
  const [peer, hook] = [await startPeer({ programs, users }), await startHook()];
  say(`real server: kube-apiserver ${peer.version} at ${peer.server}, ready in ${secondsSince(began)} s`);
  const real = realPlace(peer, { tokens, hook, meets: ['hook', 'bare'] });
  try {
    if (values.kubectl) await replay(peer);
    else if (values.quickstart) await carry();
    else if (values.record) await record(real, wanted(), peer.version, say);
    else {
      await compareSuite(real, hook, peer.version);
      if (!values.chapter) {
        await replay(peer);
        await carry();
      }
    }
  } finally {
    await real.close();
    await hook.close();
    await peer.stop();
  }
}

/** A cluster with a life of its own: what does not depend on that is asked. */
async function withGiven(file: string): Promise<void> {
  const given = await givenCluster(file).catch((error: Error) => error);
  if (given instanceof Error) return fail(`NOT RUN: ${given.message}`);
  say(`real server: ${given.version} at ${given.server}, of ${file}`);
  const hook = await startHook();
  const real = realPlace(given, { tokens: given.token === undefined ? {} : { admin: given.token }, hook, meets: [] });
  try {
    await compareSuite(real, hook, given.version);
    say('kubectl, quickstart: NOT RUN, they need API servers of their own');
  } finally {
    await real.close();
    await hook.close();
  }
}

function wanted(): typeof chapters {
  return chapters.filter(({ name }) => !values.chapter || values.chapter.includes(name));
}

async function compareSuite(real: RealPlace, hook: Hook, version: string): Promise<void> {
  const { startEmbedded } = await import('./embedded.ts');
  const ours = await startEmbedded(users, { tokens, hook });
  const rows = await compare({ real, ours, version }, wanted());
  for (const line of table(rows, values.report ?? false)) say(line);
  if (!rows.every(isFine)) process.exitCode = 1;
  for (const report of ours.reports) fail(`the embedded server failed: ${report}`);
  await ours.close();
}

/** kubectl on both servers, and informers meanwhile. */
async function replay(peer: Peer): Promise<void> {
  if (!hasKubectl()) return fail('kubectl: NOT RUN, there is none here');
  if (values['informer-program'] === undefined) fail('informers: NOT RUN, there is no Go to build them');
  const served = await startServed(users);
  const { count, differences } = await compareKubectl(
    { ...peer, listenCidr: '127.120.0.0/16', collect: true },
    { ...served, listenCidr: '127.121.0.0/16', collect: false },
    values['informer-program'],
  );
  await served.stop();
  for (const line of differences) say(line);
  const differing = differences.filter((line) => line.startsWith('differs')).length;
  say(`kubectl: ${count} commands, ${count - differing} the same, ${differing} differ`);
  if (differing > 0) process.exitCode = 1;
}

/** Informers alone, on our own server, for a time such as `10m`. */
async function followLong(length: string): Promise<void> {
  const program = values['informer-program'];
  if (program === undefined) return fail('informers: NOT RUN, there is no Go to build them');
  const failures = await follow(program, length, { users, say });
  for (const failure of failures) fail(`informers: ${failure}`);
  say(`informers: ${failures.length === 0 ? `no error in ${length}` : 'not without errors'}`);
}

/** The quickstart's traffic over real API servers. */
async function carry(): Promise<void> {
  const failures = await quickstart({ programs, users }, say);
  for (const failure of failures) fail(`quickstart: ${failure}`);
  say(`quickstart: ${failures.length === 0 ? 'all of it held' : 'not all of it held'}`);
}

function secondsSince(began: number): string {
  return ((Date.now() - began) / 1000).toFixed(1);
}
