// What the Ingresses of a ticket ask for together, and what a change of anything they lean on touches.
import { compile } from '@fairlead/as3';
import { expect, test } from 'vitest';
import { asker, fullWorld, ingress, ingressWorld, key, ticket } from '../testing/ingresses.ts';
import { endpoint, makeService, makeSlice } from '../testing/make.ts';

test('the Ingresses of one ticket are one load balancer on its address', async () => {
  const here = await fullWorld();
  here.stores.ingresses.put(ingress('a'));
  here.stores.ingresses.put(ingress('b'));
  expect(here.source.wanted('t1')).toMatchObject([
    { key, scope: 't1', listeners: [{ name: 'web_80_vs', address: '20.1.0.10', port: 80 }] },
  ]);
  expect(here.routes()).toEqual(['80/a', '80/b']);
  expect(here.source.owns(asker)).toBe(true);
  expect(here.source.owns('c1/shop/fairlead-demo2:project:web')).toBe(false);
  here.stores.ingresses.remove({ namespace: 'shop', name: 'a' });
  expect(here.routes()).toEqual(['80/b']);
  here.stores.ingresses.remove({ namespace: 'shop', name: 'b' });
  expect(here.source.wanted('t1')).toEqual([]);
  expect(here.touches.at(-1)).toMatchObject({ scopes: ['t1'], edits: [] });
});

test('of two that ask for one path the older has it, whichever is seen first', async () => {
  const here = await fullWorld();
  here.stores.ingresses.put(ingress('younger', '/x', { created: '2024-02-01T00:00:00Z' }));
  here.stores.ingresses.put(ingress('older', '/x'));
  expect(
    here.source.group(asker)?.members.map(({ ingress: { metadata }, notes }) => [metadata.name, notes.length]),
  ).toEqual([
    ['younger', 1],
    ['older', 0],
  ]);
});

test.each([
  ['disabled', ticket({ process: 'disabled' })],
  ['of listners', ticket({ lbtype: 'listner' })],
  ['with another address by now', ticket({ ip: '20.1.0.99' })],
])('a ticket that is %s serves nobody, and its Ingresses wait', async (_, other) => {
  const here = await fullWorld();
  here.stores.ingresses.put(ingress('a'));
  here.stores.lbtickets.put(other);
  expect(here.source.wanted('t1')).toEqual([]);
  expect(here.source.group(asker)?.members).toMatchObject([{ isWaiting: true }]);
  expect(here.source.edits()).toMatchObject([{ scopes: ['t1'] }]);
  here.stores.lbtickets.put(ticket());
  expect(here.routes()).toEqual(['80/a']);
});

test('an annotation that claims the address of a ticket for another namespace, or of another Loadbalancer, gets nothing', async () => {
  const here = await fullWorld();
  here.stores.lbtickets.put(ticket({ namespace: 'elsewhere' }));
  here.stores.ingresses.put(ingress('a'));
  expect(here.source.wanted('t1')).toEqual([]);
  here.stores.lbtickets.put(ticket({ loadbalancer: 'other' }));
  here.stores.ingresses.put(ingress('a'));
  expect([...here.source.scopes()]).toEqual([]);
});

test('an annotation that claims another partition gets nothing there', async () => {
  const here = await fullWorld();
  here.stores.ingresses.put(ingress('a', '/a', { claim: { partition: 'payroll' } }));
  expect(here.source.wanted('payroll')).toEqual([]);
  expect(here.source.group(asker)?.members).toMatchObject([{ isWaiting: true }]);
});

test('a bad edit leaves what was read last, and the neighbours', async () => {
  const here = await fullWorld();
  here.stores.ingresses.put(ingress('a'));
  here.stores.ingresses.put(ingress('b', '/"];exec'));
  here.stores.ingresses.put(ingress('a', '/{'));
  expect(here.routes()).toEqual(['80/a']);
  expect(here.source.group(asker)?.members.map(({ problem }) => problem?.path)).toEqual([
    'spec.rules[0].http.paths[0].path',
    'spec.rules[0].http.paths[0].path',
  ]);
  // Made anew under its name, it has no good past.
  here.stores.ingresses.put(ingress('a', '/{', { uid: 'another' }));
  expect(here.routes()).toEqual([]);
});

test('after a restart, a bad one that was served holds the group as the place has it; one that never was does not', async () => {
  const here = ingressWorld();
  here.stores.lbtickets.put(ticket());
  here.stores.ingresses.put(ingress('bad', '/{', { served: true }));
  here.stores.ingresses.put(ingress('good'));
  expect(here.source.synced).toBe(false);
  await here.fill();
  expect(here.source.synced).toBe(true);
  expect(here.source.wanted('t1')).toEqual([]);
  expect(here.source.refusals()).toMatchObject([{ key, problem: { code: 'invalid' } }]);
  here.stores.ingresses.put(ingress('bad', '/{'));
  expect(here.source.refusals()).toEqual([]);
  expect(here.routes()).toEqual(['80/good']);
});

test('one that leaves wants nothing, and is in the group until its claim is gone', async () => {
  const here = await fullWorld();
  here.stores.ingresses.put(ingress('a'));
  const left = ingress('a', '/a', { claim: { wanted: false } });
  here.stores.ingresses.put(left);
  expect(here.source.wanted('t1')).toEqual([]);
  expect(here.source.origin(asker)).toBeDefined();
  expect(here.touches.at(-1)?.edits).toMatchObject([{ scopes: ['t1'] }]);
  const { 'fairlead.io/vip': _, ...annotations } = left.metadata.annotations ?? {};
  here.stores.ingresses.put({ ...left, metadata: { ...left.metadata, annotations } });
  expect(here.source.origin(asker)).toBeUndefined();
});

test('pods, Services and named ports touch pools alone, and what is not there is said', async () => {
  const here = await fullWorld();
  here.stores.ingresses.put(ingress('a', '/a', { port: { name: 'http' } }));
  const supply = () => here.source.supply({ scope: 't1', key, pool: 'web_http_pool' }, asker);
  expect(supply()).toMatchObject({ members: [], problem: { code: 'missing' } });
  here.touches.length = 0;
  here.stores.services.put(makeService('web', [{ name: 'admin', port: 9 }]));
  expect(here.touched()).toEqual(['web_http_pool']);
  expect(supply()?.problem?.message).toBe('Service shop/web has no port named http (its ports: admin)');
  here.stores.services.put(makeService('web', [{ name: 'http', port: 80, targetPort: 8080 }]));
  here.stores.endpointslices.put(makeSlice('web', [{ name: 'http', port: 8080 }], [endpoint('10.0.0.1')]));
  expect(here.touched()).toEqual(['web_http_pool', 'web_http_pool']);
  expect(supply()).toMatchObject({ members: [{ address: '10.0.0.1', port: 8080 }] });
  expect(here.source.supply({ scope: 't1', key, pool: 'other_80_pool' }, asker)).toBeUndefined();
});

test('what the agent itself writes is no edit, and a closed source hears nothing', async () => {
  const here = await fullWorld();
  const one = ingress('a');
  here.stores.ingresses.put(one);
  here.touches.length = 0;
  here.stores.ingresses.put({ ...one, status: { loadBalancer: { ingress: [{ ip: '20.1.0.10' }] } } });
  here.stores.ingresses.put({
    ...one,
    metadata: { ...one.metadata, annotations: { ...one.metadata.annotations, 'fairlead.io/status': '{}' } },
  });
  expect(here.touches).toEqual([]);
  here.source.close();
  expect(Object.values(here.stores).map((store) => store.listeners)).toEqual([0, 0, 0, 0]);
});

test('five hundred Ingresses with a path each are one listener', async () => {
  const here = await fullWorld();
  for (let i = 0; i < 500; i += 1) here.stores.ingresses.put(ingress(`i${i}`));
  expect(here.routes()).toHaveLength(500);
  expect(compile(here.source.wanted('t1')[0] as never)).toMatchObject({ ok: true });
});
