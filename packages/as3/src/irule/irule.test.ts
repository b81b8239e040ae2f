// The rule under a real Tcl against the pure choice: whatever the rules and the request, both choose the same pool.
import {
  choose,
  crc32,
  portable,
  type Condition,
  type Listener,
  type LoadBalancer,
  type Operator,
  type Subject,
  type TestRequest,
} from '@fairlead/core';
import { tclRunner, type RunnerEnvironment } from '@fairlead/sim-bigip';
import * as fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { isRecord, objectsOf, type Application } from '../application.ts';
import { compile } from '../compile.ts';
import { hostile, regexps, words } from './words.testdata.ts';

const runner = tclRunner();
afterAll(() => runner.close());

const place = '/t1/app_http';
const runs = Number(process.env['FC_RUNS'] ?? 500);

const numbers = ['0-9', '2-100', '100-1000', '0-999999999999999'];
const networks = ['192.0.2.0/28', '10.0.0.0/8', '2001:db8::/32', '0.0.0.0/0', '::/0'];
const spans = ['192.0.2.3-192.0.2.9', '10.0.0.1-10.0.0.10', '2001:db8::1-2001:db8::9'];
const clients = ['192.0.2.1', '192.0.2.5', '192.0.2.77%2', '10.0.0.7', '2001:db8::5', '2001:db9::1'];
const keys = ['x', 'X-Version', 'x-a'];
const pools = ['p1_80_pool', 'p2_80_pool', 'p3_80_pool', 'p4_80_pool', 'p5_80_pool'];

const pathWords = words.map((word) => `/${word.replaceAll('?', '')}`);
const valuesOf = (subject: Subject, operator: Operator): readonly string[] => {
  if (subject === 'address') return operator === 'equal' ? [...networks, '192.0.2.5'] : [...networks, ...spans];
  if (operator === 'range') return numbers;
  if (operator === 'regexp') return regexps;
  return subject === 'path' ? pathWords : words;
};

const subject = fc.constantFrom<Subject>('host', 'path', 'address', 'header', 'cookie', 'query');
const operatorsOf = (of: Subject): Operator[] => {
  if (of === 'address') return ['equal', 'range'];
  return of === 'host' || of === 'path' ? ['equal', 'prefix', 'regexp'] : ['equal', 'prefix', 'regexp', 'range'];
};
const testOf = (of: Subject) =>
  fc
    .constantFrom(...operatorsOf(of))
    .chain((operator) => fc.constantFrom(...valuesOf(of, operator)).map((value) => ({ operator, value })));
const condition: fc.Arbitrary<Condition> = subject.chain((of) =>
  fc.record({
    subject: fc.constant(of),
    key: of === 'header' || of === 'cookie' || of === 'query' ? fc.constantFrom(...keys) : fc.constant(undefined),
    // Sometimes enough of one operator for a data-group.
    tests: fc
      .array(testOf(of), { minLength: 1, maxLength: 3 })
      .chain((tests) =>
        fc
          .boolean()
          .map((isLong) => (isLong && of !== 'address' ? [...tests, ...many(tests[0]?.operator === 'prefix')] : tests)),
      ),
  }),
);
const many = (isPrefix: boolean): Condition['tests'] =>
  Array.from({ length: 21 }, (_, i) => ({ operator: isPrefix ? 'prefix' : 'equal', value: `/many-${i}` }));

const weights = fc
  .uniqueArray(fc.record({ pool: fc.constantFrom(...pools), weight: fc.integer({ min: 0, max: 100 }) }), {
    selector: ({ pool }) => pool,
    minLength: 1,
    maxLength: 3,
  })
  .filter((set) => set.some(({ weight }) => weight > 0));

const listener: fc.Arbitrary<Listener> = fc.record({
  name: fc.constant('web_80_vs'),
  address: fc.constant('20.1.0.10'),
  port: fc.constant(80),
  protocol: fc.constant('http' as const),
  persistence: fc.constant('none' as const),
  pickBy: fc.constantFrom('client-address' as const, 'x-forwarded-for' as const),
  stickiness: fc.constantFrom('source' as const, 'source' as const, 'cookie' as const, 'random' as const),
  pools: weights,
  routes: fc
    .array(
      fc.record({
        match: fc.constantFrom('any' as const, 'all' as const),
        conditions: fc.array(condition, { minLength: 1, maxLength: 3 }),
        pools: weights,
      }),
      { maxLength: 4 },
    )
    .map((routes) => routes.map((route, i) => ({ ...route, name: `rule${i}` }))),
});

/** Of pools and rules that there are, or are elsewhere; or of nothing. */
const kept = fc.oneof(
  fc
    .tuple(fc.constantFrom('default', 'rule0', 'rule1'), fc.constantFrom(...pools))
    .map(([salt, pool]) => String(crc32(`${salt}|${pool}`))),
  fc.constantFrom(...hostile, ...pools, `${place}/p1_80_pool`, '', '-1', '0x1').map((text) => text.replaceAll(';', '')),
);

const value = fc.constantFrom(...words, 'x=y', 'two words', 'ab12', 'many-3');
const headers = fc.array(
  fc.oneof(
    fc.tuple(
      fc.constantFrom('Host', 'host'),
      fc.constantFrom('a.domain.com', 'A.domain.com:8080', '[2001:DB8::1]:80', 'ab', '/many-3', ''),
    ),
    fc.tuple(fc.constantFrom('X', 'x-version', 'X-A'), fc.oneof(value, fc.constant('/many-20'))),
    fc.tuple(
      fc.constant('Cookie'),
      fc.tuple(fc.constantFrom(...keys), value).map(([key, text]) => `o=1; ${key}=${text.replaceAll(';', '')}`),
    ),
    fc.tuple(
      fc.constant('Cookie'),
      fc
        .tuple(fc.constantFrom('default', 'rule0', 'rule1'), kept)
        .map(([salt, text]) => `fl_web_80_vs.${salt}=${text}`),
    ),
    fc.tuple(fc.constant('X-Forwarded-For'), fc.constantFrom('6.6.6.6, 192.0.2.9', '"; exec id', '2001:db8::7', '')),
  ),
  { maxLength: 5 },
);
const uri = fc
  .tuple(
    fc.constantFrom('/', '/a', '/ab/x', '/many-7', '/"];%20exec', '/[exit]', '/$x'),
    fc.array(fc.tuple(fc.constantFrom(...keys, 'xx', 'no'), value), { maxLength: 3 }),
  )
  .map(([path, query]) => {
    const pairs = query.map(([key, text]) => `${key}=${encodeURIComponent(text).replaceAll('%20', '+')}`);
    return pairs.length > 0 ? `${path}?${pairs.join('&')}` : path;
  });
const request: fc.Arbitrary<TestRequest> = fc.record({ client: fc.constantFrom(...clients), uri, headers });

function load(of: Listener): { application: Application; text: string } {
  const named = pools.map((name) => ({
    name,
    service: { namespace: 'n', name: 's', port: 80 },
    monitor: { type: of.protocol === 'udp' ? ('udp' as const) : ('tcp' as const) },
    balance: 'round-robin' as const,
  }));
  const origin = { cluster: 'c', kind: 'k', namespace: 'n', name: 'n', uid: 'u', created: 0, revision: '1' };
  const lb: LoadBalancer = { key: place.slice(1), scope: 't1', origin, listeners: [of], pools: named };
  const compiled = compile(lb);
  if (!compiled.ok) throw new Error(`${compiled.problem.path}: ${compiled.problem.message}`);
  const rule = compiled.value[`${of.name}_irule`];
  return { application: compiled.value, text: isRecord(rule) ? String(rule['iRule']) : '' };
}

function environment(application: Application, alive: (pool: string) => boolean): RunnerEnvironment {
  const dataGroups = objectsOf(application).flatMap(([name, object]) => {
    if (object.class !== 'Data_Group' || !Array.isArray(object['records'])) return [];
    const records = object['records'].filter(isRecord).map(({ key }) => ({ name: String(key), data: '' }));
    return [
      {
        name: `${place}/${name}`,
        type: object['keyDataType'] === 'ip' ? ('ip' as const) : ('string' as const),
        records,
      },
    ];
  });
  const member = (pool: string) => [{ address: '192.0.2.10', port: 80, up: alive(pool) }];
  return { pools: pools.map((pool) => ({ name: `${place}/${pool}`, members: member(pool) })), dataGroups };
}

const seeds = fc.integer({ min: 1, max: 2_147_483_646 });

/** Begins Tcl's own sequence anew with each request, so that what it calls chance is known here. */
const seeding = (event: string, seed: number) => `when ${event} priority 1 { set fl_test [expr { srand(${seed}) }] }`;

/** Tcl's rand(), the "minimal standard" of Park and Miller (tcl.tk, mathfunc). */
function tclRandom(seed: number): () => number {
  let state = seed;
  const next = () => (state = (state * 16_807) % 2_147_483_647) * (1 / 2_147_483_647);
  next();
  return next;
}

async function chosenUnderTcl(
  of: Listener,
  requests: TestRequest[],
  alive: (pool: string) => boolean,
  seed = 1,
): Promise<unknown[]> {
  const { application, text } = load(of);
  const event = of.protocol === 'http' ? 'HTTP_REQUEST' : 'CLIENT_ACCEPTED';
  const rules = [
    { name: `${place}/seeding`, text: seeding(event, seed) },
    { name: `${place}/web_80_vs_irule`, text },
  ];
  expect(await runner.load(rules, environment(application, alive))).toEqual({ errors: [], warnings: [] });
  const outcomes: unknown[] = [];
  for (const { client, uri: sent = '/', headers: given = [] } of requests) {
    // One connection for all: what one request leaves in the variables must not decide the next.
    const outcome = await runner.run(event, { clientAddress: client, uri: sent, headers: given, connection: 'one' });
    const response = await runner.run('HTTP_RESPONSE', { clientAddress: client, connection: 'one' });
    outcomes.push({
      chosen: outcome.chosen,
      error: outcome.error ?? response.error,
      verbs: outcome.effects.map(({ verb }) => verb),
      set: response.effects.map(({ verb, args }) => [verb, ...args]),
    });
  }
  return outcomes;
}

const expected = (of: Listener, requests: TestRequest[], alive: (pool: string) => boolean, seed = 1): unknown[] =>
  requests.map((each) => {
    const choice = choose(of, each, alive, tclRandom(seed));
    if (!choice.ok) return choice;
    const { pool, cookie } = choice.value;
    const line = cookie && `${cookie.name}=${cookie.value}; path=/; HttpOnly`;
    return {
      chosen: [`${place}/${pool}`],
      error: undefined,
      verbs: ['pool'],
      set: line === undefined ? [] : [['header-insert', 'Set-Cookie', line]],
    };
  });

test(
  'for any rules and requests Tcl chooses what choose() says, and does nothing else',
  { timeout: 300_000 },
  async () => {
    const some = fc.array(request, { minLength: 1, maxLength: 5 });
    await fc.assert(
      fc.asyncProperty(listener, some, fc.subarray(pools), seeds, async (of, requests, live, seed) => {
        const alive = (pool: string) => live.includes(pool);
        expect(await chosenUnderTcl(of, requests, alive, seed)).toEqual(expected(of, requests, alive, seed));
      }),
      { numRuns: runs },
    );
  },
);

test('for any addresses a TCP listener chooses what choose() says', { timeout: 300_000 }, async () => {
  const isAddress = ({ routes }: Listener) =>
    routes.every(({ conditions }) => conditions.every((each) => each.subject === 'address'));
  const tcp = listener
    .map((of) => ({
      ...of,
      protocol: 'tcp' as const,
      pickBy: 'client-address' as const,
      stickiness: of.stickiness === 'cookie' ? ('random' as const) : of.stickiness,
      routes: of.routes.map(onAddresses),
    }))
    .filter(isAddress);
  const some = fc.array(fc.record({ client: fc.constantFrom(...clients) }), { minLength: 1, maxLength: 5 });
  await fc.assert(
    fc.asyncProperty(tcp, some, fc.subarray(pools), seeds, async (of, requests, live, seed) => {
      const alive = (pool: string) => live.includes(pool);
      expect(await chosenUnderTcl(of, requests, alive, seed)).toEqual(expected(of, requests, alive, seed));
    }),
    { numRuns: Math.ceil(runs / 5) },
  );
});

const onAddresses = (route: Listener['routes'][number]): Listener['routes'][number] => ({
  ...route,
  conditions: route.conditions.map((each, i) =>
    each.subject === 'address'
      ? each
      : { subject: 'address', tests: [{ operator: 'range', value: spans[i] ?? '::/0' }] },
  ),
});

const pattern = fc.letrec<{ branch: string; atom: string }>((tie) => ({
  atom: fc.oneof(
    { depthSize: 'small' },
    fc.constantFrom(
      'a',
      'b',
      '-',
      '/',
      '.',
      '[ab]',
      '[^a]',
      '[a-c1-]',
      String.raw`\d`,
      String.raw`\W`,
      String.raw`[\s\]]`,
      String.raw`\.`,
      String.raw`\{`,
      '^',
      '$',
    ),
    tie('branch').map((branch) => `(${branch})`),
    fc.tuple(tie('branch'), tie('branch')).map((branches) => `(?:${branches.join('|')})`),
  ),
  branch: fc
    .array(fc.tuple(tie('atom'), fc.constantFrom('', '', '*', '+', '?', '{2}', '{1,3}', '{2,}')), {
      minLength: 1,
      maxLength: 4,
    })
    .map((parts) => parts.map(([atom, count]) => (atom === '^' || atom === '$' ? atom : `${atom}${count}`)).join('')),
})).branch;

test('a portable regexp matches the same under Tcl as here', { timeout: 300_000 }, async () => {
  const subjects = fc.array(
    fc.array(fc.constantFrom(...'ab-/.1 {]c'), { maxLength: 8 }).map((signs) => signs.join('')),
    {
      minLength: 3,
      maxLength: 6,
    },
  );
  await fc.assert(
    fc.asyncProperty(pattern, subjects, async (text, values) => {
      fc.pre(portable(text).ok);
      const of = canary([{ operator: 'regexp', value: text }]);
      // Blanks around a header's value are not part of it.
      const requests = values.map((each) => ({ client: '192.0.2.1', headers: [['X', `<${each}>`]] as const }));
      expect(await chosenUnderTcl(of, requests, () => true)).toEqual(expected(of, requests, () => true));
    }),
    { numRuns: runs },
  );
});

const canary = (tests: Condition['tests']): Listener => ({
  name: 'web_80_vs',
  address: '20.1.0.10',
  port: 80,
  protocol: 'http',
  persistence: 'none',
  pools: [{ pool: 'p1_80_pool', weight: 1 }],
  routes: [
    {
      name: 'canary',
      match: 'any',
      conditions: [{ subject: 'header', key: 'x', tests }],
      pools: [{ pool: 'p2_80_pool', weight: 1 }],
    },
  ],
});

test('what a cookie keeps Tcl and choose() say alike, whatever lives', { timeout: 300_000 }, async () => {
  const [route] = canary([{ operator: 'equal', value: 'in' }]).routes;
  if (!route) throw new Error('bug: a canary has a route');
  const keeping = fc.tuple(weights, weights).map(([own, ruled]): Listener => {
    return { ...canary([]), stickiness: 'cookie', pools: own, routes: [{ ...route, name: 'rule0', pools: ruled }] };
  });
  const brought = fc.tuple(fc.constantFrom('in', 'out'), fc.constantFrom('default', 'rule0'), kept);
  const some = fc.array(brought.map(bringing), { minLength: 5, maxLength: 10 });
  await fc.assert(
    fc.asyncProperty(keeping, some, fc.subarray(pools, { maxLength: 3 }), seeds, async (of, requests, live, seed) => {
      const alive = (pool: string) => live.includes(pool);
      expect(await chosenUnderTcl(of, requests, alive, seed)).toEqual(expected(of, requests, alive, seed));
    }),
    { numRuns: runs },
  );
});

const bringing = ([value, salt, text]: [string, string, string]): TestRequest => ({
  client: '192.0.2.1',
  headers: [
    ['X', value],
    ['Cookie', `fl_web_80_vs.${salt}=${text}`],
  ],
});

test.each(hostile)('the value %j is data: it matches itself and runs nothing', async (text) => {
  const requests: TestRequest[] = [text, 'else'].map((each) => ({ client: '192.0.2.1', headers: [['X', each]] }));
  const outcomes = await chosenUnderTcl(canary([{ operator: 'equal', value: text }]), requests, () => true);
  expect(outcomes).toEqual([
    { chosen: [`${place}/p2_80_pool`], error: undefined, verbs: ['pool'], set: [] },
    { chosen: [`${place}/p1_80_pool`], error: undefined, verbs: ['pool'], set: [] },
  ]);
});

test('a kept connection leaves the pool of a rule with the first request outside it', async () => {
  const requests: TestRequest[] = ['in', 'out', 'in'].map((each) => ({ client: '192.0.2.1', headers: [['X', each]] }));
  const outcomes = await chosenUnderTcl(canary([{ operator: 'equal', value: 'in' }]), requests, () => true);
  const pool = (name: string) => expect.objectContaining({ chosen: [`${place}/${name}`] });
  expect(outcomes).toEqual([pool('p2_80_pool'), pool('p1_80_pool'), pool('p2_80_pool')]);
});
