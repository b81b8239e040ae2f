// Which turn of a condition is told: a table, and the two kinds that have Events of it.
import { lbrules, lbtickets, loadbalancers, type Condition } from '@fairlead/api';
import { events } from '@fairlead/kube';
import { expect, test } from 'vitest';
import { turnNews } from './news.ts';
import { made } from './testing/cluster.ts';
import { lb, listner, rule, ticket } from './testing/objects.ts';
import { world, type World } from './testing/world.ts';

const condition = (text: string): Condition | undefined => {
  const [status = '', reason = '', message = '', edit = '1'] = text.split(' ');
  if (status === '-') return undefined;
  const at = { lastTransitionTime: '2026-01-01T00:00:00Z', observedGeneration: Number(edit) };
  return { type: 'Programmed', status: status as Condition['status'], reason, message, ...at };
};

const ways: [rule: string, way: string[], told: string[]][] = [
  ['a first programming says nothing', ['-', 'False pending', 'True Programmed'], []],
  ['an edit says nothing', ['True Programmed', 'False pending', 'True Programmed'], []],
  ['an outage is told of its Loadbalancer', ['True Programmed', 'Unknown unreachable', 'True Programmed'], []],
  ['to disable and to enable it is no news', ['True Programmed', 'False disabled', 'False pending', 'True Programmed'], []],
  ['what turns wrong, and good again', ['True Programmed', 'False invalid x', 'True Programmed'], ['NotProgrammed x', 'Programmed']],
  ['good again by way of an edit that is on its way', ['False invalid x', 'False pending', 'True Programmed'], ['Programmed']],
  ['wrong from the start', ['-', 'False pending', 'False invalid x'], ['NotProgrammed x']],
  ['wrong in other words', ['True Programmed', 'False busy try1', 'False busy try2'], ['NotProgrammed try1']],
  ['wrong for another reason', ['False busy x', 'False invalid y'], ['NotProgrammed y']],
  ['an edit that is wrong too', ['False invalid x 1', 'False invalid y 2'], ['NotProgrammed y']],
  ['wrong, and given up', ['False invalid x', 'False disabled', 'False pending', 'True Programmed'], []],
]; // prettier-ignore
for (const [what, way, told] of ways)
  test(`${what}: ${told.join(', ') || 'nothing'}`, () => {
    const troubled = new Set<string>();
    const all = way.slice(1).flatMap((text, i) => {
      const [before, after] = [condition(way[i] ?? '-'), condition(text)];
      return turnNews(troubled, 'ticket a/b', { type: 'Programmed', before, after });
    });
    expect(all.map(({ reason, message, type }) => (type === 'Warning' ? `${reason} ${message}` : reason))).toEqual(
      told,
    );
  });

/** `Reason: message` by kind, in order. */
const about = async (here: World, kind: string) =>
  (await made(here.management.list(events, { namespace: 'project' }))).items
    .filter(({ involvedObject }) => involvedObject.kind === kind)
    .sort((a, b) => Number(a.metadata.resourceVersion) - Number(b.metadata.resourceVersion))
    .map(({ type, reason, message }) => `${type} ${reason}: ${message}`);

const programmedOf = async (here: World, kind: string) =>
  (await about(here, kind)).filter((one) => /Programmed|Accepted/.test(one));

const said = { shop_http_app: { ok: false, code: 'invalid', message: 'the device will not have it' } };

test('a ticket and its rule say that the device refused them, and that it took them; their first way they say nothing', async () => {
  const here = await world();
  await made(here.management.create(loadbalancers, lb()));
  await made(here.management.create(lbtickets, ticket('test', { listners: [listner()] })));
  // Of one name, so that what is told of the one is not told of the other.
  await made(here.management.create(lbrules, rule('test')));
  await here.clock.advance(1000);
  await here.report();
  expect([await programmedOf(here, 'Lbticket'), await about(here, 'Lbrule')]).toEqual([[], []]);
  await here.report(said);
  const wrong = 'Warning NotProgrammed: shop_http_app: the device will not have it';
  expect([await programmedOf(here, 'Lbticket'), await about(here, 'Lbrule')]).toEqual([[wrong], [wrong]]);
  await here.restart();
  await here.report();
  const good = 'Normal Programmed: what is asked for is on the device';
  expect([await programmedOf(here, 'Lbticket'), await about(here, 'Lbrule')]).toEqual([
    [wrong, good],
    [wrong, good],
  ]);
});

test('a rule says when its ticket does not take it, once, and when it does again', async () => {
  const here = await world();
  await made(here.management.create(loadbalancers, lb()));
  await made(here.management.create(lbtickets, ticket('test', { listners: [listner()] })));
  await made(here.management.create(lbrules, rule('canary')));
  await here.clock.advance(1000);
  await here.report();
  const spec = (body: object) =>
    made(here.management.patch(lbrules, { name: 'canary', namespace: 'project' }, { type: 'merge', body }));
  await spec({ spec: { listner: 'none' } });
  await here.clock.advance(1000);
  expect(await about(here, 'Lbrule')).toEqual([
    'Warning NotAccepted: spec.listner: Lbticket project/test has no listner "none"; it has lsnr80',
  ]);
  await spec({ spec: { listner: 'lsnr80' } });
  await here.clock.advance(1000);
  await here.report();
  expect((await about(here, 'Lbrule')).slice(1)).toEqual([
    'Normal Accepted: its ticket takes it',
    'Normal Programmed: what is asked for is on the device',
  ]);
});
