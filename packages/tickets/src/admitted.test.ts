// Admission against the compiler: what the one takes, the other makes a declaration of, whatever is filed.
import {
  checkLbrule,
  checkLbticket,
  checkLoadbalancer,
  type Lbrule,
  type Lbticket,
  type Loadbalancer,
} from '@fairlead/api';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { part } from './part.ts';
import { lb, listner, rule, ticket } from './testing/objects.ts';

type Listner = ReturnType<typeof listner>;
type Entry = Lbrule['spec']['rules'][number];

const some = <T>(make: fc.Arbitrary<T>, maxLength: number) => fc.array(make, { minLength: 1, maxLength });
const names = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom('test', '1a', 'n1a', 'a.b-c', 'default', 'x'.repeat(63)) },
  { weight: 1, arbitrary: fc.constantFrom('x'.repeat(120), 'x'.repeat(170), 'x'.repeat(253)) },
);
const label = fc.constantFrom('svc01', 'svc02', '1a', 'n1a', 's'.repeat(63));
const services = fc.uniqueArray(
  fc.record({ service: label, port: fc.constantFrom(80, 8080), weight: fc.constantFrom(0, 1, 100) }),
  { selector: ({ service, port }) => `${service} ${port}`, minLength: 1, maxLength: 4 },
);
const optional = <T extends object>(fields: { [K in keyof T]: fc.Arbitrary<T[K]> }) =>
  fc.record(fields, { requiredKeys: [] });
const monitor = fc
  .tuple(
    fc.constantFrom('http', 'https', 'tcp', 'udp', 'icmp'),
    optional({
      path: fc.constantFrom('/', '/"', '/a?b=c', '/`x`', `/${'a'.repeat(254)}`, `/${'a'.repeat(255)}`),
      interval: fc.constantFrom(1, 4, 5, 299, 300, 899, 900, 3600),
      timeout: fc.constantFrom(2, 3, 5, 6, 300, 900, 901, 3600),
    }),
  )
  .map(([type, more]) => ({ type, ...more }));
const listners = fc.uniqueArray(
  fc
    .tuple(
      fc.constantFrom(80, 443, 5353, 65_535),
      services,
      fc.constantFrom('http', 'https', 'tcp', 'udp'),
      optional({
        monitor,
        session: fc.constantFrom('cookie', 'none'),
        balance: fc.constantFrom('round-robin', 'ratio-member'),
        tls: optional({
          sni: fc.constant([{ secretName: 's'.repeat(253), host: '' }]),
        }).map((more) => ({ secretName: 'shop', ...more })),
        pickBy: fc.constantFrom('client-address', 'x-forwarded-for'),
        stickiness: fc.constantFrom('source', 'cookie', 'random'),
        irules: fc.constant(['/Common/audit']),
      }),
    )
    .map(
      ([port, to, protocal, more]) =>
        ({ ...listner(port), session: 'none', services: to, protocal, ...more }) as Listner,
    ),
  { selector: ({ port }) => port, maxLength: 3 },
);
const value = fc.oneof(
  fc.constantFrom('/a', 'a.domain.com', '10.0.0.0/8', '10.0.0.1-10.0.0.9', '5-9', '9-5', 'x', '^/a{2,3}$', '((', 'ü'),
  fc.string({ maxLength: 40 }).map((text) => `/${text}`),
  fc.constantFrom('a', '"', '/').map((sign) => `/${sign.repeat(600)}`),
);
const entry = fc
  .record({
    type: fc.constantFrom('domain', 'url', 'ip', 'header', 'cookie', 'urlparam'),
    key: fc.constantFrom(null, 'X-A', 'a"b', 'a b'),
    values: some(fc.record({ operator: fc.constantFrom('equal', 'startwith', 'range', 'regexp'), value }), 30),
  })
  .map((one) => one as Entry);
const rules = fc.uniqueArray(
  fc.record({
    name: names,
    listner: fc.constantFrom('lsnr80', 'lsnr443', 'lsnr5353'),
    services,
    entries: some(entry, 6),
    match: fc.constantFrom('any', 'all'),
  }),
  { selector: ({ name }) => name, maxLength: 5 },
);
const balancer = fc
  .record({
    cluster: fc.constantFrom('acp-region01', 'a', 'c'.repeat(63)),
    tenant: fc.constantFrom('{cluster}', '{cluster}_{namespace}', '-x', 'x-', 'x', 't'.repeat(126)),
    mode: fc.constantFrom('fairlead', 'external'),
    partition: fc.constantFrom(undefined, undefined, '1', 'k8s'),
  })
  .map(({ cluster, tenant, mode, partition }) =>
    lb({
      cluster,
      cis: { mode: mode as 'fairlead', tenant },
      ve: { ...lb().spec.ve, ...(partition === undefined ? {} : { partition }) },
    }),
  );

interface Filed {
  loadbalancer: Loadbalancer;
  ticket: Lbticket;
  rules: Lbrule[];
}

const worldOf = ({ loadbalancer, ticket: one, rules: all }: Filed) => ({
  loadbalancers: () => [loadbalancer],
  lbtickets: () => [one],
  lbrules: () => all,
});

/** Files one after the other; what is refused stays outside. */
function admitted(loadbalancer: Loadbalancer, wanted: Lbticket, all: readonly Lbrule[]): Filed | undefined {
  const filed: Filed = { loadbalancer, ticket: wanted, rules: [] };
  if (checkLoadbalancer(loadbalancer, undefined, worldOf(filed)).length > 0) return undefined;
  if (checkLbticket(wanted, undefined, worldOf(filed)).length > 0) return undefined;
  for (const one of all) if (checkLbrule(one, undefined, worldOf(filed)).length === 0) filed.rules.push(one);
  return filed;
}

const ruleText = ({ loadbalancer, ticket: one, rules: all }: Filed) => {
  const made = part({ loadbalancer, ticket: one, rules: all });
  const objects = made.ok ? Object.values(made.value.items).flatMap((items) => Object.values(items)) : [];
  const texts = objects.map((object) => (object as { iRule?: string }).iRule ?? '');
  return { made, longest: Math.max(0, ...texts.map((text) => text.length)) };
};

const runs = Number(process.env['FC_RUNS'] ?? 500);

test('what admission takes compiles', { timeout: 120_000 }, () => {
  let count = 0;
  const filing = fc.record({
    balancer,
    name: names,
    namespace: fc.constantFrom('shop', 'n'.repeat(63)),
    listners,
    rules,
  });
  fc.assert(
    fc.property(filing, (given) => {
      const own = ticket(given.name, { namespace: given.namespace, veip: '20.1.0.10', listners: given.listners });
      const all = given.rules.map((one) => {
        const { listner: on, services: to, entries, match } = one;
        return rule(one.name, {
          lbticket: given.name,
          listner: on,
          services: to,
          rules: entries,
          match: match as 'any',
        });
      });
      const filed = admitted(given.balancer, own, all);
      if (!filed) return;
      count += 1 + filed.rules.length;
      expect(part(filed)).toMatchObject({ ok: true });
    }),
    { numRuns: runs },
  );
  // By chance a tenth or more are taken: enough that the property says something.
  expect(count).toBeGreaterThan(runs / 25);
});

test('rules are taken up to the length that the device takes, or little less', () => {
  const kinds: [string, Entry['type'], (i: number) => Entry['values'][number]][] = [
    ['regexps', 'header', (i) => ({ operator: 'regexp', value: `^v${i}[.]{1,3}/x$` })],
    ['quoted values', 'cookie', (i) => ({ operator: 'equal', value: `"${i}"` })],
    ['prefixes', 'url', (i) => ({ operator: 'startwith', value: `/${'$'.repeat(30)}${i}` })],
    ['ranges', 'urlparam', (i) => ({ operator: 'range', value: `${i}-${i + 1000}` })],
    ['addresses', 'ip', (i) => ({ operator: 'equal', value: `10.0.0.${i}` })],
    ['domains', 'domain', (i) => ({ operator: 'equal', value: `a${i}.domain.com` })],
  ];
  for (const [what, type, make] of kinds) {
    const filed: Filed = {
      loadbalancer: lb(),
      ticket: ticket('test', { veip: '20.1.0.10', listners: [listner()] }),
      rules: [],
    };
    const isOne = type === 'header' || type === 'cookie' || type === 'urlparam';
    const next = () => {
      const from = filed.rules.length;
      return rule(`rule${from}`, {
        rules: [0, 1].map((n) => ({
          type,
          ...(isOne ? { key: `X-${from}-${n}` } : {}),
          values: Array.from({ length: 10 }, (_, i) => make(i)),
        })),
      });
    };
    let problems: unknown[] = [];
    for (let one = next(); problems.length === 0; one = next()) {
      problems = checkLbrule(one, undefined, worldOf(filed));
      if (problems.length > 0) break;
      filed.rules.push(one);
      expect(filed.rules.length, what).toBeLessThan(500);
    }
    expect(problems, what).toMatchObject([{ code: 'invalid', path: 'spec.rules' }]);
    const { made, longest } = ruleText(filed);
    expect(made.ok, what).toBe(true);
    expect(longest, what).toBeGreaterThan(50_000);
  }
});
