// Versions of a custom kind that a webhook converts: who is asked about what, and what becomes of its answers.
import { expect, test } from 'vitest';
import { listOf, treeOf, type KubeObject, type Tree } from './object.ts';
import type { Send } from './send.ts';
import { definition, testServer, ticket } from './test-server.ts';

const crds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const at = (version: string): string => `/apis/example.io/${version}/namespaces/default/tickets`;

const anything = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
const version = (name: string, storage: boolean): Tree => ({
  name,
  served: true,
  storage,
  schema: { openAPIV3Schema: { type: 'object', properties: { spec: anything } } },
});
const versions = (stored: string): Tree[] => [version('v1', stored === 'v1'), version('v2', stored === 'v2')];

const converting = (stored = 'v1'): Tree => {
  const whole = definition({ type: 'object' });
  const webhook = {
    conversionReviewVersions: ['v9', 'v1'],
    clientConfig: { url: 'https://hook.example.io/convert' },
  };
  return {
    ...whole,
    spec: { ...treeOf(whole.spec), versions: versions(stored), conversion: { strategy: 'Webhook', webhook } },
  };
};

/** `host` in v1 is `hostname` in v2. */
function renamed(object: KubeObject, apiVersion: string): Tree {
  const { host, hostname, ...spec } = treeOf(object.spec);
  const name = host ?? hostname;
  return { ...object, apiVersion, spec: { ...spec, [apiVersion.endsWith('v1') ? 'host' : 'hostname']: name } };
}

type Convert = (object: KubeObject, apiVersion: string) => Tree;

async function serverWith(convert: Convert = renamed, stored = 'v1') {
  const reviews: { desired: string; names: unknown[] }[] = [];
  const send: Send = async ({ url, body = '' }) => {
    expect(url.href).toBe('https://hook.example.io/convert?timeout=30s');
    const { request, ...head } = JSON.parse(body) as Tree;
    const { uid, desiredAPIVersion, objects } = treeOf(request);
    const given = listOf(objects) as KubeObject[];
    reviews.push({ desired: String(desiredAPIVersion), names: given.map(({ metadata }) => metadata.name) });
    const convertedObjects = given.map((one) => convert(one, String(desiredAPIVersion)));
    return new Response(
      JSON.stringify({ ...head, response: { uid, result: { status: 'Success' }, convertedObjects } }),
    );
  };
  const server = await testServer({ send });
  const made = await server.send('POST', crds, converting(stored));
  expect(made.code).toBe(201);
  return { server, reviews };
}

test('an object is written, read, patched and deleted in the version that is not the stored one', async () => {
  const { server } = await serverWith();
  const made = await server.send('POST', at('v2'), {
    ...ticket('a', { hostname: 'x', n: 1 }),
    apiVersion: 'example.io/v2',
  });
  expect([made.code, made.body.spec]).toEqual([201, { hostname: 'x', n: 1 }]);
  expect((await server.send('GET', `${at('v1')}/a`)).body.spec).toEqual({ host: 'x', n: 1 });
  const patched = await server.send('PATCH', `${at('v2')}/a`, { spec: { hostname: 'y' } });
  expect(patched.body).toMatchObject({ apiVersion: 'example.io/v2', spec: { hostname: 'y', n: 1 } });
  expect((await server.send('GET', `${at('v1')}/a`)).body.spec).toEqual({ host: 'y', n: 1 });
  await server.send('PATCH', `${at('v2')}/a`, { metadata: { finalizers: ['example.io/wait'] } });
  const deleted = await server.send('DELETE', `${at('v2')}/a`);
  expect(deleted.body).toMatchObject({ apiVersion: 'example.io/v2', spec: { hostname: 'y' } });
  await server.close();
});

test('a list asks once for all it does not know yet, and selects by what the webhook made of them', async () => {
  const { server, reviews } = await serverWith((object, apiVersion) => ({
    ...renamed(object, apiVersion),
    metadata: { ...object.metadata, labels: { host: String(treeOf(object.spec).host) } },
  }));
  for (const name of ['a', 'b', 'c']) await server.send('POST', at('v1'), ticket(name, { host: name }));
  expect(reviews).toEqual([]);
  const named = async () =>
    listOf((await server.send('GET', `${at('v2')}?labelSelector=host%3Db`)).body.items).map(
      (item) => treeOf(treeOf(item).metadata).name,
    );
  expect([await named(), await named()]).toEqual([['b'], ['b']]);
  expect(reviews).toEqual([{ desired: 'example.io/v2', names: ['a', 'b', 'c'] }]);
  await server.close();
});

test('a watch tells every event in its version, and two watches ask once', async () => {
  const { server, reviews } = await serverWith();
  await server.send('POST', at('v1'), ticket('a', { host: 'x' }));
  const watches = [await server.watch(`${at('v2')}?watch=1`), await server.watch(`${at('v2')}?watch=1`)];
  for (const watch of watches)
    expect(await watch.next(1)).toMatchObject([{ type: 'ADDED', object: { spec: { hostname: 'x' } } }]);
  await server.send('PATCH', `${at('v1')}/a`, { spec: { host: 'y' } });
  await server.send('DELETE', `${at('v1')}/a`);
  for (const watch of watches)
    expect(await watch.next(2)).toMatchObject([
      { type: 'MODIFIED', object: { apiVersion: 'example.io/v2', spec: { hostname: 'y' } } },
      { type: 'DELETED', object: { apiVersion: 'example.io/v2', spec: { hostname: 'y' } } },
    ]);
  expect(reviews.flatMap(({ names }) => names)).toEqual(['a', 'a', 'a']);
  for (const watch of watches) watch.stop();
  await server.close();
});

test('a watch whose webhook fails is told so, and ends', async () => {
  let isDown = false;
  const { server } = await serverWith((object, apiVersion) => (isDown ? {} : renamed(object, apiVersion)));
  const watch = await server.watch(`${at('v2')}?watch=1`);
  isDown = true;
  await server.send('POST', at('v1'), ticket('a', { host: 'x' }));
  expect(await watch.next(2)).toMatchObject([{ type: 'ERROR', object: { code: 500 } }]);
  await server.close();
});

test('after the stored version changed, old objects are converted, and stored anew by a write that changes nothing', async () => {
  const { server, reviews } = await serverWith();
  await server.send('POST', at('v1'), ticket('a', { host: 'x' }));
  const changed = await server.send('PATCH', `${crds}/tickets.example.io`, { spec: { versions: versions('v2') } });
  expect(treeOf(changed.body.status).storedVersions).toEqual(['v1', 'v2']);
  expect((await server.send('GET', `${at('v2')}/a`)).body.spec).toEqual({ hostname: 'x' });
  const before = (await server.send('GET', `${at('v1')}/a`)).body.metadata.resourceVersion;
  const written = await server.send('PATCH', `${at('v2')}/a`, {});
  expect(written.body.metadata.resourceVersion).not.toBe(before);
  const count = reviews.length;
  expect((await server.send('GET', `${at('v2')}/a`)).body.spec).toEqual({ hostname: 'x' });
  expect(reviews.length).toBe(count);
  await server.close();
});

const wrong: [string, Convert, string][] = [
  ['another version', (object) => ({ ...object }), 'returned invalid object at index 0: invalid groupVersion (expected example.io/v2, received example.io/v1)'],
  ['another kind', (object, apiVersion) => ({ ...object, apiVersion, kind: 'Bill' }), 'returned invalid object at index 0: invalid kind (expected Ticket, received Bill)'],
  ['no metadata', ({ kind }, apiVersion) => ({ kind, apiVersion }), 'returned invalid metadata: missing metadata in converted object'],
  ['another name', (object, apiVersion) => ({ ...object, apiVersion, metadata: { ...object.metadata, name: 'b' } }), 'returned invalid object: must have the same name: a != b'],
  ['a label that is none', (object, apiVersion) => ({ ...object, apiVersion, metadata: { ...object.metadata, labels: { a: 'b c' } } }), 'returned invalid metadata: metadata.labels: Invalid value: "b c": '],
]; // prettier-ignore
test.each(wrong)('a webhook that answers with %s fails the read', async (_, convert, says) => {
  const { server } = await serverWith(convert);
  await server.send('POST', at('v1'), ticket('a', { host: 'x' }));
  const read = await server.send('GET', `${at('v2')}/a`);
  expect([read.code, read.body.reason]).toEqual([500, undefined]);
  expect(read.body.message).toContain(`conversion webhook for example.io/v1, Kind=Ticket ${says}`);
  await server.close();
});

test('what a webhook does to metadata is undone, but for labels and annotations', async () => {
  const { server } = await serverWith((object, apiVersion) => ({
    ...renamed(object, apiVersion),
    metadata: { ...object.metadata, generation: 99, finalizers: ['x.io/y'], labels: { a: 'b' } },
  }));
  await server.send('POST', at('v1'), ticket('a', { host: 'x' }));
  const { metadata } = (await server.send('GET', `${at('v2')}/a`)).body;
  expect([metadata.generation, metadata.finalizers, metadata.labels]).toEqual([1, undefined, { a: 'b' }]);
  await server.close();
});
