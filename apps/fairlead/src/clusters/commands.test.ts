// `fairlead cluster` over embedded API servers: what is written, refused, and said.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadbalancers } from '@fairlead/api';
import { secrets } from '@fairlead/kube';
import { expect, onTestFinished, test } from 'vitest';
import { kubeconfigOf, loadbalancerOf, made, ownNamespace, world } from '../testing/world.ts';
import { addCluster, checkClusters, listClusters, removeCluster, type Said } from './commands.ts';
import { inlined } from './inline.ts';
import type { Desk } from './registered.ts';

async function begun() {
  const here = await world(['east', 'west']);
  const end = new AbortController();
  onTestFinished(() => end.abort());
  const desk: Desk = {
    management: here.management.kube,
    namespace: ownNamespace,
    open: (text, from) => here.open(text, from, end.signal),
    clock: here.clock,
  };
  const add = (name: string, text: string, unchecked = false) =>
    said(addCluster(desk, { name, config: { text, warnings: [] }, unchecked }));
  return { ...here, desk, add };
}

async function said(work: Promise<{ ok: true; value: Said } | { ok: false; problem: { message: string } }>) {
  const answer = await work;
  return answer.ok ? `${answer.value.code}\n${answer.value.lines.join('\n')}` : `refused: ${answer.problem.message}`;
}

const secretOf = async ({ management }: Desk, name: string) =>
  (await made(management.get(secrets, { name, namespace: ownNamespace }))).data;

test('add writes a Secret that controllers take up, and says who was met', async () => {
  const { desk, add, begin, clock, management, loadbalancer } = await begun();
  await made(management.kube.create(loadbalancers, loadbalancerOf('lb', 'East_1', 1)));
  expect(await add('East_1', kubeconfigOf('east'))).toMatch(
    /^0\ncluster East_1 is registered by Secret fairlead-system\/fairlead-cluster-east-1; API server http:\/\/east, kube-system \S+\nLoadbalancers that name it: lb;/,
  );
  expect(Object.keys((await secretOf(desk, 'fairlead-cluster-east-1')) ?? {})).toEqual(['East_1']);
  begin();
  await clock.advance(10_000);
  expect((await loadbalancer('lb')).status?.conditions).toContainEqual(
    expect.objectContaining({ type: 'ClusterReachable', status: 'True' }),
  );
});

test('add again gives it other credentials, in the Secret where it is', async () => {
  const { desk, add, secret } = await begun();
  await secret('cis-c', { east: kubeconfigOf('east'), west: kubeconfigOf('west') });
  expect(await add('east', kubeconfigOf('east', 'root'))).toContain(
    'cluster east has new credentials by Secret fairlead-system/cis-c',
  );
  const data = (await secretOf(desk, 'cis-c')) ?? {};
  expect(Object.keys(data).sort()).toEqual(['east', 'west']);
  expect(Buffer.from(data['east'] ?? '', 'base64').toString()).toContain('root');
});

test.each([
  [
    'a cluster that does not answer',
    'far',
    kubeconfigOf('nowhere'),
    /unreachable|ENOTFOUND.*Nothing is registered; --unchecked/,
  ],
  ['credentials that are not taken', 'far', kubeconfigOf('west', 'wrong'), /401 Unauthorized/],
  [
    'the API server of another name',
    'again',
    kubeconfigOf('east.other'),
    /this is the API server of cluster east \(Secret/,
  ],
  ['another API server under a known name', 'east', kubeconfigOf('west'), /cluster east is registered as another one/],
  ['a name that is none', 'a b', kubeconfigOf('west'), /"a b" is no name of a cluster/],
])('add refuses %s', async (_, name, text, words) => {
  const { add, desk, clock } = await begun();
  await add('east', kubeconfigOf('east'));
  const answer = add(name, text);
  await clock.advance(30_000);
  expect(await answer).toMatch(words);
  expect((await made(desk.management.list(secrets, { namespace: ownNamespace }))).items).toHaveLength(1);
});

test('list says of each cluster whether it answers, and which Loadbalancers name it', async () => {
  const { desk, secret, management } = await begun();
  await secret('two', {
    east: kubeconfigOf('east'),
    west: kubeconfigOf('west', 'wrong'),
    twin: kubeconfigOf('east.x'),
  });
  await secret('young', { east: kubeconfigOf('west') });
  await made(management.kube.create(loadbalancers, loadbalancerOf('lb', 'east', 1)));
  await made(management.kube.create(loadbalancers, loadbalancerOf('far', 'elsewhere', 2)));
  const lines = (await said(listClusters(desk, 'table'))).split('\n').slice(1);
  expect(lines[0]).toMatch(/^NAME +SERVER +LOADBALANCERS +STATE$/);
  expect(lines[1]).toMatch(/^east +http:\/\/east +lb +answers$/);
  expect(lines[2]).toMatch(/^twin +http:\/\/east.x +- +taken: the same API server as east$/);
  expect(lines[3]).toMatch(/^west +http:\/\/west +- +denied: .*401/);
  expect(lines[4]).toMatch(/^east +- +- +refused: cluster "east" is registered already by Secret fairlead-system\/two/);
  expect(lines[5]).toMatch(/^elsewhere +- +far +in no Secret/);
});

test('check ends with 1 and says what is lacking', async () => {
  const { desk, add, servers } = await begun();
  await add('east', kubeconfigOf('east'));
  expect(await said(checkClusters(desk, []))).toBe('0\n✓ east: http://east answers');
  const east = servers.get('east');
  const answer = east?.answer;
  if (!east || !answer) throw new Error('bug: no server');
  east.answer = async (request) => {
    const body = request.url.includes('selfsubjectaccessreviews') ? await request.clone().text() : '';
    return body.includes('"patch"') && body.includes('"services"')
      ? Response.json({ status: { allowed: false } })
      : answer(request);
  };
  expect(await said(checkClusters(desk, ['east']))).toBe(
    '1\n✗ east: http://east answers\n  warning: its user may not patch services: to label the Services of pools',
  );
  expect(await said(checkClusters(desk, ['nobody']))).toBe(
    'refused: no Secret in fairlead-system registers a cluster nobody; there are: east',
  );
});

test('remove is refused while Loadbalancers name it, unless forced; the last key takes the Secret along', async () => {
  const { desk, add, secret, management } = await begun();
  await secret('two', { east: kubeconfigOf('east'), west: kubeconfigOf('west') });
  await made(management.kube.create(loadbalancers, loadbalancerOf('lb', 'east', 1)));
  expect(await said(removeCluster(desk, { name: 'east', force: false }))).toContain(
    'Loadbalancers name cluster east: lb.',
  );
  expect(await said(removeCluster(desk, { name: 'east', force: true }))).toContain(
    'what they have on devices stays: lb',
  );
  expect(Object.keys((await secretOf(desk, 'two')) ?? {})).toEqual(['west']);
  expect(await said(removeCluster(desk, { name: 'west', force: false }))).toBe('0\ncluster west is removed');
  expect((await management.kube.get(secrets, { name: 'two', namespace: ownNamespace })).ok).toBe(false);
  expect(await said(removeCluster(desk, { name: 'west', force: false }))).toContain('registers a cluster west');
  expect(await add('west', kubeconfigOf('west'))).toContain('is registered');
});

test('files that a kubeconfig names are read into it; a program is refused', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'cluster-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  for (const name of ['ca', 'cert', 'key', 'token']) writeFileSync(join(folder, name), `${name}\n`);
  const write = (user: string) => {
    const text = `{contexts: [{name: a, context: {cluster: c, user: u}}], clusters: [{name: c, cluster: {server: "https://x", certificate-authority: ca}}], users: [{name: u, user: ${user}}]}`;
    writeFileSync(join(folder, 'config'), text);
    return inlined(join(folder, 'config'), 'a');
  };
  const done = await write('{client-certificate: cert, client-key: key, tokenFile: token}');
  expect(done.ok && done.value.text).toContain(`client-key-data: ${Buffer.from('key\n').toString('base64')}`);
  expect(done.ok && done.value.text).toContain('token: token');
  expect(done.ok && done.value.text).not.toMatch(/certificate-authority:|tokenFile/);
  expect(done.ok && done.value.warnings[0]).toContain('the token of token is copied as it is now');
  const exec = await write('{exec: {command: aws}}');
  expect(exec.ok ? '' : exec.problem.message).toContain('would run the program aws here');
  const lost = await write('{tokenFile: lost}');
  expect(lost.ok ? '' : lost.problem.message).toContain('no such file');
});
