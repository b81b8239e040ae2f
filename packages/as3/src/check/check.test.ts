import { expect, test } from 'vitest';
import { check } from './check.ts';

type Node = Record<string, unknown>;

/** A sound declaration, made anew for each row. */
function sound(): { adc: Node; app: Record<string, Node>; vs: Node; pool: Node; rule: Node } {
  const pool: Node = {
    class: 'Pool',
    monitors: ['http'],
    members: [{ servicePort: 80, serverAddresses: ['10.0.0.1'], shareNodes: false }],
  };
  const rule: Node = { class: 'iRule', expand: false, iRule: 'when HTTP_REQUEST {\n  pool /t1/app/web_pool\n}\n' };
  const vs: Node = {
    class: 'Service_HTTP',
    virtualAddresses: ['20.1.0.10'],
    virtualPort: 80,
    persistenceMethods: [],
    pool: 'web_pool',
    iRules: ['vs_irule'],
  };
  const app = { class: 'Application', template: 'generic', vs, web_pool: pool, vs_irule: rule } as unknown as Record<
    string,
    Node
  >;
  const adc: Node = { class: 'ADC', schemaVersion: '3.17.0', id: 'x', t1: { class: 'Tenant', app } };
  return { adc, app, vs, pool, rule };
}

const secondOn = (address: string, over: Node = {}): Node => ({
  class: 'Service_TCP',
  virtualAddresses: [address],
  virtualPort: 80,
  persistenceMethods: [],
  ...over,
});
const tenant = (vs: Node): Node => ({ class: 'Tenant', app: { class: 'Application', vs } });
const pem = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n';

test('a sound declaration has no problem, wrapped or bare', () => {
  expect(check(sound().adc)).toEqual([]);
  expect(check({ class: 'AS3', declaration: sound().adc })).toEqual([]);
});

test('an address shared by two tenants is sound when both say so', () => {
  const { adc, vs } = sound();
  vs['shareAddresses'] = true;
  adc['t2'] = tenant(secondOn('20.1.0.10', { virtualPort: 81, shareAddresses: true }));
  expect(check(adc)).toEqual([]);
});

test('what lies in a tenant that is not declared may be pointed at', () => {
  const { adc, vs } = sound();
  vs['pool'] = '/Common/Shared/old_pool';
  expect(check(adc)).toEqual([]);
});

type Part = ReturnType<typeof sound>;
const faults: [what: string, break_: (part: Part) => void, path: string, message: string][] = [
  ['a known word in a wrong place', ({ vs }) => (vs['members'] = []), '/t1/app/vs/members', 'no property "members"'],
  [
    'a word of nobody in a member',
    ({ pool }) => (pool['members'] = [{ servicePort: 80, wieght: 1 }]),
    '/t1/app/web_pool/members/0/wieght',
    'no property "wieght"',
  ],
  ['an unknown word of the declaration', ({ adc }) => (adc['shcema'] = 1), '/shcema', 'no property'],
  ['a pointer to nothing', ({ vs }) => (vs['pool'] = 'web'), '/t1/app/vs/pool', 'there is no Pool /t1/app/web'],
  ['a pointer to another class', ({ vs }) => (vs['pool'] = 'vs_irule'), '/t1/app/vs/pool', 'is a iRule, not a Pool'],
  [
    'a monitor that is not there',
    ({ pool }) => (pool['monitors'] = [{ use: 'mine' }]),
    '/t1/app/web_pool/monitors/0',
    'no Monitor',
  ],
  ['a rule that is not there', ({ vs }) => (vs['iRules'] = ['/t1/app/other']), '/t1/app/vs/iRules/0', 'no iRule'],
  [
    'two services on one destination',
    ({ app }) => (app['two'] = secondOn('20.1.0.10')),
    '/t1/app/two/virtualAddresses/0',
    'has 20.1.0.10 port 80 tcp',
  ],
  [
    'one destination written in two ways',
    ({ app, vs }) => ((vs['virtualAddresses'] = ['2001:db8::1']), (app['two'] = secondOn('2001:DB8:0::1'))),
    '/t1/app/two/virtualAddresses/0',
    '2001:db8::1 port 80',
  ],
  [
    'one address in two tenants',
    ({ adc }) => (adc['t2'] = tenant(secondOn('20.1.0.10', { virtualPort: 81 }))),
    '/t2/app/vs/virtualAddresses/0',
    'in tenant t1 already',
  ],
  [
    'the redirect that AS3 adds to HTTPS',
    ({ app }) =>
      (app['tls'] = secondOn('20.1.0.10', { class: 'Service_HTTPS', virtualPort: 443, serverTLS: '/Common/Shared/x' })),
    '/t1/app/tls/redirect80',
    'port 80 tcp',
  ],
  [
    'HTTPS without TLS',
    ({ app }) => (app['tls'] = secondOn('20.1.0.11', { class: 'Service_HTTPS', redirect80: false })),
    '/t1/app/tls/serverTLS',
    'plain HTTP',
  ],
  [
    'cookies without HTTP',
    ({ app }) => (app['two'] = secondOn('20.1.0.11', { persistenceMethods: ['cookie'] })),
    '/t1/app/two/persistenceMethods',
    'no HTTP profile',
  ],
  ['persistence left to AS3', ({ vs }) => delete vs['persistenceMethods'], '/t1/app/vs/persistenceMethods', 'write []'],
  [
    'a rule attached twice',
    ({ vs }) => (vs['iRules'] = ['vs_irule', 'vs_irule']),
    '/t1/app/vs/iRules/1',
    'is there twice',
  ],
  [
    'an HTTP rule on TCP',
    ({ app }) => (app['two'] = secondOn('20.1.0.11', { iRules: ['vs_irule'] })),
    '/t1/app/two/iRules/0',
    'no HTTP_REQUEST',
  ],
  [
    'a rule that does not balance',
    ({ rule }) => (rule['iRule'] = 'when HTTP_REQUEST { } }'),
    '/t1/app/vs_irule/iRule',
    'do not balance',
  ],
  ['an empty rule', ({ rule }) => (rule['iRule'] = ' '), '/t1/app/vs_irule/iRule', 'empty'],
  [
    'a rule that names no pool of ours',
    ({ rule }) => (rule['iRule'] = 'when HTTP_REQUEST { pool web }'),
    '/t1/app/vs_irule/iRule',
    'Pool /t1/app/web',
  ],
  [
    'a path in a rule that leads nowhere',
    ({ rule }) => (rule['iRule'] = 'when HTTP_REQUEST { set x /t1/app/gone }'),
    '/t1/app/vs_irule/iRule',
    'there is no /t1/app/gone',
  ],
  [
    'a data-group that is not there',
    ({ rule }) => (rule['iRule'] = 'when HTTP_REQUEST { if { [class match -- $x equals list] } { pool web_pool } }'),
    '/t1/app/vs_irule/iRule',
    'Data_Group /t1/app/list',
  ],
  [
    'a rule in base64 that does not balance',
    ({ rule }) => (rule['iRule'] = { base64: btoa('when HTTP_REQUEST {') }),
    '/t1/app/vs_irule/iRule',
    'do not balance',
  ],
  [
    'a backquote that AS3 would expand',
    ({ rule }) => ((rule['iRule'] = 'when HTTP_REQUEST { log "`x`" }'), delete rule['expand']),
    '/t1/app/vs_irule/iRule',
    'backquotes',
  ],
  [
    'shareNodes null',
    ({ pool }) => (pool['members'] = [{ servicePort: 80, shareNodes: null }]),
    '/t1/app/web_pool/members/0/shareNodes',
    'should be boolean',
  ],
  [
    'a ratio of 101',
    ({ pool }) => (pool['members'] = [{ servicePort: 80, ratio: 101 }]),
    '/t1/app/web_pool/members/0/ratio',
    '0 to 100',
  ],
  [
    'a member twice',
    ({ pool }) => (pool['members'] = [{ servicePort: 80, serverAddresses: ['10.0.0.1', '10.0.0.1'] }]),
    '/t1/app/web_pool/members/0/serverAddresses',
    'a member already',
  ],
  [
    'a name that begins with a digit',
    ({ app }) => (app['80_vs'] = secondOn('20.1.0.11')),
    '/t1/app/80_vs',
    'cannot be a name',
  ],
  ['a name of one letter', ({ app }) => (app['x'] = secondOn('20.1.0.11')), '/t1/app/x', 'cannot be a name'],
  [
    'a path of more than 195 characters',
    ({ app }) => (app['n'.repeat(188)] = secondOn('20.1.0.11')),
    `/t1/app/${'n'.repeat(188)}`,
    '195',
  ],
  ['a remark with a quote', ({ vs }) => (vs['remark'] = 'a "b"'), '/t1/app/vs/remark', '64 characters'],
  [
    'a certificate that is none',
    ({ app }) => (app['cert'] = { class: 'Certificate', certificate: 'secret:a/tls.crt', privateKey: pem }),
    '/t1/app/cert/certificate',
    'no PEM',
  ],
];

test.each(faults)('%s is found', (_, break_, path, message) => {
  const part = sound();
  break_(part);
  expect(check(part.adc)).toEqual([expect.objectContaining({ message: expect.stringContaining(message) as unknown })]);
  expect(check(part.adc)[0]?.path).toBe(path);
});

test('what is no declaration is found', () => {
  expect(check({ class: 'Application' })).toMatchObject([{ code: 'invalid', path: '/class' }]);
});
