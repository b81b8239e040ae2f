// What AS3 and the device behind it refuse, and that nothing is changed then.
import { afterAll, expect, test } from 'vitest';
import { makeAdc, makeDevice, makeHttp, makePool } from '../make.ts';
import type { Json } from '../rest/body.ts';

const { sim, declare, ask } = makeDevice();
afterAll(() => sim.close());

const rule = (text: string, more: Json = {}): Json => ({ class: 'iRule', expand: false, iRule: text, ...more });
const web = { web_pool: makePool([{ port: 9 }]) };
const vs = (more: Json = {}): Json => makeHttp('20.31.1.10', more);
const tcp = (more: Json = {}): Json => ({ ...vs(more), class: 'Service_TCP', virtualPort: 18_022 });
const member = (more: Json): Json => ({
  web_pool: { class: 'Pool', members: [{ servicePort: 80, serverAddresses: ['10.0.0.1'], ...more }] },
});

const invalid: [why: string, items: Json, error: string | RegExp][] = [
  ['a name that begins with a digit', { ...web, '80_vs': vs() }, /\/T1\/app\/80_vs: should match pattern/],
  ['a name that ends with a dash', { 'web_pool-': makePool([]) }, /web_pool-: should match pattern/],
  ['a name of 191 characters', { [`p${'x'.repeat(190)}`]: makePool([]) }, /should match pattern/],
  ['a path of more than 195 characters', { [`p${'x'.repeat(189)}`]: makePool([]) }, /longer than 195/],
  ['an object without a class', { thing: {} }, "/T1/app/thing: should have required property 'class'"],
  ['an unknown class', { thing: { class: 'Pol' } }, /\/T1\/app\/thing\/class: should be equal to one of/],
  [
    'template http without serviceMain',
    { template: 'http', ...web, vs: vs() },
    "/T1/app: should have required property 'serviceMain'",
  ],
  [
    'serviceMain of another class',
    { template: 'tcp', ...web, serviceMain: vs() },
    /serviceMain\/class: should be equal to constant "Service_TCP"/,
  ],
  [
    'a misspelt property of a service',
    { ...web, vs: vs({ virtualAddress: 'x' }) },
    /vs\/virtualAddress: should NOT have additional/,
  ],
  ['a known word in the wrong place', { ...web, vs: vs({ members: [] }) }, /vs\/members: should NOT have additional/],
  ['an unknown word in a member', member({ weight: 10 }), /members\/0\/weight: should NOT have additional/],
  ['shareNodes null', member({ shareNodes: null }), '/T1/app/web_pool/members/0/shareNodes: should be boolean'],
  ['a ratio above 100', member({ ratio: 101 }), '/T1/app/web_pool/members/0/ratio: should be <= 100'],
  ['a port of 65536', member({ servicePort: 65_536 }), /servicePort: should be <= 65535/],
  ['a port that is text', member({ servicePort: '80' }), /servicePort: should be integer/],
  [
    'a member without a port',
    { web_pool: { class: 'Pool', members: [{ serverAddresses: [] }] } },
    /members\/0: should have required property 'servicePort'/,
  ],
  [
    'an address that is none',
    member({ serverAddresses: ['10.0.0.300'] }),
    /serverAddresses\/0: should match format "f5ip"/,
  ],
  [
    'an address twice',
    member({ serverAddresses: ['10.0.0.1', '10.0.0.1'] }),
    /serverAddresses: should NOT have duplicate items/,
  ],
  ['an unknown adminState', member({ adminState: 'drain' }), /adminState: should be equal to one of/],
  [
    'a pool pointer to nothing',
    { ...web, vs: vs({ pool: 'svc01_8080' }) },
    '/T1/app/vs/pool: contains path to non-existent object svc01_8080',
  ],
  [
    'a pool pointer into another application',
    { ...web, vs: vs({ pool: '/T1/other/web_pool' }) },
    /non-existent object \/T1\/other\/web_pool/,
  ],
  [
    'a pool pointer to a rule',
    { ...web, r1: rule('when HTTP_REQUEST {}'), vs: vs({ pool: 'r1' }) },
    /object of class iRule, not Pool/,
  ],
  [
    'a pool pointer to nothing on the device',
    { ...web, vs: vs({ pool: { bigip: '/Common/none' } }) },
    /Unable to find specified \/Common\/none/,
  ],
  ['a pointer to a name of one letter', { p: makePool([]), vs: vs({ pool: 'p' }) }, /name of one letter/],
  [
    'an iRule that is not there',
    { ...web, vs: vs({ iRules: ['none'] }) },
    '/T1/app/vs/iRules/0: contains path to non-existent object none',
  ],
  [
    'an iRule twice',
    { ...web, r1: rule('when HTTP_REQUEST {}'), vs: vs({ iRules: ['r1', 'r1'] }) },
    /iRules: should NOT have duplicate items/,
  ],
  [
    'a backquote that would be expanded',
    { r1: { class: 'iRule', iRule: 'when HTTP_REQUEST { log local0. "`x`" }' } },
    /backquote/,
  ],
  ['an iRule without text', { r1: { class: 'iRule' } }, /should have required property 'iRule'/],
  [
    'an unknown monitor name',
    { web_pool: makePool([], { monitors: ['htp'] }) },
    /monitors\/0: should be equal to one of/,
  ],
  [
    'a monitor pointer to nothing',
    { web_pool: makePool([], { monitors: [{ use: 'none' }] }) },
    /monitors\/0: contains path to non-existent/,
  ],
  [
    'an unknown persistence',
    { ...web, vs: vs({ persistenceMethods: ['cookies'] }) },
    /persistenceMethods\/0: should be equal to one of/,
  ],
  [
    'serverTLS to nothing',
    { ...web, vs: { ...vs({ serverTLS: 'none' }), class: 'Service_HTTPS' } },
    /serverTLS: contains path to non-existent/,
  ],
  ['no virtual address', { ...web, vs: vs({ virtualAddresses: [] }) }, /fewer than 1 items/],
  ['a virtual port of 70000', { ...web, vs: vs({ virtualPort: 70_000 }) }, /virtualPort: should be <= 65535/],
  ['a remark of 65 characters', { ...web, vs: vs({ remark: 'x'.repeat(65) }) }, /remark: should NOT be longer than 64/],
  ['a remark with a quote', { ...web, vs: vs({ remark: 'say "x"' }) }, /remark: should match pattern/],
  ['a data-group without a type', { dg: { class: 'Data_Group', records: [] } }, /keyDataType/],
  [
    'a network that is none',
    { dg: { class: 'Data_Group', keyDataType: 'ip', records: [{ key: 'ten' }] } },
    /records\/0\/key: should be ip/,
  ],
  [
    'a load balancing mode that is not carried',
    { web_pool: makePool([], { loadBalancingMode: 'fastest-node' }) },
    /loadBalancingMode: should be equal/,
  ],
];

test.each(invalid)('AS3 refuses %s', async (_, items, error) => {
  const { status, json } = await declare(makeAdc(items));
  expect(status).toBe(422);
  expect(json).toMatchObject({ code: 422, message: 'declaration is invalid' });
  expect(json['errors']).toContainEqual(typeof error === 'string' ? error : expect.stringMatching(error));
  expect(sim.virtuals()).toEqual([]);
});

const secondVs = { ...web, vs: vs(), vs2: vs() };
const refused: [why: string, items: Json, response: string | RegExp][] = [
  ['two services on one address and port', secondVs, /01070333.*illegally shares/],
  [
    'cookie persistence without HTTP',
    { ...web, vs: tcp({ persistenceMethods: ['cookie'] }) },
    /01070309.*Cookie persistence requires an HTTP/,
  ],
  [
    'an HTTP rule without HTTP',
    { ...web, r1: rule('when HTTP_REQUEST { pool web_pool }'), vs: tcp({ iRules: ['r1'] }) },
    /01070394.*HTTP_REQUEST event in rule \(\/T1\/app\/r1\)/,
  ],
  ['a rule whose braces do not balance', { r1: rule('when HTTP_REQUEST { pool x') }, /01070151.*missing close-brace/],
  ['a rule that closes more than it opens', { r1: rule('when HTTP_REQUEST { }\n}\nexec rm -rf /') }, /01070151/],
  [
    'a rule with a pool that is not there',
    { r1: rule('when HTTP_REQUEST {\n pool nowhere\n}') },
    /Unable to find pool \(nowhere\) referenced at line 2/,
  ],
  [
    'a rule with a command that the device lacks',
    { r1: rule('when HTTP_REQUEST { exec ls }') },
    /undefined procedure: exec/,
  ],
  ['an empty rule', { r1: rule(' ') }, /01070151.*empty/],
  [
    'a certificate that is no PEM',
    { c1: { class: 'Certificate', certificate: 'x', privateKey: 'y' } },
    /01070313.*PEM/,
  ],
  [
    'a monitor that cannot find its answer',
    { m1: { class: 'Monitor', monitorType: 'http', receive: '(' } },
    /no regular expression/,
  ],
];

test.each(refused)('the device refuses %s, and the tenant fails', async (_, items, response) => {
  const { status, json } = await declare(makeAdc(items));
  expect(status).toBe(422);
  expect(json['results']).toEqual([
    expect.objectContaining({
      code: 422,
      message: 'declaration failed',
      tenant: 'T1',
      response: expect.stringMatching(response),
    }),
  ]);
  expect(sim.virtuals()).toEqual([]);
  expect((await ask('GET', '/mgmt/tm/sys/folder')).json['items']).toHaveLength(1);
});

test('an address may be in one tenant only, and shareAddresses lifts that', async () => {
  const share = { shareAddresses: true };
  expect((await declare(makeAdc({ ...web, vs: vs() }, { tenant: 'T1' }))).status).toBe(200);
  const second = await declare(makeAdc({ ...web, vs: vs({ virtualPort: 18_081 }) }, { tenant: 'T2' }));
  expect(second.json['results']).toEqual([
    expect.objectContaining({ code: 422, response: expect.stringContaining('0107176c') }),
  ]);
  expect((await declare(makeAdc({ ...web, vs: vs(share) }, { tenant: 'T1' }))).status).toBe(200);
  expect((await declare(makeAdc({ ...web, vs: vs({ ...share, virtualPort: 18_081 }) }, { tenant: 'T2' }))).status).toBe(
    200,
  );
  expect(sim.virtuals().map(({ name }) => name)).toEqual(['/T1/app/vs', '/T2/app/vs']);
  expect((await ask('DELETE', '/mgmt/shared/appsvcs/declare')).status).toBe(200);
  expect(sim.virtuals()).toEqual([]);
});

const envelopes: [why: string, body: Json, status: number, text: RegExp][] = [
  ['no class', {}, 422, /allowed values/],
  ['an unknown action', { class: 'AS3', action: 'push' }, 422, /\/action/],
  ['an unknown word in the envelope', { class: 'AS3', declare: {} }, 422, /\/declare: should NOT/],
  ['no declaration', { class: 'AS3' }, 422, /declaration/],
  ['a version to come', { class: 'ADC', schemaVersion: '3.99.0' }, 422, /schemaVersion/],
  [
    'a member that is no tenant',
    { class: 'ADC', schemaVersion: '3.0.0', T1: { class: 'Application' } },
    422,
    /\/T1: should be an object of class Tenant/,
  ],
];

test.each(envelopes)('an envelope with %s is refused', async (_, body, status, text) => {
  const answer = await declare(body);
  expect(answer.status).toBe(status);
  expect(JSON.stringify(answer.json['errors'])).toMatch(text);
});

test('a body that is no JSON, an unknown query and an unknown path are told apart', async () => {
  const response = await sim.fetch('http://d/mgmt/shared/appsvcs/declare', {
    method: 'POST',
    body: '{',
    headers: { authorization: `Basic ${btoa('admin:admin')}` },
  });
  expect(response.status).toBe(400);
  expect((await declare({}, '?asynchronous=true')).status).toBe(400);
  expect((await ask('GET', '/mgmt/shared/appsvcs/declaration')).json).toMatchObject({
    code: 404,
    message: expect.stringContaining('not registered'),
  });
});
