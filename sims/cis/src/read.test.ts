import { expect, test } from 'vitest';
import { read, type Objects } from './read.ts';

const pool = (servicePort: number, more: object = { shareNodes: false }) => ({
  class: 'Pool',
  members: [{ servicePort, serverAddresses: [], ...more }],
});

const template = (pools: object, tenant = 't1') =>
  JSON.stringify({
    class: 'AS3',
    declaration: { class: 'ADC', [tenant]: { class: 'Tenant', app: { class: 'Application', ...pools } } },
  });

const labels = (name = 'web_pool', tenant = 't1') => ({
  'cis.f5.com/as3-tenant': tenant,
  'cis.f5.com/as3-app': 'app',
  'cis.f5.com/as3-pool': name,
});

const world = (pools: object, more: Partial<Objects> = {}): Objects => ({
  configmaps: [
    {
      metadata: { name: 'cm', namespace: 'shop', labels: { f5type: 'virtual-server', as3: 'true' } },
      data: { template: template(pools) },
    },
  ],
  services: [
    {
      metadata: { name: 'web', namespace: 'shop', labels: labels() },
      spec: { ports: [{ port: 80, targetPort: 8080 }] },
    },
  ],
  endpointslices: [
    {
      metadata: { name: 'web-1', namespace: 'shop', labels: { 'kubernetes.io/service-name': 'web' } },
      ports: [{ port: 8080 }],
      endpoints: [
        { addresses: ['10.0.0.2'] },
        { addresses: ['10.0.0.1'], conditions: { ready: true } },
        { addresses: ['10.0.0.3'], conditions: { ready: false } },
      ],
    },
  ],
  namespaces: [{ metadata: { name: 'shop', labels: { lb: 'yes' } } }],
  ...more,
});

const found = ['10.0.0.1:8080', '10.0.0.2:8080'];

test('CIS compares with the Service port, CIS-C with that of the endpoint', () => {
  expect(read('cis', world({ web_pool: pool(80) })).members).toEqual({ '/t1/app/web_pool': found });
  expect(read('cis-c', world({ web_pool: pool(80) })).members).toEqual({ '/t1/app/web_pool': [] });
  expect(read('cis-c', world({ web_pool: pool(8080) })).members).toEqual({ '/t1/app/web_pool': found });
  expect(read('cis', world({ web_pool: pool(8080) }))).toMatchObject({
    members: { '/t1/app/web_pool': found },
    complaints: [expect.stringMatching(/all are taken/)],
  });
});

test('without shareNodes CIS sends nothing at all', () => {
  expect(read('cis', world({ web_pool: pool(80, {}) }))).toMatchObject({
    members: {},
    complaints: [expect.stringMatching(/^refused/)],
  });
  expect(read('cis-c', world({ web_pool: pool(8080, {}) })).members['/t1/app/web_pool']).toEqual(found);
});

test('labels, namespaces and live ConfigMaps alone count', () => {
  const staged = world({ web_pool: pool(80) });
  staged.configmaps.forEach(({ metadata }) => (metadata.labels = { f5type: 'virtual-server', as3: 'false' }));
  expect(read('cis', staged).members).toEqual({});
  expect(read('cis', world({ web_pool: pool(80) }), { lb: 'no' }).members).toEqual({});
  expect(read('cis', world({ web_pool: pool(80), other_pool: pool(80) })).members['/t1/app/other_pool']).toEqual([]);
  const elsewhere = world(
    { web_pool: pool(80) },
    { namespaces: [{ metadata: { name: 'shop' } }, { metadata: { name: 'x' } }] },
  );
  elsewhere.services.forEach(({ metadata }) => (metadata.namespace = 'x'));
  expect(read('cis', elsewhere).members).toEqual({ '/t1/app/web_pool': [] });
});

test('two ConfigMaps with one tenant: CIS takes the later, CIS-C the first', () => {
  const one = world({ web_pool: pool(80) });
  const [first] = one.configmaps;
  const later = {
    ...first,
    metadata: { ...first?.metadata, name: 'later', creationTimestamp: '2026-01-01T00:00:00Z' },
    data: { template: template({}) },
  };
  const both = { ...one, configmaps: [...one.configmaps, later as never] };
  expect(read('cis', both).members).toEqual({});
  expect(Object.keys(read('cis-c', both).members)).toEqual(['/t1/app/web_pool']);
});

test('CIS-C complains of classes it has not, CIS does not', () => {
  const one = world({ web_pool: pool(80), list: { class: 'Data_Group', records: [] }, rule: { class: 'iRule' } });
  expect(read('cis', one).complaints).toEqual([]);
  expect(read('cis-c', one).complaints).toEqual(['/t1/app/list: class Data_Group is unknown']);
});
