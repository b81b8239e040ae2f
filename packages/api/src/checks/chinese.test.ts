// What is refused is refused in both languages: all rules, all rows of cases.ts, and what depends on the world.
import type { Refusal } from '@fairlead/core';
import { expect, test } from 'vitest';
import { duplicateCases, ruleCases, shapeCases } from '../cases.ts';
import { definitions } from '../crds.ts';
import { makeCanary, makeListner, makeLoadbalancer, makeRule, makeTicket, makeWorld } from '../make.ts';
import { admission, refusalText } from '../admission.ts';
import { type Rule, rulesKey } from '../schema.ts';
import { unkept } from '../credentials.ts';
import { checkAnswer } from './answer.ts';
import { checkLbcanary, checkLbcanaryRemoval } from './lbcanary.ts';
import { checkLbrule, checkLbruleRemoval, lbruleWarnings } from './lbrule.ts';
import { checkLbticket, checkLbticketRemoval, lbticketWarnings } from './lbticket.ts';
import { checkLoadbalancer, checkLoadbalancerRemoval, loadbalancerWarnings } from './loadbalancer.ts';
import { checkStructure } from './structure.ts';

/** Figures, names in quotes, and words that only fields and values have, stand in both. */
function lacking(en: string, zh: string): string[] {
  const facts = en.match(/"[^"]*"|\d+|[a-z]+[A-Z]\w*|\b\w+\.\w+\b|\b[a-z]+\/[a-z]+\b/g) ?? [];
  const missing = facts.filter((fact) => !zh.includes(fact));
  return /\p{Script=Han}/u.test(zh) ? missing : ['Chinese', ...missing];
}

const lackingOf = (problems: Refusal[]) => problems.flatMap(({ message, zh }) => lacking(message, zh));

function allRules(schema: object): Rule[] {
  const {
    properties = {},
    items,
    [rulesKey]: own = [],
  } = schema as {
    properties?: object;
    items?: object;
    [rulesKey]?: Rule[];
  };
  return [...own, ...Object.values(properties).flatMap(allRules), ...(items ? allRules(items) : [])];
}

test('every rule of a kind is said in Chinese', () => {
  const rules = definitions.flatMap((one) => [...allRules(one.spec), ...(one.rules as Rule[])]);
  expect(rules.length).toBeGreaterThan(20);
  expect(rules.filter(({ message, zh }) => lacking(message, zh).length > 0).map(({ zh }) => zh)).toEqual([]);
});

test.each([...shapeCases, ...duplicateCases, ...ruleCases].filter(({ paths }) => paths.length > 0))(
  'refused in both languages: $name',
  ({ definition, object, old }) => {
    const spoken = { spec: undefined } as { spec: unknown };
    const problems = checkStructure(definition, { ...spoken, ...object }, old && { ...spoken, ...old });
    expect(problems).not.toEqual([]);
    expect(lackingOf(problems)).toEqual([]);
  },
);

const demo = makeLoadbalancer();
const { ltm, ve } = demo.spec;
const manned = makeLoadbalancer('demo', { policy: { provider: 'manual' } });
const enabled = makeTicket({}, { process: 'enabled' });
const ingresses = () => [
  { cluster: 'acp-region01', namespace: 'default', name: 'shop', ticket: 'default/test', services: ['svc02'] },
];
const tcp = makeListner({ name: 'tcp', protocal: 'tcp', session: 'none', port: 22 });
const many = ['a', 'b', 'c', 'd'].map((name) => makeTicket({}, { process: 'enabled' }, name));
const world = makeWorld({ loadbalancers: [demo], lbtickets: [enabled], lbrules: [makeRule()] }, { ingresses });
const entry = (type: 'url' | 'ip' | 'header', operator: 'equal' | 'range' | 'regexp', value: string) =>
  makeRule({ rules: [{ type, key: type === 'header' ? 'x' : null, values: [{ operator, value }] }] });

const onRule = makeCanary({ lbrule: 'irule', service: 'svc04' }, { phase: 'shifting' }, 'on-rule');
const shifted = makeWorld({
  lbtickets: [makeTicket()],
  lbrules: [makeRule()],
  lbcanaries: [makeCanary({}, { phase: 'shifting' }), onRule],
});
const alone = makeTicket({ listners: [makeListner({ services: [{ service: 'svc02', port: 8080, weight: 100 }] })] });

const rejected = {
  type: 'NetworkPolicyOpen',
  status: 'False',
  reason: 'rejected',
  message: '',
  lastTransitionTime: '2026-01-01T00:00:00Z',
} as const;

const of = (service: string) => makeListner({ services: [{ service, port: 80, weight: 1 }] });
const slow = makeListner({ ...of('a'), name: 'slow', port: 81, balance: 'ratio-member' });
const shared = makeWorld({
  loadbalancers: [demo],
  lbtickets: [makeTicket({}, undefined, 'b'), makeTicket({ listners: [of('svc03')] })],
});
const abroad = { ...makeTicket({ listners: [of('free')] }), metadata: { name: 'test', namespace: 'b' } };
const long = Array.from({ length: 8 }, () => ({
  type: 'url' as const,
  values: Array.from({ length: 128 }, (_, i) => ({ operator: 'regexp' as const, value: `^/${i}/${'$'.repeat(10)}` })),
}));
const external = { cis: { mode: 'external' as const, tenant: '{cluster}' } };
const secure = makeTicket({ listners: [makeListner({ protocal: 'https', tls: { secretName: 'a' } })] });
const passwd = { name: 'demo-ve', data: {}, path: 'spec.ve.passwd' } as const;
const token = { name: 'demo-ltm', data: {}, path: 'spec.ltm.token' } as const;

const asked: [string, Refusal[]][] = [
  ['a status that is not for people', checkAnswer(makeTicket({}, { process: 'deleted' }), enabled)],
  ['a late answer', checkAnswer({ ...enabled, status: { ...enabled.status, conditions: [rejected] } }, enabled)],
  ['credentials without a name', [unkept.nameless()]],
  ['a Secret of somebody else', [unkept.foreign('fairlead-system/demo-ve', passwd)]],
  ['a Secret that cannot be written', [unkept.failed('fairlead-system/demo-ltm', token, 'it answered 503')]],
  ['twins on one device', checkLoadbalancer(makeLoadbalancer('twin'), undefined, world)],
  [
    'an excluded address outside',
    checkLoadbalancer(makeLoadbalancer('x', { ve: { ...ve, exclude: ['10.9.9.9'] } }), undefined, makeWorld()),
  ],
  [
    'a wrong network',
    checkLoadbalancer(makeLoadbalancer('x', { ve: { ...ve, cidr: '20.1.0.1/16' } }), undefined, makeWorld()),
  ],
  ['no label', checkLoadbalancer(makeLoadbalancer('x', { nsselector: { 'a b': 'c' } }), undefined, makeWorld())],
  ['another cluster while in use', checkLoadbalancer({ ...demo, spec: { ...demo.spec, cluster: 'b' } }, demo, world)],
  [
    'a smaller network while in use',
    checkLoadbalancer({ ...demo, spec: { ...demo.spec, ltm: { ...ltm, cidr: '10.0.0.0/25' } } }, demo, world),
  ],
  [
    'another approver while the one before has applications',
    checkLoadbalancer(
      demo,
      manned,
      makeWorld({ lbtickets: [makeTicket({}, { process: 'apply', application: 'app-1' })] }),
    ),
  ],
  ['removal of a load balancer in use', checkLoadbalancerRemoval(demo, makeWorld({ lbtickets: many }))],
  ['removal of an enabled ticket', checkLbticketRemoval(enabled)],
  ['a ticket born deleted', checkLbticket(makeTicket({ state: 'deleted' }), undefined, world)],
  ['an address that is none', checkLbticket(makeTicket({ veip: '20.1.0.300' }), undefined, world)],
  ['disabling under traffic', checkLbticket(makeTicket({ state: 'disabled' }), enabled, world)],
  [
    'no such namespace',
    checkLbticket(makeTicket(), undefined, makeWorld({ loadbalancers: [demo] }, { namespaceExists: () => false })),
  ],
  ['a Service of an Ingress', checkLbticket(makeTicket({}, undefined, 'other'), undefined, world)],
  ['a listner that a rule names', checkLbticket(makeTicket({ listners: [] }), makeTicket(), world)],
  ['a rule without its ticket', checkLbrule(makeRule({ lbticket: 'none' }), undefined, world)],
  ['a rule without its listner', checkLbrule(makeRule({ listner: 'none' }), undefined, world)],
  [
    'a rule of a ticket with none',
    checkLbrule(makeRule(), undefined, makeWorld({ lbtickets: [makeTicket({ listners: [] })] })),
  ],
  [
    'a domain on tcp',
    checkLbrule(makeRule({ listner: 'tcp' }), undefined, makeWorld({ lbtickets: [makeTicket({ listners: [tcp] })] })),
  ],
  ['a regexp', checkLbrule(entry('url', 'regexp', '(a+)+'), undefined, world)],
  ['a path', checkLbrule(entry('url', 'equal', 'shop'), undefined, world)],
  ['an address', checkLbrule(entry('ip', 'equal', '10.0.0.0/33'), undefined, world)],
  [
    'a Service of a rule of another ticket',
    checkLbticket(makeTicket({ listners: [of('svc03')] }, undefined, 'b'), undefined, world),
  ],
  ['a Service of another ticket in a rule', checkLbrule(makeRule({ lbticket: 'b' }), undefined, shared)],
  ['a virtual server of another project', checkLbticket(abroad, undefined, world)],
  ['two ways of one pool', checkLbticket(makeTicket({ listners: [of('a'), slow] }, undefined, 'b'), undefined, world)],
  ['a name too long', checkLbticket(makeTicket({ listners: [] }, undefined, 'x'.repeat(253)), undefined, world)],
  [
    'a rule named default',
    checkLbrule({ ...makeRule(), metadata: { name: 'default', namespace: 'default' } }, undefined, world),
  ],
  ['a rule too long', checkLbrule(makeRule({ rules: long }), undefined, world)],
  [
    'rules that a tcp listner cannot have',
    checkLbticket(makeTicket({ listners: [makeListner({ ...tcp, name: 'lsnr1' })] }), undefined, world),
  ],
  [
    'a tenant of everybody',
    checkLoadbalancer(makeLoadbalancer('x', { cis: { mode: 'fairlead', tenant: 'Common' } }), undefined, makeWorld()),
  ],
  [
    'an external partition of everybody',
    checkLoadbalancer(
      makeLoadbalancer('x', { ...external, ve: { ...ve, partition: 'Common' } }),
      undefined,
      makeWorld(),
    ),
  ],
  [
    'https with an external CIS',
    checkLbticket(secure, undefined, makeWorld({ loadbalancers: [makeLoadbalancer('demo', external)] })),
  ],
  [
    'an external CIS under https',
    checkLoadbalancer(makeLoadbalancer('demo', external), demo, makeWorld({ lbtickets: [secure] })),
  ],
  [
    'Ingresses of an external CIS',
    checkLbticket(
      makeTicket({ lbtype: 'ingress', listners: [] }),
      undefined,
      makeWorld({ loadbalancers: [makeLoadbalancer('demo', external)] }),
    ),
  ],
  ['a canary of no ticket', checkLbcanary(makeCanary({ lbticket: 'none' }), undefined, shifted)],
  ['a canary of no listner', checkLbcanary(makeCanary({ listner: 'none' }), undefined, shifted)],
  ['a canary of no rule', checkLbcanary(makeCanary({ lbrule: 'none' }), undefined, shifted)],
  ['a canary of no Service', checkLbcanary(makeCanary({ service: 'svc09' }), undefined, shifted)],
  ['a canary with nothing beside it', checkLbcanary(makeCanary(), undefined, makeWorld({ lbtickets: [alone] }))],
  ['two canaries at once', checkLbcanary(makeCanary({}, undefined, 'other'), undefined, shifted)],
  ['removal of a promoted canary', checkLbcanaryRemoval(makeCanary({}, { phase: 'promoted' }), shifted)],
  ['a listner that a canary shifts', checkLbticket(alone, makeTicket(), shifted)],
  ['removal of a rule that a canary shifts', checkLbruleRemoval(makeRule(), shifted)],
  ['a range', checkLbrule(entry('header', 'range', '1000-100'), undefined, world)],
];

test.each(asked)('refused in both languages: %s', (_, problems) => {
  expect(problems).not.toEqual([]);
  expect(lackingOf(problems)).toEqual([]);
});

test('warnings are said in both as well', () => {
  const unknown = makeWorld({ loadbalancers: [demo] }, { namespaceExists: () => undefined });
  const as3 = makeLoadbalancer('demo', { ltm: { ...demo.spec.ltm, mode: 'as3' } });
  const behind = makeWorld({ loadbalancers: [as3] });
  const twin = makeLoadbalancer('twin', { nsselector: {} });
  const warnings = [
    ...lbticketWarnings(makeTicket(), undefined, unknown),
    ...loadbalancerWarnings(twin, undefined, world),
    ...lbticketWarnings(makeTicket(), undefined, behind),
    ...lbruleWarnings(makeRule(), undefined, makeWorld({ loadbalancers: [as3], lbtickets: [makeTicket()] })),
  ];
  expect(warnings).toHaveLength(4);
  expect(warnings.flatMap(({ en, zh }) => lacking(en, zh))).toEqual([]);
});

test('a whole refusal names the object, then each field; the API server answers the English one', async () => {
  const object = makeTicket({ listners: [makeListner({ protocal: 'tcp', services: [] })] });
  const problems = checkLbticket(object, undefined, world);
  const at = { kind: 'Lbticket', name: 'default/test' };
  expect(refusalText(at, problems, 'zh')).toBe('Lbticket default/test:spec.listners[0].services:至少需要 1 个元素');
  const verdict = await admission(world)({
    operation: 'CREATE',
    resource: { group: 'ebcpaas.io', version: 'v1', resource: 'lbtickets' },
    object,
  });
  const english = 'Lbticket default/test: spec.listners[0].services: needs at least 1 element';
  expect(refusalText(at, problems, 'en')).toBe(english);
  expect(verdict).toMatchObject({ allowed: false, status: { message: english } });
  expect(JSON.stringify(verdict)).not.toMatch(/\p{Script=Han}/u);
});
