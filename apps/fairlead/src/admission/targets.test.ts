// What admission says of tickets whose target clusters come from Secrets: they come, go and fall silent while it runs.
import { setMaxListeners } from 'node:events';
import { lbtickets, loadbalancers, lbrules, lbcanaries, type Lbticket, type Verdict } from '@fairlead/api';
import { ingresses, namespaces, secrets, store, type Ingress } from '@fairlead/kube';
import { expect, onTestFinished, test } from 'vitest';
import { kubeconfigOf, loadbalancerOf, made, ownNamespace, ticketOf, world, type World } from '../testing/world.ts';
import { judge, type Asked } from './judge.ts';
import { targets } from './targets.ts';

const silent = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  bug: (error: unknown) => {
    throw error;
  },
};

/** Management, the clusters east and west, a Loadbalancer over each, and admission beside them; no Secret yet. */
async function begun(): Promise<{ here: World; ask(asked: Partial<Asked>): Promise<Verdict> }> {
  const here = await world(['east', 'west']);
  const { clock, open } = here;
  const management = here.management.kube;
  for (const [i, name] of ['east', 'west'].entries())
    await made(management.create(loadbalancers, loadbalancerOf(`lb-${name}`, name, i + 1)));
  const stores = {
    loadbalancers: store(management, loadbalancers),
    lbtickets: store(management, lbtickets),
    lbrules: store(management, lbrules),
    lbcanaries: store(management, lbcanaries),
  };
  const given = { management, namespace: ownNamespace };
  const seen = targets({ ...given, fixed: new Map(), open, clock, random: () => 0.5, log: silent });
  const stop = new AbortController();
  setMaxListeners(0, stop.signal);
  const runs = Promise.all([...Object.values(stores), seen].map((one) => one.run(stop.signal)));
  onTestFinished(async () => {
    stop.abort();
    await clock.advance(0);
    await runs;
  });
  const judged = judge({ ...given, targets: seen, stores, clock });
  const resource = { group: lbtickets.group, version: lbtickets.version, resource: lbtickets.plural };
  await clock.advance(5_000);
  return {
    here,
    async ask(asked) {
      const verdict = judged({ operation: 'CREATE', resource, ...asked });
      await clock.advance(4_000);
      return verdict;
    },
  };
}

const filed = (cluster: string, namespace: string): { object: Lbticket } => {
  const ticket = ticketOf('t', `lb-${cluster}`);
  return { object: { ...ticket, spec: { ...ticket.spec, namespace } } };
};

const unknown = (cluster: string) => ({
  allowed: true,
  warnings: [expect.stringContaining(`cluster ${cluster} cannot be reached`)],
});
const refused = (cluster: string, namespace: string) => ({
  allowed: false,
  status: { message: expect.stringContaining(`cluster ${cluster} has no namespace ${namespace}`) },
});

test('the namespace must be in a cluster that a Secret registers, from when it is registered until it is not', async () => {
  const { here, ask } = await begun();
  expect(await ask(filed('east', 'nowhere'))).toMatchObject(unknown('east'));
  await here.secret('clusters', { east: kubeconfigOf('east') });
  await here.clock.advance(5_000);
  expect(await ask(filed('east', 'nowhere'))).toMatchObject(refused('east', 'nowhere'));
  const fine = await ask(filed('east', 'shop'));
  expect([fine.allowed, 'warnings' in fine]).toEqual([true, false]);
  expect(await ask(filed('west', 'shop'))).toMatchObject(unknown('west'));

  await here.secret('more', { west: kubeconfigOf('west') });
  await here.clock.advance(5_000);
  expect(await ask(filed('west', 'nowhere'))).toMatchObject(refused('west', 'nowhere'));
  await made(here.management.kube.remove(secrets, { name: 'clusters', namespace: ownNamespace }));
  await here.clock.advance(1_000);
  expect(await ask(filed('east', 'nowhere'))).toMatchObject(unknown('east'));
  // The controllers tell these, and once is enough.
  expect([await here.events('clusters'), await here.events('more')]).toEqual([[], []]);
});

test.for(['cut', 'hangs'] as const)(
  'a cluster whose way is %s refuses nothing, and is asked again when it answers',
  async (way) => {
    const { here, ask } = await begun();
    await here.secret('clusters', { east: kubeconfigOf('east') });
    await here.clock.advance(5_000);
    const east = here.servers.get('east');
    if (!east) throw new Error('bug: no server east');
    east.way = way;
    // At once, and when the outage is known.
    expect(await ask(filed('east', 'nowhere'))).toMatchObject(unknown('east'));
    await here.clock.advance(60_000);
    expect(await ask(filed('east', 'shop'))).toMatchObject(unknown('east'));
    east.way = 'open';
    await here.clock.advance(60_000);
    expect(await ask(filed('east', 'nowhere'))).toMatchObject(refused('east', 'nowhere'));
  },
);

test('a namespace that was made this moment is there, and what was never sent to a server is refused by its shape', async () => {
  const { here, ask } = await begun();
  await here.secret('clusters', { east: kubeconfigOf('east') });
  await here.clock.advance(5_000);
  const metadata = { name: 'fresh' };
  await made(here.servers.get('east')!.kube.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata }));
  expect(await ask(filed('east', 'fresh'))).toMatchObject({ allowed: true });
  const shapeless = { ...filed('east', 'shop').object, spec: { loadbalancer: 'lb-east', namespace: { a: 1 } } };
  expect(await ask({ object: shapeless })).toMatchObject({ allowed: false, status: { reason: 'Invalid' } });
});

test('a removal, whose review has no object, is judged by the ticket as it was', async () => {
  const { ask } = await begun();
  const enabled = { ...ticketOf('t', 'lb-east'), status: { process: 'enabled' } };
  expect(await ask({ operation: 'DELETE', object: null, oldObject: enabled })).toMatchObject({
    allowed: false,
    status: { message: expect.stringContaining('only disabled, failed and deleted tickets') },
  });
  const disabled = { ...enabled, status: { process: 'disabled' } };
  expect(await ask({ operation: 'DELETE', object: null, oldObject: disabled })).toMatchObject({ allowed: true });
});

test('what goes with its namespace is let go, whoever empties it', async () => {
  const { here, ask } = await begun();
  const ticket = ticketOf('t', 'lb-east');
  const removal = (namespace: string, username: string): Partial<Asked> => ({
    operation: 'DELETE',
    object: null,
    oldObject: { ...ticket, metadata: { ...ticket.metadata, namespace }, status: { process: 'enabled' } },
    userInfo: { username },
  });
  const refused = { allowed: false, status: { message: expect.stringContaining('only disabled, failed and deleted') } };
  const metadata = { name: 'ending', finalizers: ['example.com/hold'] };
  await made(here.management.kube.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata }));
  expect(await ask(removal('ending', 'ann'))).toMatchObject(refused);
  expect(await ask(removal('ending', 'system:serviceaccount:kube-system:namespace-controller'))).toMatchObject({
    allowed: true,
  });
  await made(here.management.kube.remove(namespaces, { name: 'ending' }));
  expect(await ask(removal('ending', 'ann'))).toMatchObject({ allowed: true });
  expect(await ask(removal('gone', 'ann'))).toMatchObject(refused);
});

test('an F5 Ingress in such a cluster keeps its ticket enabled, as long as the cluster is there', async () => {
  const { here, ask } = await begun();
  const ingress: Ingress = {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'Ingress',
    metadata: { name: 'front', namespace: 'shop', annotations: { 'fairlead.io/ticket': 'project/t' } },
    spec: { ingressClassName: 'f5', defaultBackend: { service: { name: 'web', port: { number: 80 } } } },
  };
  await made(here.servers.get('east')!.kube.create(ingresses, ingress));
  await here.secret('clusters', { east: kubeconfigOf('east') });
  await here.clock.advance(5_000);
  const ticket = ticketOf('t', 'lb-east');
  const old = { ...ticket, spec: { ...ticket.spec, listners: [], lbtype: 'ingress' }, status: { process: 'enabled' } };
  const edit = {
    operation: 'UPDATE',
    oldObject: old,
    object: { ...old, spec: { ...old.spec, state: 'disabled' } },
  } as const;
  expect(await ask(edit)).toMatchObject({
    allowed: false,
    status: { message: expect.stringContaining('Ingress shop/front') },
  });
  await made(here.management.kube.remove(secrets, { name: 'clusters', namespace: ownNamespace }));
  await here.clock.advance(1_000);
  expect(await ask(edit)).toMatchObject({ allowed: true });
});
