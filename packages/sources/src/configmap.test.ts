// What AS3 ConfigMaps ask for, and what a change of anything they lean on touches.
import { fail, ok, type LoadBalancer, type Result } from '@fairlead/core';
import { configMaps, endpointSlices, namespaces, services } from '@fairlead/kube';
import { expect, test } from 'vitest';
import { configmapSource, type ConfigMapOptions } from './configmap.ts';
import type { Template } from './reading.ts';
import type { Touch } from './source.ts';
import { endpointSliceIndexes, serviceIndexes } from './supply.ts';
import { endpoint, makeConfigMap, makeNamespace, makeService, makeSlice, type Told } from './testing/make.ts';
import { ToldStore } from './testing/told-store.ts';

/** Reads the tests' own templates: `{"t/app": {"pool": 80}}`. */
function decode(text: string): Result<Template> {
  if (!text.startsWith('{')) return fail('invalid', 'not JSON', 'data.template');
  const tenants: Record<string, Record<string, Record<string, unknown>>> = {};
  const pools: Template['pools'][number][] = [];
  for (const [key, told] of Object.entries(JSON.parse(text) as Told)) {
    const [tenant = '', application = ''] = key.split('/');
    const applications = (tenants[tenant] ??= {});
    if (application !== '') applications[application] = { class: 'Application', ...told };
    for (const [pool, servicePort] of Object.entries(told)) pools.push({ tenant, application, pool, servicePort });
  }
  return ok({ tenants, pools });
}

function world(options: Partial<ConfigMapOptions> & { full?: boolean } = {}) {
  const stores = {
    configmaps: new ToldStore(configMaps),
    services: new ToldStore(services, serviceIndexes),
    endpointslices: new ToldStore(endpointSlices, endpointSliceIndexes),
    namespaces: new ToldStore(namespaces),
  };
  const touches: Touch[] = [];
  const reads: string[] = [];
  const source = configmapSource({
    cluster: 'c1',
    stores,
    selects: (_, labels) => labels['lb'] !== 'no',
    decode: (text) => (reads.push(text), decode(text)),
    ...options,
  });
  source.listen((touch) => void touches.push(touch));
  stores.namespaces.put(makeNamespace());
  const fill = (): void => Object.values(stores).forEach((store) => store.fill());
  if (options.full !== false) fill();
  return {
    stores,
    source,
    touches,
    reads,
    fill,
    wanted: (scope = 't') => source.wanted(scope).map(({ key }) => key),
    /** Members of `t/app`'s pool, as the ConfigMap `name` gets them. */
    members(pool: string, name = 'cm') {
      const supply = source.supply({ scope: 't', key: 't/app', pool }, `c1/shop/${name}`);
      return supply && [supply.members?.map(({ address }) => address).join(' '), supply.problem?.code];
    },
    /** Pools touched since the last call. */
    touched: () => touches.splice(0).flatMap(({ pools }) => pools.map(({ key, pool }) => `${key}/${pool}`)),
  };
}

const labelled = { 'cis.f5.com/as3-tenant': 't', 'cis.f5.com/as3-app': 'app', 'cis.f5.com/as3-pool': 'web' };
const mapped = (service: string, port?: number) => ({
  annotations: { 'fairlead.io/pools': JSON.stringify({ 'app/web': { service, port } }) },
});
const web = makeService('web', [{ port: 80, targetPort: 8080 }]);
const slice = makeSlice('web', [{ port: 8080 }], [endpoint('10.0.0.1')]);

test('each application is a load balancer of its own, in its tenant', () => {
  const w = world();
  w.stores.configmaps.put(
    makeConfigMap(
      'cm',
      { 't/app': { web: 80 }, 't/other': {}, 'u/app': {} },
      { annotations: { 'fairlead.io/revision': 'r7' } },
    ),
  );
  expect(w.wanted()).toEqual(['t/app', 't/other']);
  expect(w.wanted('u')).toEqual(['u/app']);
  expect(w.source.wanted('t')[0]).toMatchObject({
    scope: 't',
    native: { class: 'Application', web: 80 },
    origin: {
      cluster: 'c1',
      namespace: 'shop',
      name: 'cm',
      uid: 'uid-cm',
      revision: 'r7',
      created: Date.parse('2024-01-01T00:00:00Z'),
    },
  });
});

test.each<{ name: string; labels: Record<string, string>; annotations?: Record<string, string>; wanted: string[] }>([
  { name: 'live', labels: {}, wanted: ['t/app'] },
  { name: 'staged: wants nothing', labels: { as3: 'false' }, wanted: [] },
  { name: 'of another type: none of ours', labels: { f5type: 'something' }, wanted: [] },
  {
    name: 'annotated for our Loadbalancer',
    labels: {},
    annotations: { 'fairlead.io/loadbalancer': 'demo' },
    wanted: ['t/app'],
  },
  { name: "annotated for another one's", labels: {}, annotations: { 'fairlead.io/loadbalancer': 'other' }, wanted: [] },
])('$name', ({ labels, annotations = {}, wanted }) => {
  const w = world({ loadbalancer: 'demo' });
  w.stores.configmaps.put(makeConfigMap('cm', { 't/app': {} }, { labels, annotations }));
  expect(w.wanted()).toEqual(wanted);
});

test('a namespace that is selected no longer takes its ConfigMaps along', () => {
  const w = world();
  w.stores.configmaps.put(makeConfigMap('cm', { 't/app': {} }));
  w.touches.length = 0;
  w.stores.namespaces.put(makeNamespace({ lb: 'no' }));
  expect(w.wanted()).toEqual([]);
  expect(w.touches.flatMap(({ scopes }) => scopes)).toEqual(['t']);
  w.stores.namespaces.put(makeNamespace());
  expect(w.wanted()).toEqual(['t/app']);
});

test('each edit is read once, and writing our own status is no edit', () => {
  const w = world();
  const configmap = makeConfigMap('cm', { 't/app': { web: 80 } });
  w.stores.configmaps.put(configmap);
  w.touches.length = 0;
  const annotations = { ...configmap.metadata.annotations, 'fairlead.io/status': '{}' };
  w.stores.configmaps.put({ ...configmap, metadata: { ...configmap.metadata, annotations, resourceVersion: '99' } });
  w.source.wanted('t');
  expect(w.reads.length).toBe(1);
  expect(w.touches).toEqual([]);
});

test('a template that does not parse is refused as a whole, and its pools follow their pods still', () => {
  const w = world();
  w.stores.services.put(web);
  w.stores.endpointslices.put(slice);
  w.stores.configmaps.put(makeConfigMap('cm', { 't/app': { web: 80 } }, mapped('web')));
  w.stores.configmaps.put(makeConfigMap('cm', 'oops', mapped('web')));
  expect(w.wanted()).toEqual([]);
  expect([...w.source.refusals()]).toMatchObject([
    { origin: { name: 'cm' }, problem: { code: 'invalid', path: 'data.template' } },
  ]);
  expect([...w.source.refusals()][0]).not.toHaveProperty('key');
  expect(w.members('web')).toEqual(['10.0.0.1', undefined]);
  w.touched();
  w.stores.endpointslices.put(makeSlice('web', [{ port: 8080 }], [endpoint('10.0.0.9')]));
  expect(w.touched()).toEqual(['t/app/web']);
  w.stores.configmaps.put(makeConfigMap('cm', { 't/app': {} }));
  expect([...w.source.refusals()]).toEqual([]);
});

test('a ConfigMap made anew under the same name has no good past', () => {
  const w = world();
  w.stores.configmaps.put(makeConfigMap('cm', { 't/app': { web: 80 } }, mapped('web')));
  w.stores.configmaps.put(makeConfigMap('cm', 'oops', { uid: 'another' }));
  expect(w.source.pools('t')).toEqual([]);
});

test('one application that the place would not take is refused alone, and keeps its pools', () => {
  const accepts = (lb: LoadBalancer): Result<unknown> =>
    lb.native?.['bad'] === undefined ? ok(lb) : fail('invalid', 'bad is no word', 'app.bad');
  const w = world({ accepts });
  w.stores.configmaps.put(makeConfigMap('cm', { 't/app': { web: 80 }, 't/other': { api: 80 } }));
  w.stores.configmaps.put(makeConfigMap('cm', { 't/app': { bad: 80 }, 't/other': { api: 81 } }));
  expect(w.wanted()).toEqual(['t/other']);
  expect([...w.source.refusals()]).toMatchObject([{ key: 't/app', problem: { message: 'bad is no word' } }]);
  expect(
    w.source
      .pools('t')
      .map(({ key, pool }) => `${key}/${pool}`)
      .sort(),
  ).toEqual(['t/app/web', 't/other/api']);
});

test('the tenant Common is refused', () => {
  const w = world();
  w.stores.configmaps.put(makeConfigMap('cm', { 'Common/Shared': {}, 't/app': {} }));
  expect(w.wanted('Common')).toEqual([]);
  expect(w.wanted()).toEqual(['t/app']);
  expect([...w.source.refusals()]).toMatchObject([{ key: 'Common/Shared' }]);
});

test.each([
  { name: 'not JSON', text: '{' },
  { name: 'no Service', text: '{"app/web": {}}' },
  { name: 'port 0', text: '{"app/web": {"service": "web", "port": 0}}' },
])('a pool map with a fault is refused with its path: $name', ({ text }) => {
  const w = world();
  w.stores.configmaps.put(
    makeConfigMap('cm', { 't/app': { web: 80 } }, { annotations: { 'fairlead.io/pools': text } }),
  );
  expect([...w.source.refusals()][0]?.problem.path).toContain('metadata.annotations[fairlead.io/pools]');
});

test('a pool with an explicit Service gets its pods, at the port of the map or else of the template', () => {
  const w = world();
  w.stores.services.put(web);
  w.stores.endpointslices.put(slice);
  w.stores.configmaps.put(makeConfigMap('cm', { 't/app': { web: 1 } }, mapped('web', 80)));
  expect(w.members('web')).toEqual(['10.0.0.1', undefined]);
  w.stores.configmaps.put(makeConfigMap('cm', { 't/app': { web: 80 } }, mapped('web')));
  expect(w.members('web')).toEqual(['10.0.0.1', undefined]);
});

test('without a map, the Service with the three labels is taken, of several the oldest', () => {
  const w = world();
  w.stores.configmaps.put(makeConfigMap('cm', { 't/app': { web: 80 } }));
  expect(w.members('web')).toEqual(['', 'missing']);
  w.stores.services.put({ ...web, metadata: { ...web.metadata, labels: labelled } });
  w.stores.endpointslices.put(slice);
  expect(w.members('web')).toEqual(['10.0.0.1', undefined]);
  w.stores.services.put(makeService('older', [{ port: 80 }], { labels: labelled, created: '2020-01-01T00:00:00Z' }));
  w.stores.endpointslices.put(makeSlice('older', [{ port: 80 }], [endpoint('10.0.0.2')]));
  expect(w.members('web')).toEqual(['10.0.0.2', 'taken']);
});

test('a Service that is not there empties the pool only when it is known not to be there', () => {
  const w = world({ full: false });
  w.stores.configmaps.put(makeConfigMap('cm', { 't/app': { web: 80 } }, mapped('web')));
  expect(w.members('web')).toEqual([undefined, undefined]);
  w.stores.services.fill();
  expect(w.members('web')).toEqual([undefined, undefined]);
  w.stores.endpointslices.fill();
  expect(w.members('web')).toEqual(['', 'missing']);
});

test('it is synced once ConfigMaps and Namespaces are full, and then tells everything', async () => {
  const w = world({ full: false });
  w.stores.configmaps.put(makeConfigMap('cm', { 't/app': { web: 80 } }, mapped('web')));
  expect(w.source.synced).toBe(false);
  w.stores.configmaps.fill();
  w.stores.namespaces.fill();
  expect(w.source.synced).toBe(true);
  w.touches.length = 0;
  await w.stores.configmaps.ready();
  await new Promise((done) => setImmediate(done));
  expect(w.touches).toMatchObject([
    { scopes: ['t'], pools: [{ pool: 'web' }], edits: [{ origin: { name: 'cm' }, scopes: ['t'] }] },
  ]);
});

test.each<{ name: string; change(w: ReturnType<typeof world>): void; touched: string[] }>([
  { name: 'a Service named by a pool', change: (w) => w.stores.services.put(web), touched: ['t/app/web'] },
  { name: 'its EndpointSlice', change: (w) => w.stores.endpointslices.put(slice), touched: ['t/app/web'] },
  {
    name: 'a Service gone',
    change: (w) => w.stores.services.remove({ namespace: 'shop', name: 'named' }),
    touched: ['t/app/named'],
  },
  { name: 'a Service nobody names', change: (w) => w.stores.services.put(makeService('other', [])), touched: [] },
  {
    name: 'a Service that gets labels',
    change: (w) =>
      w.stores.services.put(makeService('any', [], { labels: { ...labelled, 'cis.f5.com/as3-pool': 'labelled' } })),
    touched: ['t/app/labelled'],
  },
  {
    name: 'the EndpointSlice of a labelled Service',
    change: (w) => w.stores.endpointslices.put(makeSlice('labelled', [], [])),
    touched: ['t/app/labelled'],
  },
  {
    name: 'a Service that loses its labels',
    change: (w) => w.stores.services.put(makeService('labelled', [])),
    touched: ['t/app/labelled'],
  },
])('it touches only what leans on it: $name', ({ change, touched }) => {
  const w = world();
  w.stores.services.put(makeService('named', []));
  w.stores.services.put(makeService('labelled', [], { labels: { ...labelled, 'cis.f5.com/as3-pool': 'labelled' } }));
  const map = { 'app/web': { service: 'web' }, 'app/named': { service: 'named' } };
  w.stores.configmaps.put(
    makeConfigMap(
      'cm',
      { 't/app': { web: 80, named: 80, labelled: 80 } },
      { annotations: { 'fairlead.io/pools': JSON.stringify(map) } },
    ),
  );
  w.touched();
  change(w);
  expect([...new Set(w.touched())]).toEqual(touched);
});

test('an edit touches the pools whose way to members it changes, and no others', () => {
  const w = world();
  w.stores.configmaps.put(makeConfigMap('cm', { 't/app': { web: 80, same: 80, gone: 80 } }));
  w.touched();
  w.stores.configmaps.put(makeConfigMap('cm', { 't/app': { web: 81, same: 80, fresh: 80 } }));
  expect(w.touched().sort()).toEqual(['t/app/fresh', 't/app/gone', 't/app/web']);
});

test('an edit that empties a tenant still names it, so that what was there goes', () => {
  const w = world();
  w.stores.configmaps.put(makeConfigMap('cm', { 't/': {} }));
  expect(w.touches.at(-1)).toMatchObject({ scopes: ['t'], edits: [{ scopes: ['t'] }] });
});

test('a deleted ConfigMap wants nothing and owns no pools', () => {
  const w = world();
  w.stores.configmaps.put(makeConfigMap('cm', { 't/app': { web: 80 } }));
  w.touches.length = 0;
  w.stores.configmaps.remove({ namespace: 'shop', name: 'cm' });
  expect(w.touches).toMatchObject([{ scopes: ['t'], pools: [{ pool: 'web' }], edits: [] }]);
  expect([...w.source.scopes()]).toEqual([]);
  expect(w.members('web')).toBeUndefined();
});

test('a closed source listens to nothing', () => {
  const w = world({ full: false });
  w.source.close();
  w.fill();
  w.stores.configmaps.put(makeConfigMap('cm', { 't/app': {} }));
  expect(w.touches).toEqual([]);
  expect(Object.values(w.stores).map(({ listeners }) => listeners)).toEqual([0, 0, 0, 0]);
});

test.each<{ name: string; asker: string; loadbalancer?: string; owned: boolean }>([
  { name: 'of another cluster', asker: 'c2/shop/mine', owned: false },
  { name: 'for our Loadbalancer', asker: 'c1/shop/mine', owned: true },
  { name: "for another one's", asker: 'c1/shop/theirs', owned: false },
  { name: 'for nobody in particular', asker: 'c1/shop/plain', owned: true },
  { name: 'gone, with our name', asker: 'c1/shop/fairlead-demo', owned: true },
  { name: "gone, with another Loadbalancer's name", asker: 'c1/shop/fairlead-other', owned: false },
  { name: 'gone, with a name of its own', asker: 'c1/shop/gone', owned: true },
])('it answers for a ConfigMap $name: $owned', ({ asker, owned }) => {
  const w = world({ loadbalancer: 'demo' });
  const annotated = (name: string) => ({ annotations: { 'fairlead.io/loadbalancer': name } });
  w.stores.configmaps.put(makeConfigMap('mine', {}, annotated('demo')));
  w.stores.configmaps.put(makeConfigMap('theirs', {}, annotated('other')));
  w.stores.configmaps.put(makeConfigMap('plain', {}));
  expect(w.source.owns(asker)).toBe(owned);
});
