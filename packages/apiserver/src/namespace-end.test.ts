// A deleted namespace with something in it that admission keeps: it is told, tried again, and goes when it may.
import { expect, test } from 'vitest';
import type { Admit } from './cluster.ts';
import { listOf, treeOf } from './object.ts';
import { configMap, testServer, type TestServer } from './test-server.ts';

const maps = '/api/v1/namespaces/n/configmaps';

/** Keeps ConfigMaps that say so, and writes down who wanted them gone. */
function keeper(): { admit: Admit; askedBy: string[]; isOpen: boolean } {
  const self = {
    askedBy: [] as string[],
    isOpen: false,
    admit: async ({ operation, oldObject, name, userInfo }: Parameters<Admit>[0]) => {
      if (operation !== 'DELETE' || treeOf(oldObject?.data).keep !== 'yes') return { allowed: true } as const;
      self.askedBy.push(`${userInfo.username} ${name}`);
      return self.isOpen ? ({ allowed: true } as const) : { allowed: false, status: { message: `keep ${name}` } };
    },
  };
  return self;
}

/** Time that passes when it is told to. */
function byHand() {
  const sleepers: { ms: number; wake(): void }[] = [];
  return {
    sleepers,
    now: () => Date.parse('2026-01-02T03:04:05Z'),
    sleep: (ms: number) => new Promise<void>((resolve) => void sleepers.push({ ms, wake: resolve })),
  };
}

async function kept(): Promise<{
  server: TestServer;
  keep: ReturnType<typeof keeper>;
  clock: ReturnType<typeof byHand>;
}> {
  const [keep, clock] = [keeper(), byHand()];
  const server = await testServer({ admit: [keep.admit], clock });
  await server.send('POST', '/api/v1/namespaces', { metadata: { name: 'n' } });
  for (const [name, data] of [
    ['a', { keep: 'yes' }],
    ['b', {}],
    ['c', { keep: 'yes' }],
  ] as const)
    expect((await server.send('POST', maps, configMap(name, data))).code).toBe(201);
  await server.send('POST', '/api/v1/namespaces/n/secrets', { metadata: { name: 'after' } });
  await server.send('DELETE', '/api/v1/namespaces/n');
  return { server, keep, clock };
}

const statusOf = async (server: TestServer) => treeOf((await server.send('GET', '/api/v1/namespaces/n')).body.status);

async function conditionsOf(server: TestServer): Promise<Record<string, string>> {
  const conditions = listOf((await statusOf(server)).conditions).map(treeOf);
  return Object.fromEntries(
    conditions.map(({ type, status, reason, message }) => [
      type,
      `${String(status)} ${String(reason)}: ${String(message)}`,
    ]),
  );
}

test('what is kept does not keep the rest, and the namespace says what is in the way', async () => {
  const { server, keep } = await kept();
  expect((await server.send('GET', `${maps}/b`)).code).toBe(404);
  expect((await server.send('GET', '/api/v1/namespaces/n/secrets/after')).code).toBe(404);
  expect((await statusOf(server)).phase).toBe('Terminating');
  expect(await conditionsOf(server)).toEqual({
    NamespaceDeletionDiscoveryFailure: 'False ResourcesDiscovered: All resources successfully discovered',
    NamespaceDeletionGroupVersionParsingFailure: 'False ParsedGroupVersions: All legacy kube types successfully parsed',
    NamespaceDeletionContentFailure:
      'True ContentDeletionFailed: Failed to delete all resource types, 2 remaining: keep a, keep c',
    NamespaceContentRemaining:
      'True SomeResourcesRemain: Some resources are remaining: configmaps. has 2 resource instances',
    NamespaceFinalizersRemaining: 'False ContentHasNoFinalizers: All content-preserving finalizers finished',
  });
  expect(new Set(keep.askedBy.map((line) => line.split(' ')[0]))).toEqual(
    new Set(['system:serviceaccount:kube-system:namespace-controller']),
  );
  expect(server.reports).toEqual([]);
  await server.close();
});

test('it is tried again when an object changes', async () => {
  const { server } = await kept();
  for (const name of ['a', 'c']) await server.send('PATCH', `${maps}/${name}`, { data: { keep: 'no' } });
  expect((await server.send('GET', '/api/v1/namespaces/n')).code).toBe(404);
  expect(server.reports).toEqual([]);
  await server.close();
});

test('it is tried again after some seconds, and once only in that time', async () => {
  const { server, keep, clock } = await kept();
  const waits = clock.sleepers.filter(({ ms }) => ms === 5_000);
  expect(waits).toHaveLength(1);
  keep.isOpen = true;
  waits[0]?.wake();
  await Promise.resolve();
  await server.idle();
  expect((await server.send('GET', '/api/v1/namespaces/n')).code).toBe(404);
  await server.close();
});

test('what waits for finalizers is told too, and told no longer when it is gone', async () => {
  const server = await testServer();
  await server.send('POST', '/api/v1/namespaces', { metadata: { name: 'n' } });
  await server.send('POST', maps, configMap('held', {}, { finalizers: ['example.io/hold'] }));
  await server.send('DELETE', '/api/v1/namespaces/n');
  const said = await conditionsOf(server);
  expect([said.NamespaceDeletionContentFailure, said.NamespaceFinalizersRemaining]).toEqual([
    'False ContentDeleted: All content successfully deleted, may be waiting on finalization',
    'True SomeFinalizersRemain: Some content in the namespace has finalizers remaining: example.io/hold in 1 resource instances',
  ]);
  await server.send('PATCH', `${maps}/held`, { metadata: { finalizers: null } });
  expect((await server.send('GET', '/api/v1/namespaces/n')).code).toBe(404);
  await server.close();
});
