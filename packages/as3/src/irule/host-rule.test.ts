// The rule by host and path under a real Tcl against the pure answer: whatever the routes and the request.
import {
  answerByHost,
  checkHostRoutes,
  hostRouteKey,
  type HostRoute,
  type Listener,
  type TestRequest,
} from '@fairlead/core';
import { tclRunner } from '@fairlead/sim-bigip';
import * as fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { isRecord, objectsOf } from '../application.ts';
import { compile } from '../compile.ts';

const runner = tclRunner();
afterAll(() => runner.close());

const place = '/t1/app_http';
const runs = Number(process.env['FC_RUNS'] ?? 300);
const pools = ['p1_80_pool', 'p2_80_pool', 'p3_80_pool'];

const hosts = ['', 'a.com', 'b.a.com', '*.a.com', '*.b.a.com', 'x'];
const paths = ['', '/', '/a', '/a/', '/a/b', '/a/b/c', '/A', '/a%20b', '/~u/*', '/(x)!'];
const target: fc.Arbitrary<HostRoute['to']> = fc.oneof(
  fc.constantFrom(...pools).map((pool) => ({ pool })),
  fc.record({
    pool: fc.constantFrom(...pools),
    rewrite: fc.record(
      { host: fc.constantFrom('new.com'), path: fc.constantFrom('', '/', '/new', '/new/') },
      { requiredKeys: [] },
    ),
  }),
  fc.constantFrom({ https: 443 }, { https: 8443 }),
  fc.constantFrom({ redirect: '/home' }),
);
const route: fc.Arbitrary<HostRoute> = fc.record(
  {
    host: fc.constantFrom(...hosts),
    match: fc.constantFrom('exact' as const, 'prefix' as const),
    path: fc.constantFrom(...paths),
    clients: fc.subarray(['192.0.2.0/24', '10.0.0.1-10.0.0.9', '2001:db8::/32'], { minLength: 1 }),
    to: target,
  },
  { requiredKeys: ['host', 'match', 'path', 'to'] },
);
const routes = fc
  .uniqueArray(route, { selector: hostRouteKey, minLength: 1, maxLength: 12 })
  .map((all) => all.filter((one) => checkHostRoutes([one], 'hosts').ok))
  .filter((all) => all.length > 0);

const hostile = ['"]; exec id; [', '$fl_pool', '[exit]', '{', '}', '\\', 'a.com/a', '*.a.com', 'p:', '|', 'a b'];
const request: fc.Arbitrary<TestRequest> = fc.record({
  client: fc.constantFrom('192.0.2.5', '192.0.2.5%3', '10.0.0.4', '2001:db8::7', '8.8.8.8'),
  uri: fc
    .tuple(
      fc.oneof(
        fc.constantFrom(...paths.filter((path) => path !== '')),
        fc
          .array(fc.constantFrom('a', 'b', 'c', 'x', '', ...hostile), { maxLength: 6 })
          .map((parts) => `/${parts.join('/')}`),
      ),
      fc.constantFrom('', '?q=1', '?a=/b'),
    )
    .map(([path, query]) => path.replaceAll('?', '') + query),
  headers: fc
    .constantFrom('a.com', 'A.com:80', 'b.a.com', 'c.b.a.com', 'x', '[2001:db8::1]:80', '', ...hostile)
    .map((host) => (host === '' ? [] : [['Host', host] as const])),
});

async function underTcl(hostsOf: HostRoute[], requests: TestRequest[], alive: (pool: string) => boolean) {
  const listener: Listener = {
    name: 'web_80_vs',
    address: '20.1.0.10',
    port: 80,
    protocol: 'http',
    persistence: 'none',
    routes: [],
    pools: [],
    hosts: hostsOf,
  };
  const named = pools.map((name) => ({
    name,
    service: { namespace: 'n', name: 's', port: 80 },
    monitor: { type: 'tcp' as const },
    balance: 'round-robin' as const,
  }));
  const origin = { cluster: 'c', kind: 'k', namespace: 'n', name: 'n', uid: 'u', created: 0, revision: '1' };
  const compiled = compile({ key: place.slice(1), scope: 't1', origin, listeners: [listener], pools: named });
  if (!compiled.ok) throw new Error(`${compiled.problem.path}: ${compiled.problem.message}`);
  const rule = compiled.value['web_80_vs_irule'];
  const dataGroups = objectsOf(compiled.value).flatMap(([name, object]) => {
    if (object.class !== 'Data_Group' || !Array.isArray(object['records'])) return [];
    const records = object['records']
      .filter(isRecord)
      .map(({ key, value }) => ({ name: String(key), data: String(value) }));
    const type = object['keyDataType'] === 'ip' ? ('ip' as const) : ('string' as const);
    return [{ name: `${place}/${name}`, type, records }];
  });
  const members = (pool: string) => [{ address: '192.0.2.10', port: 80, up: alive(pool) }];
  const text = isRecord(rule) ? String(rule['iRule']) : '';
  const loaded = await runner.load([{ name: `${place}/web_80_vs_irule`, text }], {
    pools: pools.map((pool) => ({ name: `${place}/${pool}`, members: members(pool) })),
    dataGroups,
  });
  expect(loaded).toEqual({ errors: [], warnings: [] });
  const answers: unknown[] = [];
  for (const { client, uri = '/', headers = [] } of requests) {
    const { chosen, error, effects } = await runner.run('HTTP_REQUEST', {
      clientAddress: client,
      uri,
      headers,
      connection: 'one',
    });
    answers.push({ chosen, error, effects: effects.map(({ verb, args }) => [verb, ...args]) });
  }
  return answers;
}

/** What the rule does, from what the pure answer says. */
function expected(hostsOf: HostRoute[], one: TestRequest, alive: (pool: string) => boolean): unknown {
  const answer = answerByHost({ hosts: hostsOf }, one, alive);
  if ('location' in answer)
    return { chosen: [], error: undefined, effects: [['respond', '302', '', 'Location', answer.location]] };
  if ('status' in answer)
    return { chosen: [], error: undefined, effects: [['respond', String(answer.status), expect.any(String)]] };
  const pool = `${place}/${answer.pool}`;
  const rewritten = hostsOf.some(({ to }) => 'pool' in to && to.rewrite?.path !== undefined);
  const shown = answer.path === one.uri && !rewritten ? [] : [['uri', answer.path]];
  const effects = expect.arrayContaining([
    ...(answer.host === undefined ? [] : [['header-replace', 'Host', answer.host]]),
    ...(shown.length > 0 && answer.path !== one.uri ? shown : []),
    ['pool', pool],
  ]) as unknown;
  return { chosen: [pool], error: undefined, effects };
}

test('for any routes and requests Tcl answers what answerByHost() says', { timeout: 300_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(
      routes,
      fc.array(request, { minLength: 1, maxLength: 5 }),
      fc.subarray(pools),
      async (all, some, live) => {
        const alive = (pool: string) => live.includes(pool);
        expect(await underTcl(all, some, alive)).toEqual(some.map((one) => expected(all, one, alive)));
      },
    ),
    { numRuns: runs },
  );
});

test('a thousand routes leave the text of the rule as it is', async () => {
  const many = Array.from({ length: 1000 }, (_, i): HostRoute => ({
    host: `h${i}.com`,
    match: 'prefix',
    path: `/p${i}`,
    to: { pool: 'p1_80_pool' },
  }));
  const answers = await underTcl(
    many,
    [{ client: '192.0.2.1', uri: '/p999/x', headers: [['Host', 'h999.com']] }],
    () => true,
  );
  expect(answers).toMatchObject([{ chosen: [`${place}/p1_80_pool`] }]);
});
