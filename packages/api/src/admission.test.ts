import { expect, test } from 'vitest';
import { type Review, admission } from './admission.ts';
import { makeListner, makeLoadbalancer, makeRule, makeTicket, makeWorld } from './make.ts';

const world = makeWorld(
  { loadbalancers: [makeLoadbalancer()], lbtickets: [makeTicket()] },
  { namespaceExists: () => undefined },
);
const admit = admission(world);
const tickets = { group: 'ebcpaas.io', version: 'v1', resource: 'lbtickets' };
const rules = { group: 'ebcpaas.lb', version: 'v1', resource: 'lbrules' };
const write = (object: object, oldObject?: object): Review => ({
  operation: oldObject ? 'UPDATE' : 'CREATE',
  resource: tickets,
  object,
  oldObject,
});

test('a good object is allowed, with a warning for what nobody could ask', async () => {
  expect(await admit(write(makeTicket()))).toEqual({
    allowed: true,
    warnings: [expect.stringContaining('cannot be reached')],
  });
});

test('a refusal names the object, the field, the rule and what to do', async () => {
  const got = await admit(write(makeTicket({ listners: [makeListner({ protocal: 'tcp' })] })));
  const why =
    'session cookie needs protocal http or https, since nothing else carries cookies: use source-address or none';
  const field = 'spec.listners[0].session';
  expect(got).toEqual({
    allowed: false,
    status: {
      code: 422,
      reason: 'Invalid',
      message: `Lbticket default/test: ${field}: ${why}`,
      details: { causes: [{ reason: 'FieldValueInvalid', message: why, field }] },
    },
  });
});

test('what is well formed but may not be now is Forbidden', async () => {
  const got = await admit({
    operation: 'DELETE',
    resource: tickets,
    oldObject: makeTicket({}, { process: 'enabled' }),
  });
  expect(got).toMatchObject({ allowed: false, status: { code: 403, reason: 'Forbidden' } });
});

test('what goes with its namespace goes, whatever its state', async () => {
  const ending = admission({ ...world, namespaceEnds: (name) => name === 'default' });
  const removal = (namespace: string): Review => ({
    operation: 'DELETE',
    resource: tickets,
    oldObject: { ...makeTicket({}, { process: 'enabled' }), metadata: { name: 'test', namespace } },
  });
  expect(await ending(removal('default'))).toEqual({ allowed: true });
  expect(await ending(removal('other'))).toMatchObject({ allowed: false });
});

test('one thing that may not be now makes the whole Forbidden, and all is said', async () => {
  const got = await admit(write(makeTicket({ state: 'deleted', veip: '20.1.0.300' })));
  const message = expect.stringMatching(/spec\.veip: .*; spec\.state: /);
  expect(got).toMatchObject({ status: { code: 403, message } });
});

test.each([
  [
    'other resources',
    { operation: 'CREATE', resource: { group: 'apps', version: 'v1', resource: 'deployments' }, object: {} },
  ],
  [
    'a kind of the same name in another group',
    { operation: 'CREATE', resource: { ...rules, group: 'other.io' }, object: {} },
  ],
  ['a CONNECT', { operation: 'CONNECT', resource: tickets }],
  ['removal of a rule', { operation: 'DELETE', resource: rules, oldObject: makeRule() }],
] as const)('%s is allowed', async (_, review) => {
  expect(await admit(review)).toEqual({ allowed: true });
});

test('something that is no object is refused', async () => {
  expect(await admit({ operation: 'CREATE', resource: rules, name: 'a', object: null })).toMatchObject({
    allowed: false,
    status: { code: 422 },
  });
});

test('objects may come before defaults are filled in', async () => {
  const { metadata } = makeTicket();
  const object = {
    apiVersion: 'ebcpaas.io/v1',
    kind: 'Lbticket',
    metadata,
    spec: { loadbalancer: 'demo', namespace: 'default', ltmip: null, listners: null, lbtype: null },
  };
  expect(await admit(write(object))).toMatchObject({ allowed: true });
});

const given = { veip: '20.1.0.10', ltmip: '10.0.0.10' };

test.each([
  ['enabled', {}, given],
  ['created', {}, given],
  ['created', { veip: '20.1.0.20' }, { veip: '20.1.0.20', ltmip: '10.0.0.10' }],
] as const)(
  'a ticket that is %s keeps its addresses when its file is applied again: %j',
  async (process, edit, want) => {
    const got = await admit(write(makeTicket({ ltmip: null, ...edit }, { process }), makeTicket(given, { process })));
    expect(got).toMatchObject({ allowed: true, object: { spec: want } });
  },
);

test.each([
  ['failed', {}],
  ['created', { loadbalancer: 'other' }],
] as const)('a ticket that is %s can ask for new addresses: %j', async (process, edit) => {
  const got = await admit(write(makeTicket({ ltmip: null, ...edit }, { process }), makeTicket(given, { process })));
  expect(got).not.toHaveProperty('object');
  expect(got).toMatchObject({ allowed: true });
});

test('another address for an enabled ticket is refused', async () => {
  const got = await admit(
    write(
      makeTicket({ ...given, veip: '20.1.0.20' }, { process: 'enabled' }),
      makeTicket(given, { process: 'enabled' }),
    ),
  );
  expect(got).toMatchObject({ allowed: false, status: { message: expect.stringContaining('spec.veip') } });
});

test('a world that has to catch up is waited for, and only where something is to be judged', async () => {
  let asked = 0;
  const late = admission(async () => {
    asked += 1;
    return makeWorld({ lbtickets: [makeTicket()] });
  });
  expect(await late({ operation: 'CREATE', resource: rules, object: makeRule() })).toEqual({ allowed: true });
  expect(asked).toBe(1);
  const labelled = { ...makeRule(), metadata: { ...makeRule().metadata, labels: { a: 'b' } } };
  expect(await late({ operation: 'UPDATE', resource: rules, object: labelled, oldObject: makeRule() })).toEqual({
    allowed: true,
  });
  expect(asked).toBe(1);
});
