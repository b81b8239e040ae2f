// What a ticket wants of the LTM, and what stays in the ConfigMap while the LTM still leads to it.
import { compile } from '@fairlead/as3';
import { fail, ok } from '@fairlead/core';
import type { ConfigMap } from '@fairlead/kube';
import { expect, test } from 'vitest';
import type { Contribution } from './configmap.ts';
import { afterLtm } from './ltm-order.ts';
import { ltmWish, type LtmState } from './ltm.ts';
import { tenantOf } from './names.ts';
import { emptyPart, lb, listner, ticket } from './testing/objects.ts';

const enabled = { process: 'enabled' as const, veip: '20.1.0.10', ltmip: '10.0.0.10' };
const udp = { ...listner(53, 'dns'), name: 'dns', protocal: 'udp' as const, session: 'none' as const };
const tcp = { ...udp, name: 'dns-tcp', protocal: 'tcp' as const };
const filed = (status: object, listners = [listner(80), udp, tcp]) => ({ ...ticket('test', { listners }), status });

test('each port of the LTM address leads to the same port of the VE address, whatever is spoken there', () => {
  const { balancer, members, scope } = ltmWish(lb(), filed(enabled));
  expect(scope).toBe('acp-region01_ltm');
  expect(balancer?.key).toBe('acp-region01_ltm/project_test_ltm_app');
  expect(
    balancer?.listeners.map(({ name, address, port, protocol }) => `${name} ${address}:${port} ${protocol}`),
  ).toEqual([
    'test_ltm_53_vs 10.0.0.10:53 tcp',
    'test_ltm_80_vs 10.0.0.10:80 tcp',
    'test_ltm_udp_53_vs 10.0.0.10:53 udp',
  ]);
  expect(
    [...members].map(([pool, all]) => `${pool} ${all.map(({ address, port }) => `${address}:${port}`).join()}`),
  ).toEqual(['ve_80_pool 20.1.0.10:80', 've_53_udp_pool 20.1.0.10:53', 've_53_pool 20.1.0.10:53']);
  expect(balancer && compile(balancer).ok).toBe(true);
});

const forIngresses = (status: object = enabled) => ({ ...ticket('web', { lbtype: 'ingress' }), status });

test('a ticket for Ingresses leads on from the ports that they are served on', () => {
  const { balancer, members, revision } = ltmWish(lb(), forIngresses(), [80, 443]);
  expect(balancer?.listeners.map(({ name, port, protocol }) => `${name} ${port} ${protocol}`)).toEqual([
    'web_ltm_443_vs 443 tcp',
    'web_ltm_80_vs 80 tcp',
  ]);
  expect(members.get('ve_443_pool')).toEqual([{ address: '20.1.0.10', port: 443, state: 'enabled' }]);
  expect(balancer && compile(balancer).ok).toBe(true);
  expect(ltmWish(lb(), forIngresses(), [80]).revision).not.toBe(revision);
});

test('what is there stays while nobody knows the ports; of a ticket that is not enabled nothing is wanted all the same', () => {
  expect(ltmWish(lb(), forIngresses(), undefined)).toMatchObject({ revision: 'unknown', isUnknown: true });
  expect(ltmWish(lb(), forIngresses(), [])).not.toHaveProperty('isUnknown');
  const disabled = forIngresses({ ...enabled, process: 'disabled' });
  expect(ltmWish(lb(), disabled, undefined)).toMatchObject({ revision: 'none' });
  expect(ltmWish(lb(), disabled, [80]).balancer).toBeUndefined();
});

test.each<[what: string, status: object, listners?: []]>([
  ['a ticket that is not enabled', { ...enabled, process: 'disabled' }],
  ['a ticket without addresses', { process: 'enabled' }],
  ['a ticket without listners', enabled, []],
])('%s wants nothing there', (_, status, listners) => {
  const { revision, balancer } = ltmWish(lb(), filed(status, listners));
  expect([revision, balancer]).toEqual(['none', undefined]);
});

test('another VE address, port or name is another wish; weights and rules are none of its business', () => {
  const revision = (status: object, listners = [listner(80)]) => ltmWish(lb(), filed(status, listners)).revision;
  const first = revision(enabled);
  expect(revision({ ...enabled, veip: '20.1.0.11' })).not.toBe(first);
  expect(revision(enabled, [listner(81)])).not.toBe(first);
  expect(revision(enabled, [listner(80, 'other')])).toBe(first);
});

test('spec.ve.partition names the tenant, in the place of cis.tenant', () => {
  const ve = { ...lb().spec.ve, partition: 'blue' };
  expect(tenantOf(lb({ ve, cis: { mode: 'fairlead', tenant: '{cluster}_{namespace}' } }), 'shop')).toBe('blue');
  expect(tenantOf(lb({ cis: { mode: 'fairlead', tenant: '{cluster}_{namespace}' } }), 'shop')).toBe(
    'acp-region01_shop',
  );
});

const items = (...ports: number[]) => ({
  shop_http_app: Object.fromEntries(ports.map((port) => [`test_${port}_vs`, { class: 'Service_HTTP' }])),
});
const wants = (...ports: number[]): Contribution => ({
  ticket: 'project/test',
  created: 1,
  part: ok({ ...emptyPart, items: items(...ports) }),
});
const has = (...ports: number[]): ConfigMap => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: {
    name: 'fairlead-demo',
    annotations: {
      'fairlead.io/tickets': JSON.stringify({
        'project/test': { digest: 'd', items: { shop_http_app: Object.keys(items(...ports).shop_http_app) } },
      }),
    },
  },
});

const problem = { problem: fail('denied', '401').problem };

test.each<[what: string, given: { wanted: Contribution[]; existing?: ConfigMap; ltm: LtmState }, want: string]>([
  ['nothing is wanted, the LTM is clear', { wanted: [], existing: has(80), ltm: 'clear' }, ''],
  ['nothing is wanted, the LTM is not ours', { wanted: [], existing: has(80), ltm: 'none' }, ''],
  ['nothing is wanted, the LTM has not said', { wanted: [], existing: has(80), ltm: 'pending' }, 'stays'],
  ['nothing is wanted, the LTM refuses', { wanted: [], existing: has(80), ltm: problem }, 'stays'],
  ['more is wanted, the LTM has not said', { wanted: [wants(80, 81)], existing: has(80), ltm: 'pending' }, 'new'],
  ['less is wanted, the LTM has not said', { wanted: [wants(80)], existing: has(80, 81), ltm: 'pending' }, 'stays'],
  ['less is wanted, the LTM refuses', { wanted: [wants(80)], existing: has(80, 81), ltm: problem }, 'stays'],
  ['less is wanted, the LTM follows', { wanted: [wants(80)], existing: has(80, 81), ltm: 'programmed' }, 'new'],
  ['less is wanted, the LTM is not ours', { wanted: [wants(80)], existing: has(80, 81), ltm: 'none' }, 'new'],
  ['there was nothing before', { wanted: [wants(80)], ltm: 'pending' }, 'new'],
])('%s', (_, { wanted, existing, ltm }, want) => {
  const one = filed(enabled);
  const desk = {
    lbtickets: { read: () => one },
    surroundings: {
      ltm: () => ltm,
      cluster: () => undefined,
      device: () => 'reachable',
      listen: () => () => undefined,
    },
  } as unknown as Parameters<typeof afterLtm>[0];
  const got = afterLtm(desk, wanted, existing).map(({ part }) => (part.ok ? 'new' : 'stays'));
  expect(got.join()).toBe(want);
});
