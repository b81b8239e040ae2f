// Orders to a simulated cluster, given through an API server; what the simulator does with them is its own tests'.
import { apiServer, memory } from '@fairlead/apiserver';
import { fetchSend, kube, nodes, pods, type Kube } from '@fairlead/kube';
import { expect, onTestFinished, test } from 'vitest';
import { crash, loseNode, restoreNode, type Order } from './sim-cluster.ts';

const clock = { now: () => Date.parse('2026-01-02T03:04:05Z'), sleep: () => new Promise<void>(() => undefined) };

async function world() {
  let seed = 0;
  const random = (count: number) => Uint8Array.from({ length: count }, () => (seed = (seed * 31 + 7) % 251));
  const tokens = [{ token: 't', user: 'admin', groups: ['system:masters'] }];
  const server = await apiServer({
    storage: memory(),
    clock,
    random,
    name: 'c',
    tokens,
    report: (line) => expect.fail(line),
  });
  onTestFinished(() => server.close());
  const auth = {
    headers: async () => ({ ok: true, value: { authorization: 'Bearer t' } }) as const,
    refused: () => false,
  };
  const client = kube({ server: 'http://c.test', send: fetchSend(server.answer), clock, random: () => 0, auth });
  const node = (name: string, labels: Record<string, string>) =>
    client.create(nodes, { apiVersion: 'v1', kind: 'Node', metadata: { name, labels } });
  const pod = (name: string, nodeName?: string) =>
    client.create(pods, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name, namespace: 'default' },
      spec: { containers: [{ name: 'a', image: 'a' }], ...(nodeName ? { nodeName } : {}) },
    });
  await node('sim-node-1', { 'sim.fairlead.io/cluster': 'sim' });
  await node('real', {});
  await pod('here', 'sim-node-1');
  await pod('there', 'real');
  await pod('waiting');
  return client;
}

const said = async (client: Kube, order: Order, name: string) => {
  const given = await order(client, name, 'default');
  return given.ok ? given.value : given.problem.message;
};

test('a pod of a simulated node is told to crash by its annotation', async () => {
  const client = await world();
  expect(await said(client, crash, 'here')).toBe('pod default/here is told to crash');
  const got = await client.get(pods, { name: 'here', namespace: 'default' });
  expect(got.ok && Object.keys(got.value.metadata.annotations ?? {})).toEqual(['sim.fairlead.io/crash']);
});

test.each([
  ['there', 'node real is not simulated: it has no label sim.fairlead.io/cluster, and nothing there hears of faults'],
  ['waiting', 'pod default/waiting is on no node yet: wait until kubectl get pod shows it Running'],
  [
    'nowhere',
    'there is no pod nowhere in namespace default. Give its namespace with -n NAMESPACE. Another cluster: --context NAME',
  ],
])('a crash of the pod %s is refused, and says why', async (name, why) => {
  expect(await said(await world(), crash, name)).toBe(why);
});

test('a node is lost until it is restored, and neither twice', async () => {
  const client = await world();
  const mark = async () => {
    const got = await client.get(nodes, { name: 'sim-node-1' });
    return got.ok ? got.value.metadata.annotations : got.problem;
  };
  expect(await said(client, restoreNode, 'sim-node-1')).toBe('node sim-node-1 is not lost');
  expect(await said(client, loseNode, 'sim-node-1')).toContain('node sim-node-1 is lost: Unknown in about 40 s');
  expect(await mark()).toEqual({ 'sim.fairlead.io/lost': 'true' });
  expect(await said(client, loseNode, 'sim-node-1')).toBe('node sim-node-1 is lost already');
  expect(await said(client, restoreNode, 'sim-node-1')).toBe('node sim-node-1 is restored');
  expect(await mark()).toBeUndefined();
});

test.each([
  ['real', 'node real is not simulated'],
  ['none', 'there is no node none. kubectl get nodes shows those there are.'],
])('the node %s cannot be lost, and why is said', async (name, why) => {
  expect(await said(await world(), loseNode, name)).toContain(why);
});
