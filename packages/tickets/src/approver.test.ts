// The approver over HTTP, as it is spoken with the simulated one: filed once, taken back when it is worth nothing, whatever goes wrong on the way.
import { lbtickets, loadbalancers } from '@fairlead/api';
import { ok } from '@fairlead/core';
import { approver, type Approver, type ApproverOptions, type Fault } from '@fairlead/sim-approver';
import { expect, test } from 'vitest';
import { http } from './http.ts';
import { made } from './testing/cluster.ts';
import { lb, ticket } from './testing/objects.ts';
import { conditionAt, world, type World } from './testing/world.ts';

interface Scene {
  here: World;
  sim: Approver;
  /** What the Secret holds. */
  secret: { token: string | undefined };
}

async function scene(options: ApproverOptions = {}): Promise<Scene> {
  const secret = { token: options.token };
  let sim: Approver | undefined;
  const here = await world({
    approvers: (clock) => {
      // Each controller has a client of its own; the approver is one.
      const one = (sim ??= approver({ ...options, sleep: (ms) => clock.sleep(ms) }));
      return { http: http({ fetch: one.fetch, clock, token: async () => ok(secret.token) }) };
    },
  });
  if (!sim) throw new Error('bug: the world asks for its approvers');
  const policy = { provider: 'http' as const, url: 'http://approver.test/api' };
  await made(here.management.create(loadbalancers, lb({ policy })));
  return { here, sim, secret };
}

const file = async (here: World) => {
  await made(here.management.create(lbtickets, ticket('test')));
  await here.clock.advance(1000);
};
const change = async (here: World, spec: object) => {
  const at = { name: 'test', namespace: 'project' };
  await made(here.management.patch(lbtickets, at, { type: 'merge', body: { spec } }));
  await here.clock.advance(1000);
};

test('an application says what it is for, and opens the ticket when it is opened', async () => {
  const { here, sim } = await scene();
  await file(here);
  expect(sim.applications()).toMatchObject([
    { status: 'pending', body: { ticket: 'project/test', cluster: 'acp-region01', namespace: 'shop', veip: '20.1.0.1', ltmip: '10.0.0.1', ports: 'all' } },
  ]);
  expect(await here.ticket('test')).toMatchObject({ status: { process: 'apply', application: 'app-1' } });
  sim.decide('app-1', 'opened', 'ticket 4711');
  await here.clock.advance(60_000);
  const enabled = await here.ticket('test');
  expect(enabled.status?.history?.at(-1)).toMatchObject({ to: 'enabled', why: 'ticket 4711' });
}); // prettier-ignore

const faults: [string, Fault[]][] = [
  ['answers 500', [{ kind: 'outage' }, { kind: 'outage' }]],
  ['loses its answers', [{ kind: 'lost' }, { kind: 'lost' }]],
  ['takes longer than we wait', [{ kind: 'slow', ms: 30_000 }]],
  ['gets the request twice', [{ kind: 'twice' }]],
];
for (const [what, order] of faults)
  for (const isRestarted of [false, true])
    test(`an approver that ${what} has one application in the end${isRestarted ? ', over a restart' : ''}`, async () => {
      const { here, sim } = await scene({ decision: 'opened' });
      sim.failNext(...order);
      await file(here);
      if (isRestarted) await here.restart();
      await here.clock.advance(120_000);
      expect((await here.ticket('test')).status?.process).toBe('enabled');
      expect([sim.filed, sim.applications().length]).toEqual([1, 1]);
    });

const worthless: [what: string, spec: object, then: string, filed: number][] = [
  ['an edit of a rejected ticket', { claimer: 'k00369' }, 'apply', 2],
  ['disabling', { state: 'disabled' }, 'disabled', 1],
];
test.each(worthless)('%s takes the application back', async (_, spec, then, filed) => {
  const { here, sim } = await scene();
  await file(here);
  if (filed === 2) {
    sim.decide('app-1', 'rejected', 'no');
    await here.clock.advance(60_000);
  }
  await change(here, spec);
  expect((await here.ticket('test')).status?.process).toBe(then);
  expect(sim.calls).toContain('DELETE /applications/app-1 204');
  expect(sim.filed).toBe(filed);
});

for (const isRemoved of [false, true])
  test(`${isRemoved ? 'kubectl delete' : 'deleting'} revokes what was opened, before the addresses are free`, async () => {
    const { here, sim } = await scene({ decision: 'opened' });
    await file(here);
    await change(here, { state: 'disabled' });
    expect(sim.applications()).toHaveLength(1);
    // Our own writes give a ticket turns as well, and each tries again.
    sim.failNext({ kind: 'outage' }, { kind: 'outage' }, { kind: 'outage' });
    if (isRemoved) await made(here.management.remove(lbtickets, { name: 'test', namespace: 'project' }));
    else await change(here, { state: 'deleted' });
    await here.clock.advance(500);
    expect((await here.ticket('test')).status).toMatchObject({ process: 'disabled', veip: '20.1.0.1' });
    await here.clock.advance(60_000);
    expect(sim.applications()).toEqual([]);
    if (!isRemoved) expect((await here.ticket('test')).status).toMatchObject({ process: 'deleted' });
    expect((await here.loadbalancer('demo')).status?.capacity?.ve.used).toBe(0);
  });

test('a policy that was revoked half-way is applied for anew when the ticket comes back', async () => {
  const { here, sim } = await scene({ decision: 'opened' });
  await file(here);
  await change(here, { state: 'disabled' });
  // The approver takes it back, and its answer is lost; meanwhile the user thinks better of it.
  sim.failNext({ kind: 'lost' });
  await change(here, { state: 'deleted' });
  expect(conditionAt(await here.ticket('test'), 'NetworkPolicyOpen')?.[0]).toBe('False');
  const at = { name: 'test', namespace: 'project' };
  const back = await here.management.patch(lbtickets, at, { type: 'merge', body: { spec: { state: 'enabled' } } });
  await here.clock.advance(120_000);
  const { process, application } = (await here.ticket('test')).status ?? {};
  // Where it may not come back any more, it is gone for good.
  if (!back.ok) expect(process).toBe('deleted');
  else expect([process, sim.applications().map(({ id }) => id)]).toEqual(['enabled', [application]]);
});

test('an application that the approver forgot is filed anew', async () => {
  const { here, sim } = await scene();
  await file(here);
  await sim.fetch(new Request('http://approver.test/applications/app-1', { method: 'DELETE' }));
  sim.decideAll('opened');
  await here.clock.advance(120_000);
  expect((await here.ticket('test')).status).toMatchObject({ process: 'enabled', application: 'app-2' });
});

test('a token that is exchanged counts without a restart', async () => {
  const { here, sim, secret } = await scene({ token: 'one' });
  await file(here);
  sim.setToken('two');
  sim.decideAll('opened');
  await here.clock.advance(60_000);
  expect(conditionAt(await here.ticket('test'), 'NetworkPolicyOpen')).toEqual(['False', 'denied']);
  secret.token = 'two';
  await here.clock.advance(120_000);
  expect((await here.ticket('test')).status?.process).toBe('enabled');
});
