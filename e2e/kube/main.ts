// The real lane: the suite on a real kube-apiserver and on ours, compared. Started by scripts/test-kube.mjs.
import { chapters } from '../../packages/testkit/src/kube-conformance/index.ts';
import { parseArgs } from 'node:util';
import { startHook } from './hook.ts';
import { compareKubectl, hasKubectl } from './kubectl.ts';
import { startPeer } from './peer.ts';
import { quickstart } from './quickstart.ts';
import { realPlace } from './real-place.ts';
import { startServed } from './served.ts';
import { compare, record, table } from './compare.ts';

const { values } = parseArgs({
  options: {
    etcd: { type: 'string' },
    apiserver: { type: 'string' },
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
const say = (text: string) => void process.stdout.write(`${text}\n`);

// Ends through `exit`, where the peer's programs are ended.
for (const [signal, code] of [
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const)
  process.once(signal, () => process.exit(code));

/** The quickstart's traffic over real API servers. */
async function carry(): Promise<void> {
  const failures = await quickstart({ programs, users }, say);
  for (const failure of failures) say(`quickstart: ${failure}`);
  say(`quickstart: ${failures.length === 0 ? 'all of it held' : 'not all of it held'}`);
  if (failures.length > 0) process.exitCode = 1;
}

/** kubectl on both servers. */
async function replay(): Promise<void> {
  if (!hasKubectl()) {
    say('kubectl: NOT RUN, there is none here');
    process.exitCode = 1;
    return;
  }
  const served = await startServed(users);
  const { count, differences } = await compareKubectl(
    { ...peer, listenCidr: '127.120.0.0/16', collect: true },
    { ...served, listenCidr: '127.121.0.0/16', collect: false },
    values.informer,
  );
  await served.stop();
  for (const line of differences) say(line);
  const differing = differences.filter((line) => line.startsWith('differs')).length;
  say(`kubectl: ${count} commands, ${count - differing} the same, ${differing} differ`);
  if (differing > 0) process.exitCode = 1;
}

const began = Date.now();
const peer = await startPeer({ programs, users });
const hook = await startHook();
const words = { tokens, hook };
const real = realPlace(peer, words);
try {
  say(
    `real server: kube-apiserver ${peer.version} at ${peer.server}, ready in ${((Date.now() - began) / 1000).toFixed(1)} s`,
  );
  const wanted = chapters.filter(({ name }) => !values.chapter || values.chapter.includes(name));
  if (values.kubectl) await replay();
  else if (values.quickstart) await carry();
  else if (values.record) await record(real, wanted, peer.version, say);
  else {
    const { startEmbedded } = await import('./embedded.ts');
    const ours = await startEmbedded(users, words);
    const rows = await compare(real, ours, wanted);
    for (const line of table(rows, values.report ?? false)) say(line);
    if (rows.some(({ verdict }) => verdict !== 'same' && verdict !== 'real only')) process.exitCode = 1;
    for (const report of ours.reports) {
      say(`the embedded server failed: ${report}`);
      process.exitCode = 1;
    }
    await ours.close();
    if (!values.chapter) {
      await replay();
      await carry();
    }
  }
} finally {
  await real.close();
  await hook.close();
  await peer.stop();
}
