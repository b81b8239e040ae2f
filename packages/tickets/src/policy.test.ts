// Applications for the network policy: filed once, asked about with patience, taken back when they are worth nothing.
import { lbtickets, loadbalancers } from '@fairlead/api';
import { expect, test } from 'vitest';
import { testApprover } from './testing/approver.ts';
import { made } from './testing/cluster.ts';
import { faults } from './testing/faults.ts';
import { lb, ticket } from './testing/objects.ts';
import { conditionAt, world, type World } from './testing/world.ts';

async function filed() {
  const approver = testApprover();
  const here = await world({ approvers: { auto: approver } });
  await made(here.management.create(loadbalancers, lb()));
  await made(here.management.create(lbtickets, ticket('test')));
  await here.clock.advance(1000);
  return { here, approver };
}

const change = (here: World, body: object) =>
  made(here.management.patch(lbtickets, { name: 'test', namespace: 'project' }, { type: 'merge', body }));

test('a filed application waits in apply until it is opened', async () => {
  const { here, approver } = await filed();
  expect(approver.filings).toEqual(['project/test 20.1.0.1 10.0.0.1']);
  const waiting = await here.ticket('test');
  expect(waiting.status).toMatchObject({ process: 'apply', application: 'a1' });
  expect(conditionAt(waiting, 'NetworkPolicyOpen')).toEqual(['False', 'pending']);
  expect((await here.loadbalancer('demo')).status?.ips).toMatchObject([{ status: 'reserved' }]);
  approver.decide({ status: 'opened', message: 'by hand' });
  await here.clock.advance(60_000);
  expect((await here.ticket('test')).status?.process).toBe('enabled');
});

test('a rejected ticket keeps its addresses, says why, and files again only when it is edited', async () => {
  const { here, approver } = await filed();
  approver.decide({ status: 'rejected', message: 'no such project' });
  await here.clock.advance(60_000);
  const rejected = await here.ticket('test');
  expect(rejected.status).toMatchObject({ process: 'failed', veip: '20.1.0.1' });
  expect(rejected.status?.conditions?.find((one) => one.type === 'Ready')?.message).toMatch(
    /rejected: no such project; edit/,
  );
  approver.decide({ status: 'opened', message: '' });
  await here.restart();
  await here.clock.advance(300_000);
  expect((await here.ticket('test')).status?.process).toBe('failed');
  await change(here, { spec: { claimer: 'k00369' } });
  await here.clock.advance(60_000);
  expect((await here.ticket('test')).status).toMatchObject({ process: 'enabled', veip: '20.1.0.1', application: 'a2' });
  expect([...approver.filed.keys()]).toEqual(['a2']);
});

test('an application that is not decided is withdrawn when the ticket is disabled, and filed anew when it is enabled', async () => {
  const { here, approver } = await filed();
  await change(here, { spec: { state: 'disabled' } });
  await here.clock.advance(1000);
  expect((await here.ticket('test')).status).toMatchObject({ process: 'disabled', veip: '20.1.0.1' });
  expect((await here.ticket('test')).status).not.toHaveProperty('application');
  expect(approver.filed.size).toBe(0);
  approver.decide({ status: 'opened', message: '' });
  await change(here, { spec: { state: 'enabled' } });
  await here.clock.advance(1000);
  expect((await here.ticket('test')).status).toMatchObject({ process: 'enabled', application: 'a2' });
});

test('an opened policy stays while the ticket is disabled, and is revoked when it is deleted', async () => {
  const { here, approver } = await filed();
  approver.decide({ status: 'opened', message: '' });
  await here.clock.advance(60_000);
  await change(here, { spec: { state: 'disabled' } });
  await here.clock.advance(1000);
  expect([...approver.filed.keys()]).toEqual(['a1']);
  await change(here, { spec: { state: 'enabled' } });
  await here.clock.advance(1000);
  expect(approver.filings.length).toBe(1);
  await change(here, { spec: { state: 'disabled' } });
  await here.clock.advance(1000);
  await change(here, { spec: { state: 'deleted' } });
  await here.clock.advance(1000);
  expect((await here.ticket('test')).status?.process).toBe('deleted');
  expect(approver.filed.size).toBe(0);
});

test('an approver that does not answer is tried again, and the ticket says so meanwhile', async () => {
  const approver = testApprover({ status: 'opened', message: '' });
  const here = await world({ approvers: { auto: approver } });
  approver.failNext();
  await made(here.management.create(loadbalancers, lb()));
  await made(here.management.create(lbtickets, ticket('test')));
  await here.clock.advance(1000);
  expect((await here.ticket('test')).status?.process).toBe('created');
  expect(conditionAt(await here.ticket('test'), 'NetworkPolicyOpen')).toEqual(['False', 'unreachable']);
  await here.clock.advance(3000);
  expect((await here.ticket('test')).status?.process).toBe('enabled');
  expect(approver.filings.length).toBe(1);
});

test('polls grow apart from two seconds to a minute, and the annotation asks at once, once', async () => {
  const approver = testApprover();
  let asked = 0;
  const counting = {
    ...approver,
    ask: (...all: Parameters<typeof approver.ask>) => approver.ask(...all).finally(() => (asked += 1)),
  };
  const here = await world({ approvers: { auto: counting } });
  await made(here.management.create(loadbalancers, lb()));
  await made(here.management.create(lbtickets, ticket('test')));
  await here.clock.advance(3_600_000);
  const slow = asked;
  expect(slow).toBeGreaterThan(58);
  expect(slow).toBeLessThan(68);
  await change(here, { metadata: { annotations: { 'fairlead.io/poll-now': '1' } } });
  await here.clock.advance(0);
  expect(asked).toBe(slow + 1);
  await change(here, { metadata: { labels: { touched: 'yes' } } });
  await here.clock.advance(0);
  expect(asked).toBe(slow + 1);
});

test('a provider that the controller does not have is said on the ticket', async () => {
  const here = await world({ approvers: {} });
  await made(here.management.create(loadbalancers, lb()));
  await made(here.management.create(lbtickets, ticket('test')));
  await here.clock.advance(1000);
  expect((await here.ticket('test')).status?.process).toBe('created');
  expect(conditionAt(await here.ticket('test'), 'Ready')).toEqual(['False', 'missing']);
});

test('an application whose id was lost in a crash is withdrawn when the ticket was edited meanwhile', async () => {
  const approver = testApprover();
  const between = faults();
  const here = await world({ approvers: { auto: approver }, between: between.between });
  await made(here.management.create(loadbalancers, lb()));
  await here.clock.advance(1000);
  // Spec, created, and then the write that would have held the id.
  between.arm(2, false);
  await made(here.management.create(lbtickets, ticket('test')));
  await here.clock.advance(50);
  await here.stop();
  expect((await here.ticket('test')).status).toMatchObject({ process: 'created' });
  expect([...approver.filed.keys()]).toEqual(['a1']);
  await change(here, { spec: { veip: '20.1.0.77' } });
  between.arm(Infinity, false);
  await here.begin();
  await here.clock.advance(1000);
  expect((await here.ticket('test')).status).toMatchObject({ process: 'apply', veip: '20.1.0.77', application: 'a2' });
  expect([...approver.filed.keys()]).toEqual(['a2']);
  expect((await here.loadbalancer('demo')).status?.capacity?.ve.used).toBe(1);
});

test('a person opens or rejects by the condition in the status, and is heard at once', async () => {
  const here = await world({ manual: true });
  await made(here.management.create(loadbalancers, lb({ policy: { provider: 'manual' } })));
  for (const name of ['test', 'other']) await made(here.management.create(lbtickets, ticket(name)));
  await here.clock.advance(600_000);
  const decide = async (name: string, decision: { status: string; reason: string; message: string }, who = 'carla') => {
    const { conditions = [] } = (await here.ticket(name)).status ?? {};
    const decided = conditions.map((one) => (one.type === 'NetworkPolicyOpen' ? { ...one, ...decision } : one));
    const patch = { type: 'merge' as const, body: { status: { conditions: decided, answeredBy: who } } };
    await made(here.management.patch(lbtickets, { name, namespace: 'project' }, patch, { subresource: 'status' }));
    await here.clock.advance(100);
  };
  expect((await here.ticket('test')).status?.process).toBe('apply');
  await decide('test', { status: 'True', reason: 'Opened', message: 'firewall change 42' });
  await decide('other', { status: 'False', reason: 'rejected', message: 'not in this zone' });
  const [opened, rejected] = [await here.ticket('test'), await here.ticket('other')];
  expect(opened.status?.process).toBe('enabled');
  expect(opened.status?.history?.at(-1)?.why).toBe('firewall change 42');
  expect(rejected.status?.process).toBe('failed');
  expect(rejected.status?.history?.at(-1)?.why).toMatch(/not in this zone/);
  // Who answered stands in the history, and on no answer that follows.
  expect([opened, rejected].map(({ status }) => [status?.history?.at(-1)?.who, status?.answeredBy])).toEqual([
    ['carla', undefined],
    ['carla', undefined],
  ]);
});
