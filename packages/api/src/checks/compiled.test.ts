// What the compiler would refuse; packages/tickets/src/admitted.test.ts holds it against the compiler itself.
import { expect, test } from 'vitest';
import { makeListner, makeLoadbalancer, makeRule, makeTicket, makeWorld } from '../make.ts';
import { checkLbrule } from './lbrule.ts';
import { checkLbticket } from './lbticket.ts';
import { checkLoadbalancer } from './loadbalancer.ts';

const demo = makeLoadbalancer();
const world = makeWorld({ loadbalancers: [demo] });
const paths = (problems: { path?: string | undefined }[]) => problems.map((problem) => problem.path);
const to = (service: string, port = 8080) => ({ services: [{ service, port, weight: 1 }] });
const on = (name: string, port: number, listner: Parameters<typeof makeListner>[0]) =>
  makeListner({ name, port, ...listner });
const a = on('a', 80, to('svc01'));

test.each([
  ['with the same monitor and balance', on('b', 81, to('svc01')), []],
  ['with the monitor of its protocal, written down', on('b', 81, { ...to('svc01'), monitor: { type: 'http' } }), []],
  [
    'with another balance',
    on('b', 81, { ...to('svc01'), balance: 'ratio-member' }),
    ['spec.listners[0].services[0].service'],
  ],
  [
    'with another monitor',
    on('b', 81, { ...to('svc01'), monitor: { type: 'tcp' } }),
    ['spec.listners[0].services[0].service'],
  ],
  ['on another port of it', on('b', 81, { ...to('svc01', 9090), monitor: { type: 'tcp' } }), []],
  [
    'under another protocal',
    on('b', 81, { ...to('svc01'), protocal: 'tcp', session: 'none', monitor: { type: 'icmp' } }),
    [],
  ],
])('a Service in two listners %s', (_, b, want) => {
  expect(paths(checkLbticket(makeTicket({ listners: [a, b] }), undefined, world))).toEqual(want);
});

test('two Services that get one name on the device are not one pool', () => {
  const listners = [on('a', 80, to('1a')), on('b', 81, to('n1a'))];
  expect(paths(checkLbticket(makeTicket({ listners }), undefined, world))).toHaveLength(1);
});

test('a rule gives a Service the monitor of its listner, and is told of another', () => {
  const b = on('lsnr1', 81, { ...to('svc02'), monitor: { type: 'tcp' } });
  const both = makeWorld({ loadbalancers: [demo], lbtickets: [makeTicket({ listners: [a, b] })], lbrules: [] });
  expect(paths(checkLbrule(makeRule(to('svc01')), undefined, both))).toEqual(['spec.services[0].service']);
  expect(checkLbrule(makeRule(to('svc02')), undefined, both)).toEqual([]);
  const ruled = { ...both, lbrules: () => [makeRule(to('svc01'))] };
  expect(
    checkLbticket(makeTicket({ claimer: 'k', listners: [a, b] }), makeTicket({ listners: [a, b] }), ruled),
  ).toEqual([]);
});

const named = (length: number, listners = [makeListner()]) => makeTicket({ listners }, undefined, 'x'.repeat(length));
// /acp-region01/default_http_app/<ticket>_80_vs_irule
const room = 195 - '/acp-region01/default_http_app/_80_vs_irule'.length;

test.each([
  [room, [makeListner()], 0],
  [room + 1, [makeListner()], 1],
  [room + 1, [], 0],
  [253, [], 1],
])('the name of a ticket: %d characters', (length, listners, count) => {
  const problems = checkLbticket(named(length, listners), undefined, world);
  expect(paths(problems)).toEqual(Array.from({ length: count }, () => 'metadata.name'));
});

test('a ticket of a longer tenant has less room', () => {
  const long = makeLoadbalancer('demo', { cis: { mode: 'fairlead', tenant: '{cluster}_{namespace}' } });
  const filed = makeWorld({ loadbalancers: [demo], lbtickets: [named(room)] });
  expect(paths(checkLbticket(named(room), undefined, makeWorld({ loadbalancers: [long] })))).toEqual(['metadata.name']);
  expect(paths(checkLoadbalancer(long, demo, filed))).toEqual(['spec.cis.tenant']);
});

test('the name of a rule counts when it needs a list on the device', () => {
  const rule = (type: 'ip' | 'url', value: string) => ({
    ...makeRule({ rules: [{ type, values: [{ operator: 'equal', value }] }] }),
    metadata: { name: 'x'.repeat(150), namespace: 'default' },
  });
  const filed = makeWorld({ loadbalancers: [demo], lbtickets: [makeTicket()] });
  expect(paths(checkLbrule(rule('ip', '10.0.0.1'), undefined, filed))).toEqual(['metadata.name']);
  expect(checkLbrule(rule('url', '/'), undefined, filed)).toEqual([]);
});

const external = makeLoadbalancer('demo', { cis: { mode: 'external', tenant: '{cluster}' } });
const own = { ...external, spec: { ...external.spec, ve: { ...external.spec.ve, partition: 'k8s' } } };
const secure = makeTicket({ listners: [makeListner({ protocal: 'https', tls: { secretName: 'a' } })] });
const ingress = makeTicket({ lbtype: 'ingress', listners: [] });

test.each([
  ['https', secure, external, ['spec.listners[0].protocal']],
  ['https, by our own agent', secure, demo, []],
  ['Ingresses without a partition', ingress, external, ['spec.lbtype']],
  ['Ingresses in its partition', ingress, own, []],
  ['Ingresses of our own agent', ingress, demo, []],
])('an external CIS serves no %s', (_, ticket, loadbalancer, want) => {
  const asked = makeWorld({ loadbalancers: [loadbalancer] });
  expect(paths(checkLbticket(ticket, undefined, asked))).toEqual(want);
  // What was so before is not held against another edit.
  const edited = { ...ticket, spec: { ...ticket.spec, claimer: 'k' } };
  expect(checkLbticket(edited, ticket, asked)).toEqual([]);
});

test.each([
  ['becomes external under https', external, demo, [secure], ['spec.cis.mode']],
  ['becomes external under plain http', external, demo, [makeTicket()], []],
  [
    'becomes external under a ticket that is deleted',
    external,
    demo,
    [{ ...secure, status: { process: 'deleted' as const } }],
    [],
  ],
  ['becomes external under Ingresses', external, demo, [ingress], ['spec.ve.partition']],
  ['becomes external with its partition', own, demo, [ingress], []],
  [
    'loses its partition',
    external,
    own,
    [ingress, makeTicket({ ...ingress.spec }, undefined, 'b')],
    ['spec.ve.partition'],
  ],
])('a load balancer that %s', (_, object, old, lbtickets, want) => {
  expect(paths(checkLoadbalancer(object, old, makeWorld({ lbtickets })))).toEqual(want);
});

test.each([
  ['Common', {}, ['spec.cis.tenant']],
  ['controls', {}, ['spec.cis.tenant']],
  ['-x', {}, ['spec.cis.tenant']],
  ['x', {}, ['spec.cis.tenant']],
  ['Common_{namespace}', {}, []],
  ['{cluster}', { cluster: 'Common' }, ['spec.cis.tenant']],
  ['Common', { partition: 'k8s' }, []],
  ['{cluster}', { partition: 'Common' }, ['spec.ve.partition']],
  ['{cluster}', { partition: 'Common', mode: 'external' as const }, ['spec.ve.partition']],
])(
  'tenant %s with %o',
  (
    tenant,
    {
      mode = 'fairlead',
      cluster = 'cc',
      partition,
    }: { mode?: 'external' | 'fairlead'; cluster?: string; partition?: string },
    want,
  ) => {
    const ve = { ...demo.spec.ve, ...(partition === undefined ? {} : { partition }) };
    const object = makeLoadbalancer('x', { cluster, ve, cis: { mode, tenant } });
    expect(paths(checkLoadbalancer(object, undefined, makeWorld()))).toEqual(want);
  },
);
