import { expect, test } from 'vitest';
import { forceAnnotation } from '../lbticket.ts';
import { makeListner, makeLoadbalancer, makeRule, makeTicket, makeWorld } from '../make.ts';
import { checkLbticket, checkLbticketRemoval, lbticketWarnings } from './lbticket.ts';

const demo = makeLoadbalancer();
const world = makeWorld({ loadbalancers: [demo] });
const paths = (problems: { path?: string | undefined }[]) => problems.map((problem) => problem.path);
const uses = (service: string, name = 'lsnr1') => makeListner({ name, services: [{ service, port: 8080, weight: 1 }] });

test.each([
  ['a good ticket', makeTicket(), []],
  ['an address that is none', makeTicket({ veip: '20.1.0.300', ltmip: '10' }), ['spec.veip', 'spec.ltmip']],
  ['an unknown load balancer is left to the controller', makeTicket({ loadbalancer: 'none' }), []],
  ['a new ticket that is deleted already', makeTicket({ state: 'deleted' }), ['spec.state']],
  [
    'wrong fields are told before anything else',
    makeTicket({ veip: '20.1.0.300', namespace: 'No' }),
    ['spec.namespace'],
  ],
])('%s', (_, ticket, want) => {
  expect(paths(checkLbticket(ticket, undefined, world))).toEqual(want);
});

test.each([
  ['has listners', makeTicket({ state: 'disabled' }), ['spec.state']],
  ['lost its listners in the same edit', makeTicket({ state: 'disabled', listners: [] }), []],
  [
    'is forced',
    {
      ...makeTicket({ state: 'disabled' }),
      metadata: { name: 'test', namespace: 'default', annotations: { [forceAnnotation]: 'true' } },
    },
    [],
  ],
  [
    'is forced by another word',
    {
      ...makeTicket({ state: 'disabled' }),
      metadata: { name: 'test', namespace: 'default', annotations: { [forceAnnotation]: 'yes' } },
    },
    ['spec.state'],
  ],
])('disabling an enabled ticket that %s', (_, ticket, want) => {
  expect(paths(checkLbticket(ticket, makeTicket({}, { process: 'enabled' }), world))).toEqual(want);
});

test('a ticket that an F5 Ingress uses is not disabled', () => {
  const ingresses = () => [
    { cluster: 'acp-region01', namespace: 'default', name: 'shop', ticket: 'default/test', services: [] },
  ];
  const old = makeTicket({ lbtype: 'ingress', listners: [] }, { process: 'enabled' });
  const [problem] = checkLbticket(
    { ...old, spec: { ...old.spec, state: 'disabled' } },
    old,
    makeWorld({ loadbalancers: [demo] }, { ingresses }),
  );
  expect(problem?.message).toContain('Ingress default/shop');
});

test('a ticket that carries no traffic yet is disabled without more ado', () => {
  expect(checkLbticket(makeTicket({ state: 'disabled' }), makeTicket({}, { process: 'apply' }), world)).toEqual([]);
});

const other = (spec: Parameters<typeof makeTicket>[0], process: 'enabled' | 'deleted' = 'enabled') =>
  makeTicket(spec, { process }, 'other');

test.each([
  ['by another ticket', other({}), ['spec.listners[0].services[0].service', 'spec.listners[0].services[1].service']],
  ['by a deleted ticket', other({}, 'deleted'), []],
  ['under the same name in another namespace', other({ namespace: 'b' }), []],
  ['under the same name in another cluster', other({ loadbalancer: 'far' }), []],
  ['in part', other({ listners: [uses('svc02')] }), ['spec.listners[0].services[1].service']],
])('a Service used %s', (_, ticket, want) => {
  const far = makeLoadbalancer('far', { cluster: 'acp-region02' });
  expect(
    paths(checkLbticket(makeTicket(), undefined, makeWorld({ loadbalancers: [demo, far], lbtickets: [ticket] }))),
  ).toEqual(want);
});

test('a Service used by an F5 Ingress is refused, with its name', () => {
  const ingresses = () => [
    { cluster: 'acp-region01', namespace: 'default', name: 'shop', ticket: 'default/x', services: ['svc02'] },
  ];
  const [problem, ...rest] = checkLbticket(
    makeTicket(),
    undefined,
    makeWorld({ loadbalancers: [demo] }, { ingresses }),
  );
  expect(problem).toMatchObject({ code: 'taken', message: expect.stringContaining('Ingress default/shop') });
  expect(rest).toEqual([]);
});

test('an F5 Ingress of another cluster uses other Services', () => {
  const ingresses = () => [
    { cluster: 'acp-region02', namespace: 'default', name: 'shop', ticket: 'default/x', services: ['svc02'] },
  ];
  expect(checkLbticket(makeTicket(), undefined, makeWorld({ loadbalancers: [demo] }, { ingresses }))).toEqual([]);
});

test('a Service used by a rule of another ticket is refused, with its name', () => {
  const held = makeWorld({
    loadbalancers: [demo],
    lbtickets: [other({ listners: [uses('svc09')] })],
    lbrules: [makeRule({ lbticket: 'other' })],
  });
  const [problem, ...rest] = checkLbticket(makeTicket({ listners: [uses('svc03')] }), undefined, held);
  expect(problem).toMatchObject({ code: 'taken', message: expect.stringContaining('Lbrule default/irule') });
  expect(rest).toEqual([]);
  expect(checkLbticket(makeTicket({ listners: [uses('svc08')] }), undefined, held)).toEqual([]);
});

test.each(['created', 'failed'] as const)('a %s ticket that moves to another cluster is judged there', (process) => {
  const far = makeLoadbalancer('far', { cluster: 'acp-region02' });
  const near = makeLoadbalancer('near', { nsselector: {} });
  const taken = makeWorld({
    loadbalancers: [demo, far, near],
    lbtickets: [other({ loadbalancer: 'far' })],
    lbrules: [makeRule()],
  });
  const old = makeTicket({}, { process });
  const moved = (loadbalancer: string) => checkLbticket(makeTicket({ loadbalancer }, { process }), old, taken);
  expect(paths(moved('far'))).toEqual(['spec.listners[0].services[0].service', 'spec.listners[0].services[1].service']);
  expect(moved('near')).toEqual([]);
});

test('its rules move with it', () => {
  const far = makeLoadbalancer('far', { cluster: 'acp-region02' });
  const taken = makeWorld({
    loadbalancers: [demo, far],
    lbtickets: [other({ loadbalancer: 'far', listners: [uses('svc04')] })],
    lbrules: [makeRule()],
  });
  const old = makeTicket({}, { process: 'failed' });
  const moved = { ...old, spec: { ...old.spec, loadbalancer: 'far' } };
  expect(paths(checkLbticket(moved, old, taken))).toEqual(['spec.loadbalancer']);
});

const abroad = (listner: Parameters<typeof makeListner>[0], spec: Parameters<typeof makeTicket>[0] = {}) => ({
  ...makeTicket({
    listners: [makeListner({ services: [{ service: 'free', port: 80, weight: 1 }], ...listner })],
    ...spec,
  }),
  metadata: { name: 'test', namespace: 'b' },
});

test.each([
  ['on the same port', abroad({}), ['spec.listners[0].port']],
  ['on another port', abroad({ port: 81 }), []],
  ['of another protocal', abroad({ protocal: 'tcp', session: 'none' }), []],
  ['of another load balancer', abroad({}, { loadbalancer: 'far' }), []],
  ['for another namespace', abroad({}, { namespace: 'b' }), []],
])('a ticket of that name in another project, %s', (_, ticket, want) => {
  const far = makeLoadbalancer('far', { nsselector: {} });
  const held = makeWorld({ loadbalancers: [demo, far], lbtickets: [makeTicket()] });
  expect(paths(checkLbticket(ticket, undefined, held))).toEqual(want);
});

test('a ticket of that name that was there before keeps its port', () => {
  const both = makeWorld({ loadbalancers: [demo], lbtickets: [makeTicket()] });
  expect(checkLbticket(abroad({ balance: 'ratio-member' }), abroad({}), both)).toEqual([]);
});

test('a Service that a ticket had already is not judged again', () => {
  const shared = makeWorld({ loadbalancers: [demo], lbtickets: [other({})] });
  const edited = makeTicket({ listners: [makeListner({ balance: 'ratio-member' })] });
  expect(checkLbticket(edited, makeTicket(), shared)).toEqual([]);
});

test('one ticket may use a Service in two listners, as the seed does', () => {
  const both = makeTicket({
    listners: [makeListner(), makeListner({ name: 'lsnr2', port: 22, protocal: 'tcp', session: 'source-address' })],
  });
  expect(checkLbticket(both, undefined, makeWorld({ loadbalancers: [demo], lbtickets: [both] }))).toEqual([]);
});

test('a listner that a rule names stays', () => {
  const ruled = makeWorld({ loadbalancers: [demo], lbrules: [makeRule()] });
  const [problem] = checkLbticket(makeTicket({ listners: [uses('svc01', 'new')] }), makeTicket(), ruled);
  expect(problem?.message).toContain('Lbrule default/irule');
  const elsewhere = { ...makeRule(), metadata: { name: 'irule', namespace: 'b' } };
  expect(
    checkLbticket(
      makeTicket({ listners: [] }),
      makeTicket(),
      makeWorld({ loadbalancers: [demo], lbrules: [elsewhere] }),
    ),
  ).toEqual([]);
});

test.each([
  [true, [], 0],
  [false, ['spec.namespace'], 0],
  [undefined, [], 1],
])('a namespace that is there: %s', (exists, want, warnings) => {
  const asked = makeWorld({ loadbalancers: [demo] }, { namespaceExists: () => exists });
  expect(paths(checkLbticket(makeTicket(), undefined, asked))).toEqual(want);
  expect(lbticketWarnings(makeTicket(), undefined, asked)).toHaveLength(warnings);
});

test('a namespace that went away does not keep the ticket from being edited', () => {
  const asked = makeWorld({ loadbalancers: [demo] }, { namespaceExists: () => false });
  expect(checkLbticket(makeTicket({ claimer: 'k' }), makeTicket(), asked)).toEqual([]);
});

test.each([
  ['enabled', 1],
  ['created', 1],
  ['apply', 1],
  ['disabled', 0],
  ['failed', 0],
  ['deleted', 0],
] as const)('removing a ticket that is %s has %d problems', (process, count) => {
  expect(checkLbticketRemoval(makeTicket({}, { process }))).toHaveLength(count);
});
