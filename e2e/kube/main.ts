// The real lane: the suite on a real kube-apiserver and on ours, compared. Started by scripts/test-kube.mjs.
import { chapters } from '../../packages/testkit/src/kube-conformance/index.ts';
import { parseArgs } from 'node:util';
import { startPeer } from './peer.ts';
import { realPlace } from './real-place.ts';
import { compare, record, table } from './compare.ts';

const { values } = parseArgs({
  options: {
    etcd: { type: 'string' },
    apiserver: { type: 'string' },
    report: { type: 'boolean' },
    record: { type: 'boolean' },
    chapter: { type: 'string', multiple: true },
  },
});

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

const began = Date.now();
const peer = await startPeer({ programs: { etcd: values.etcd ?? '', apiserver: values.apiserver ?? '' }, users });
const real = realPlace(peer, tokens);
try {
  say(
    `real server: kube-apiserver ${peer.version} at ${peer.server}, ready in ${((Date.now() - began) / 1000).toFixed(1)} s`,
  );
  const wanted = chapters.filter(({ name }) => !values.chapter || values.chapter.includes(name));
  if (values.record) await record(real, wanted, peer.version, say);
  else {
    const { startEmbedded } = await import('./embedded.ts');
    const ours = await startEmbedded(users, tokens);
    const rows = await compare(real, ours, wanted);
    for (const line of table(rows, values.report ?? false)) say(line);
    if (rows.some(({ verdict }) => verdict !== 'same' && verdict !== 'real only')) process.exitCode = 1;
    for (const report of ours.reports) {
      say(`the embedded server failed: ${report}`);
      process.exitCode = 1;
    }
    await ours.close();
  }
} finally {
  await real.close();
  await peer.stop();
}
