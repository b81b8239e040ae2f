import { expect, test } from 'vitest';
import type { Lbticket } from '../lbticket.ts';
import type { Loadbalancer } from '../loadbalancer.ts';
import { makeLoadbalancer, makeTicket, makeWorld } from '../make.ts';
import { checkLoadbalancer, checkLoadbalancerRemoval, deviceOf, loadbalancerWarnings } from './loadbalancer.ts';

const { ltm, ve } = makeLoadbalancer().spec;
const used = { lbtickets: [makeTicket({}, { process: 'enabled', veip: '20.1.0.10' })] };
const paths = (problems: { path?: string | undefined }[]) => problems.map((problem) => problem.path);

test.each([
  ['host bits in a network', { ve: { ...ve, cidr: '20.1.0.1/16' } }, ['spec.ve.cidr']],
  [
    'an excluded thing that is no address',
    { ve: { ...ve, exclude: ['20.1.0.1', '20.1.0.300'] } },
    ['spec.ve.exclude[1]'],
  ],
  ['an excluded address outside the network', { ltm: { ...ltm, exclude: ['10.9.0.1'] } }, ['spec.ltm.exclude[0]']],
  [
    'an excluded range that runs backwards',
    { ltm: { ...ltm, exclude: ['10.0.0.9-10.0.0.1'] } },
    ['spec.ltm.exclude[0]'],
  ],
  ['a selector that is no label', { nsselector: { 'a b': 'c' } }, ['spec.nsselector[a b]']],
])('%s is refused', (_, spec, want) => {
  expect(paths(checkLoadbalancer(makeLoadbalancer('demo', spec), undefined, makeWorld()))).toEqual(want);
});

test.each([
  ['the same triple under another name', {}, ['spec', 'spec.ltm.cidr', 'spec.ve.cidr']],
  [
    'a network inside that of another on the same device',
    { cluster: 'bb', ltm: { ...ltm, cidr: '10.0.0.128/25' }, ve: { ...ve, cidr: '20.2.0.0/16' } },
    ['spec.ltm.cidr'],
  ],
  [
    'the same networks on other devices',
    { cluster: 'bb', ltm: { ...ltm, url: 'http://100.1.1.2' }, ve: { ...ve, addr: '200.1.1.2' } },
    [],
  ],
  [
    'the same device written another way',
    { cluster: 'bb', ltm: { ...ltm, url: 'http://100.1.1.1/api/' }, ve: { ...ve, addr: '200.1.1.2' } },
    ['spec.ltm.cidr'],
  ],
])('%s', (_, spec, want) => {
  const world = makeWorld({ loadbalancers: [makeLoadbalancer('demo')] });
  expect(paths(checkLoadbalancer(makeLoadbalancer('other', spec), undefined, world))).toEqual(want);
});

test.each([
  ['the cluster', { cluster: 'bb' }, ['spec.cluster']],
  ['the selector', { nsselector: {} }, ['spec.nsselector']],
  ['a network that moves', { ve: { ...ve, cidr: '20.2.0.0/16' } }, ['spec.ve.cidr']],
  ['a network that shrinks', { ltm: { ...ltm, cidr: '10.0.0.0/25' } }, ['spec.ltm.cidr']],
  ['a network that grows (allowed)', { ltm: { ...ltm, cidr: '10.0.0.0/23' } }, []],
  ['the password (allowed)', { ve: { ...ve, passwd: 'new' } }, []],
])('while a live ticket uses it: %s', (_, spec, want) => {
  const world = makeWorld({ loadbalancers: [makeLoadbalancer()], ...used });
  const problems = checkLoadbalancer(makeLoadbalancer('demo', spec), makeLoadbalancer(), world);
  expect(paths(problems)).toEqual(want);
  expect(problems.every((problem) => problem.message.includes('default/test'))).toBe(true);
});

const http = { provider: 'http' as const, url: 'http://a.test' };
const filing = { loadbalancer: 'demo', ...http, cluster: 'acp-region01', namespace: 'default' };
const enabled = makeTicket({}, { process: 'enabled', application: 'app-1', filing });
const moved = makeTicket({ loadbalancer: 'other' }, { process: 'failed', application: 'app-1', filing });
const gone = makeTicket({}, { process: 'disabled' });
const elsewhere = makeTicket(
  {},
  { process: 'enabled', application: 'app-1', filing: { ...filing, loadbalancer: 'x' } },
);
const force = { annotations: { 'fairlead.io/force': 'true' } };

test.each<[string, Loadbalancer['spec']['policy'], Lbticket, string[], object?]>([
  ['another URL', { ...http, url: 'http://b.test' }, enabled, ['spec.policy.url']],
  ['another provider', { provider: 'auto' }, enabled, ['spec.policy.provider']],
  ['another URL, by force (allowed)', { ...http, url: 'http://b.test' }, enabled, [], force],
  ['another token (allowed)', { ...http, tokenSecretRef: { name: 'new' } }, enabled, []],
  ['another URL, of a ticket that has moved away', { ...http, url: 'http://b.test' }, moved, ['spec.policy.url']],
  ['another URL, of a ticket without application (allowed)', { ...http, url: 'http://b.test' }, gone, []],
  ['another URL, of one filed elsewhere (allowed)', { ...http, url: 'http://b.test' }, elsewhere, []],
])('while an application is with the approver: %s', (_, policy, ticket, want, metadata = {}) => {
  const old = makeLoadbalancer('demo', { policy: http });
  const object = makeLoadbalancer('demo', { policy });
  const world = makeWorld({ loadbalancers: [old], lbtickets: [ticket] });
  const edited = { ...object, metadata: { ...object.metadata, ...metadata } };
  expect(paths(checkLoadbalancer(edited, old, world))).toEqual(want);
});

test('an approver comes to where nobody was asked, though tickets are there', () => {
  const ticket = makeTicket({}, { process: 'enabled', application: 'auto-1', filing: { ...filing, provider: 'auto' } });
  const world = makeWorld({ lbtickets: [ticket] });
  expect(checkLoadbalancer(makeLoadbalancer('demo', { policy: http }), makeLoadbalancer(), world)).toEqual([]);
});

test.each([
  ['an enabled ticket', makeTicket({}, { process: 'enabled' }), 1],
  ['a ticket nobody has seen yet', makeTicket(), 1],
  ['a failed ticket that holds addresses', makeTicket({}, { process: 'failed', veip: '20.1.0.10' }), 1],
  ['a failed ticket that holds none', makeTicket({}, { process: 'failed' }), 0],
  ['a deleted ticket', makeTicket({}, { process: 'deleted' }), 0],
  ['a ticket of another load balancer', makeTicket({ loadbalancer: 'other' }), 0],
])('%s keeps a load balancer from being removed: %#', (_, ticket, count) => {
  expect(checkLoadbalancerRemoval(makeLoadbalancer(), makeWorld({ lbtickets: [ticket] }))).toHaveLength(count);
});

test('an object whose wish is unchanged is not judged again', () => {
  const bad = makeLoadbalancer('demo', { ve: { ...ve, cidr: '20.1.0.1/16' } });
  expect(checkLoadbalancer(bad, structuredClone(bad), makeWorld())).toEqual([]);
});

test('what collided before it was judged can still be edited elsewhere', () => {
  const world = makeWorld({ loadbalancers: [makeLoadbalancer('demo'), makeLoadbalancer('twin')] });
  const edited = makeLoadbalancer('twin', { ve: { ...ve, passwd: 'new' } });
  expect(checkLoadbalancer(edited, makeLoadbalancer('twin'), world)).toEqual([]);
});

test('two load balancers that would fill one tenant are told so, until one has its own', () => {
  const world = makeWorld({ loadbalancers: [makeLoadbalancer()] });
  const second = makeLoadbalancer('second', { nsselector: { other: 'yes' } });
  const named = expect.stringContaining('{cluster}_second') as string;
  expect(loadbalancerWarnings(second, undefined, world)).toEqual([{ en: named, zh: named }]);
  const apart = makeLoadbalancer('second', { cis: { mode: 'fairlead', tenant: '{cluster}_second' } });
  expect(loadbalancerWarnings(apart, second, world)).toEqual([]);
  expect(loadbalancerWarnings(second, second, world)).toEqual([]);
});

test.each([
  ['200.1.1.1', '200.1.1.1:443', true],
  ['VE.example.com', 've.example.com.', true],
  ['2001:db8::1', '[2001:DB8:0::1]:443', true],
  ['http://100.1.1.1/api', 'http://100.1.1.1:80/api/', true],
  ['https://100.1.1.1', '100.1.1.1', true],
  ['200.1.1.1', '200.1.1.1:8443', false],
  ['http://100.1.1.1/a', 'http://100.1.1.1/b', false],
])('%s and %s are one device: %s', (one, other, isOne) => {
  expect(deviceOf(one) === deviceOf(other)).toBe(isOne);
});

test('a device spelled another way does not give out an address twice', () => {
  const device = makeLoadbalancer().spec;
  const again = makeLoadbalancer('again', {
    nsselector: {},
    ltm: { ...device.ltm, url: 'http://100.1.1.1:80/api' },
    ve: { ...device.ve, addr: '200.1.1.1:443' },
  });
  const there = makeWorld({ loadbalancers: [makeLoadbalancer()] });
  expect(checkLoadbalancer(again, undefined, there).map(({ path }) => path)).toEqual(['spec.ltm.cidr', 'spec.ve.cidr']);
});
