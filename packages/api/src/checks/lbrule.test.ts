import { expect, test } from 'vitest';
import type { LbruleEntry } from '../lbrule.ts';
import { makeListner, makeLoadbalancer, makeRule, makeTicket, makeWorld } from '../make.ts';
import { checkLbrule } from './lbrule.ts';
import { conditionOf } from './rule-entry.ts';

const tcp = makeListner({ name: 'lsnr2', port: 22, protocal: 'tcp', session: 'none' });
const world = makeWorld({ lbtickets: [makeTicket({ listners: [makeListner(), tcp] })] });
const paths = (problems: { path?: string | undefined }[]) => problems.map((problem) => problem.path);
const entry = (
  type: LbruleEntry['type'],
  operator: 'equal' | 'range' | 'startwith' | 'regexp',
  ...values: string[]
): LbruleEntry => ({
  type,
  ...(['header', 'cookie', 'urlparam'].includes(type) ? { key: 'X-A' } : {}),
  values: values.map((value) => ({ operator, value })),
});

test.each([
  ['a ticket that is not there', { lbticket: 'none' }, ['spec.lbticket']],
  ['a listner that is not there', { listner: 'none' }, ['spec.listner']],
  ['a domain on a tcp listner', { listner: 'lsnr2' }, ['spec.rules[0].type']],
  ['an address on a tcp listner (allowed)', { listner: 'lsnr2', rules: [entry('ip', 'equal', '10.0.0.1')] }, []],
])('a rule about %s', (_, spec, want) => {
  expect(paths(checkLbrule(makeRule(spec), undefined, world))).toEqual(want);
});

test('a ticket in another namespace is none', () => {
  const rule = { ...makeRule(), metadata: { name: 'irule', namespace: 'b' } };
  expect(paths(checkLbrule(rule, undefined, world))).toEqual(['spec.lbticket']);
});

test.each([
  ['a regexp that does not compile', entry('url', 'regexp', '^/a', '(('), ['spec.rules[0].values[1].value']],
  ['a network that is none', entry('ip', 'equal', '10.0.0.0/33'), ['spec.rules[0].values[0].value']],
  ['networks, ranges and addresses', entry('ip', 'range', '10.0.0.0/8', '10.0.0.1-10.0.0.9'), []],
  ['a range that runs backwards', entry('header', 'range', '1000-100'), ['spec.rules[0].values[0].value']],
  ['a control character beyond ASCII', entry('header', 'equal', 'a\u0085b'), ['spec.rules[0].values[0].value']],
  [
    'each faulty value',
    entry('url', 'regexp', '((', '/', '['),
    ['spec.rules[0].values[0].value', 'spec.rules[0].values[2].value'],
  ],
])('values: %s', (_, rule, want) => {
  expect(paths(checkLbrule(makeRule({ rules: [rule] }), undefined, world))).toEqual(want);
});

test('a hostile value is data', () => {
  expect(
    checkLbrule(
      makeRule({ rules: [entry('header', 'equal', '"]; exec rm -rf /; [', '} else { $x', 'a\\')] }),
      undefined,
      world,
    ),
  ).toEqual([]);
});

test('a rule whose ticket is gone may be edited, though not made', () => {
  const edited = makeRule({ priority: 5 });
  expect(checkLbrule(edited, makeRule(), makeWorld())).toEqual([]);
  expect(checkLbrule(edited, undefined, makeWorld())).toHaveLength(1);
});

test('an entry becomes a condition of the model', () => {
  expect(conditionOf({ type: 'domain', key: null, values: [{ operator: 'startwith', value: 'a.' }] })).toEqual({
    subject: 'host',
    tests: [{ operator: 'prefix', value: 'a.' }],
  });
  expect(conditionOf({ type: 'urlparam', key: 'q', values: [{ operator: 'equal', value: '1' }] })).toEqual({
    subject: 'query',
    key: 'q',
    tests: [{ operator: 'equal', value: '1' }],
  });
});

test('a Service of another ticket, its rules, or an F5 Ingress is refused', () => {
  const busy = makeTicket(
    { listners: [makeListner({ services: [{ service: 'svc03', port: 80, weight: 1 }] })] },
    { process: 'enabled' },
    'other',
  );
  const another = {
    ...makeRule({ lbticket: 'other', services: [{ service: 'svc05', port: 80, weight: 1 }] }),
    metadata: { name: 'b', namespace: 'default' },
  };
  const ingresses = () => [
    { cluster: 'acp-region01', namespace: 'default', name: 'shop', ticket: 'default/x', services: ['svc06'] },
  ];
  const held = makeWorld(
    { loadbalancers: [makeLoadbalancer()], lbtickets: [makeTicket(), busy], lbrules: [another] },
    { ingresses },
  );
  const services = ['svc01', 'svc03', 'svc05', 'svc06', 'svc07'].map((service) => ({ service, port: 80, weight: 1 }));
  const got = checkLbrule(makeRule({ services }), undefined, held);
  expect(got.map(({ path, message }) => [path, /used by (.*) already/.exec(message)?.[1]])).toEqual([
    ['spec.services[1].service', 'Lbticket default/other'],
    ['spec.services[2].service', 'Lbrule default/b'],
    ['spec.services[3].service', 'Ingress default/shop'],
  ]);
  expect(checkLbrule(makeRule({ services, priority: 1 }), makeRule({ services }), held)).toEqual([]);
});

test('no rule is named default', () => {
  const rule = { ...makeRule(), metadata: { name: 'default', namespace: 'default' } };
  expect(paths(checkLbrule(rule, undefined, world))).toEqual(['metadata.name']);
});
