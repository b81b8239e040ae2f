import { expect, test } from 'vitest';
import { forceAnnotation } from '../lbticket.ts';
import type { LbcanarySpec } from '../lbcanary.ts';
import { makeCanary, makeListner, makeRule, makeTicket, makeWorld } from '../make.ts';
import { checkLbcanary, checkLbcanaryRemoval } from './lbcanary.ts';
import { checkLbrule, checkLbruleRemoval } from './lbrule.ts';
import { checkLbticket } from './lbticket.ts';

const svc = (service: string, weight: number) => ({ service, port: 8080, weight });
const world = makeWorld({ lbtickets: [makeTicket()], lbrules: [makeRule()] });
const paths = (problems: { path?: string | undefined }[]) => problems.map((problem) => problem.path);

test.each<[string, Partial<LbcanarySpec>, string[]]>([
  ['its listner', {}, []],
  ['a rule', { lbrule: 'irule', service: 'svc04' }, []],
  ['a ticket that is not there', { lbticket: 'none' }, ['spec.lbticket']],
  ['a listner that is not there', { listner: 'none' }, ['spec.listner']],
  ['a rule that is not there', { lbrule: 'none' }, ['spec.lbrule']],
  ['a Service that the listner has not', { service: 'svc09' }, ['spec.service']],
  ['a port that the Service has not there', { port: 81 }, ['spec.service']],
  ['a Service of the listner, on a rule', { lbrule: 'irule' }, ['spec.service']],
])('a canary on %s', (_, spec, want) => {
  expect(paths(checkLbcanary(makeCanary(spec), undefined, world))).toEqual(want);
});

test('a rule of another listner is none of this one', () => {
  const other = makeWorld({
    lbtickets: [makeTicket({ listners: [makeListner(), makeListner({ name: 'b', port: 81 })] })],
    lbrules: [makeRule({ listner: 'b' })],
  });
  const [problem] = checkLbcanary(makeCanary({ lbrule: 'irule', service: 'svc04' }), undefined, other);
  expect(problem).toMatchObject({ path: 'spec.lbrule', message: expect.stringContaining('listner b') });
});

test('where nothing else gets requests there is nothing to shift', () => {
  const alone = makeTicket({ listners: [makeListner({ services: [svc('svc01', 0), svc('svc02', 100)] })] });
  expect(paths(checkLbcanary(makeCanary(), undefined, makeWorld({ lbtickets: [alone] })))).toEqual(['spec.service']);
});

test.each([
  ['at work', {}, { phase: 'shifting' }, ['spec.listner']],
  ['promoted', {}, { phase: 'promoted' }, ['spec.listner']],
  ['new', {}, undefined, ['spec.listner']],
  ['on a rule', { lbrule: 'irule', service: 'svc04' }, { phase: 'shifting' }, []],
  ['aborted', {}, { phase: 'aborted' }, []],
  ['rolled back', {}, { phase: 'rolledback' }, []],
] as const)('two at once: the other is %s', (_, spec, status, want) => {
  const two = makeWorld({
    lbtickets: [makeTicket()],
    lbrules: [makeRule()],
    lbcanaries: [makeCanary(spec, status, 'other')],
  });
  expect(paths(checkLbcanary(makeCanary(), undefined, two))).toEqual(want);
});

test('pace and outcome can be edited whatever became of the target', () => {
  expect(checkLbcanary(makeCanary({ state: 'rolledback' }), makeCanary(), makeWorld())).toEqual([]);
});

const atWork = makeWorld({
  lbtickets: [makeTicket()],
  lbrules: [makeRule()],
  lbcanaries: [
    makeCanary({}, { phase: 'shifting' }),
    makeCanary({ lbrule: 'irule', service: 'svc04' }, { phase: 'shifting' }, 'on-rule'),
  ],
});

test.each([
  ['the canary leaves the listner', [svc('svc01', 100)], ['spec.listners']],
  ['only the canary is left', [svc('svc01', 0), svc('svc02', 100)], ['spec.listners']],
  ['other weights', [svc('svc01', 10), svc('svc02', 0)], []],
])('an edit of the ticket while a canary is at work: %s', (_, services, want) => {
  const edited = makeTicket({ listners: [makeListner({ services })] });
  expect(paths(checkLbticket(edited, makeTicket(), atWork))).toEqual(want);
});

test('a rule that a canary shifts keeps it, and stays', () => {
  const without = makeRule({ services: [svc('svc03', 100)] });
  expect(paths(checkLbrule(without, makeRule(), atWork))).toEqual(['spec.services']);
  expect(checkLbrule(makeRule({ priority: 5 }), makeRule(), atWork)).toEqual([]);
  const [problem] = checkLbruleRemoval(makeRule(), atWork);
  expect(problem).toMatchObject({ code: 'denied', message: expect.stringContaining('default/on-rule') });
  expect(checkLbruleRemoval(makeRule(), world)).toEqual([]);
});

const promoted = makeCanary({ state: 'promoted' }, { phase: 'promoted', weight: 100 });
const settled = makeTicket({ listners: [makeListner({ services: [svc('svc01', 0), svc('svc02', 100)] })] });

test('a promoted canary goes when the ticket says the same, or by force', () => {
  expect(paths(checkLbcanaryRemoval(promoted, world))).toEqual(['metadata.name']);
  expect(checkLbcanaryRemoval(promoted, makeWorld({ lbtickets: [settled] }))).toEqual([]);
  const forced = { ...promoted, metadata: { ...promoted.metadata, annotations: { [forceAnnotation]: 'true' } } };
  expect(checkLbcanaryRemoval(forced, world)).toEqual([]);
  expect(checkLbcanaryRemoval(makeCanary({}, { phase: 'shifting' }), world)).toEqual([]);
});

test('once promoted, the ticket may give the canary everything, and drop the others', () => {
  const there = makeWorld({ lbtickets: [makeTicket()], lbcanaries: [promoted] });
  expect(checkLbticket(settled, makeTicket(), there)).toEqual([]);
  const alone = makeTicket({ listners: [makeListner({ services: [svc('svc02', 100)] })] });
  expect(checkLbticket(alone, makeTicket(), there)).toEqual([]);
});
