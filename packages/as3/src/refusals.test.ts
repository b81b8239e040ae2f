// Load balancers that cannot be compiled: each names the field at fault, and none gives half an application.
import { expect, test } from 'vitest';
import { compile } from './compile.ts';
import { readCase } from './read-case.ts';

const pools = { web_8080_pool: 1 };
const listener = { name: 'web_80_vs', address: '20.1.0.10', port: 80, protocol: 'http', pools };
const route = { name: 'r', conditions: [{ on: ['host'], tests: ['equal a'] }], pools };
const withListener = (over: object) => ({ key: 't1/app', listeners: [{ ...listener, ...over }] });
const withRoute = (over: object) => withListener({ routes: [{ ...route, ...over }] });
const withPool = (over: object) => ({
  key: 't1/app',
  listeners: [listener],
  pools: [{ name: 'web_8080_pool', ...over }],
});
const on = (subject: string[], ...tests: string[]) => withRoute({ conditions: [{ on: subject, tests }] });

test.each([
  ['a key without application', { key: 't1', listeners: [] }, 'key'],
  ['a key with a digit first', { key: '1t/app', listeners: [] }, 'key'],
  ['a port of 0', withListener({ port: 0 }), 'listeners[0].port'],
  ['an address that is none', withListener({ address: '20.1.0.300' }), 'listeners[0].address'],
  ['a weight of 101', withListener({ pools: { web_8080_pool: 101 } }), 'listeners[0].pools[0].weight'],
  ['weights of 0 only', withListener({ pools: { web_8080_pool: 0 } }), 'listeners[0].pools'],
  ['no pools', withListener({ pools: {} }), 'listeners[0].pools'],
  [
    'a listener name used twice',
    { key: 't1/app', listeners: [listener, { ...listener, port: 81 }] },
    'listeners[1].name',
  ],
  ['tls on http', withListener({ tls: { secretName: 'a' } }), 'listeners[0].tls'],
  ['a pool kept by cookie on tcp', withListener({ protocol: 'tcp', stickiness: 'cookie' }), 'listeners[0].stickiness'],
  ['forwarded addresses on tcp', withListener({ protocol: 'tcp', pickBy: 'x-forwarded-for' }), 'listeners[0].pickBy'],
  ['two rules of one name', withListener({ routes: [route, route] }), 'listeners[0].routes[1].name'],
  ['a rule name with a quote', withRoute({ name: 'a"b' }), 'listeners[0].routes[0].name'],
  ['a rule without condition', withRoute({ conditions: [] }), 'listeners[0].routes[0].conditions'],
  ['a regexp that does not compile', on(['path'], 'regexp ('), 'listeners[0].routes[0].conditions[0].tests[0].value'],
  ['a CIDR of 33 bits', on(['address'], 'equal 10.0.0.0/33'), 'listeners[0].routes[0].conditions[0].tests[0].value'],
  ['a line end in a value', on(['header', 'x'], 'equal a\nb'), 'listeners[0].routes[0].conditions[0].tests[0].value'],
  [
    'a rule too long for the device',
    on(['path'], ...Array.from({ length: 2000 }, (_, i) => `regexp ^/some/long/path/${i}$`)),
    'listeners[0].routes',
  ],
  ['a monitor path with a quote', withPool({ monitor: { type: 'http', path: '/"' } }), 'pools[0].monitor.path'],
  ['a monitor path on tcp', withPool({ monitor: { type: 'tcp', path: '/' } }), 'pools[0].monitor.path'],
  [
    'a timeout below the interval',
    withPool({ monitor: { type: 'http', interval: 10, timeout: 5 } }),
    'pools[0].monitor.timeout',
  ],
  ['an interval of 0', withPool({ monitor: { type: 'http', interval: 0 } }), 'pools[0].monitor.interval'],
  ['a Service port of 0', withPool({ service: { namespace: 'n', name: 's', port: 0 } }), 'pools[0].service.port'],
  ['a native of another class', { key: 't1/app', native: { class: 'Tenant' } }, 'app.class'],
  [
    'a native name with a digit first',
    { key: 't1/app', native: { class: 'Application', '80_vs': { class: 'Pool' } } },
    'app.80_vs',
  ],
  [
    'a native with a mark of its own',
    { key: 't1/app', native: { class: 'Application', constants: { key: 'x' } } },
    'app.constants.key',
  ],
])('%s is refused', (_, document, path) => {
  expect(compile(readCase(document))).toMatchObject({ ok: false, problem: { code: 'invalid', path } });
});

test('a pool that nobody declares is refused', () => {
  const lb = { ...readCase(withListener({})), pools: [] };
  expect(compile(lb)).toMatchObject({ ok: false, problem: { path: 'listeners[0].pools[0].pool' } });
});

test('a scope other than the tenant is refused, for the two are written together', () => {
  const lb = { ...readCase(withListener({})), scope: 't2' };
  expect(compile(lb)).toMatchObject({ ok: false, problem: { path: 'key' } });
});
