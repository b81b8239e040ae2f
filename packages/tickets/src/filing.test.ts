// Where an application is filed, there it is asked about and withdrawn, whatever the Loadbalancer names by now.
import { lbtickets, loadbalancers, type Loadbalancer } from '@fairlead/api';
import { fail, ok } from '@fairlead/core';
import { approver, type Approver } from '@fairlead/sim-approver';
import { expect, test } from 'vitest';
import { http } from './http.ts';
import { made } from './testing/cluster.ts';
import { faults } from './testing/faults.ts';
import { lb, ticket } from './testing/objects.ts';
import { conditionAt, world, type World, type WorldOptions } from './testing/world.ts';

type Policy = Loadbalancer['spec']['policy'];

const at = (name: string): Policy => ({ provider: 'http', url: `http://${name}.test`, tokenSecretRef: { name } });
const [atA, atB] = [at('a'), at('b')];

interface Scene {
  here: World;
  a: Approver;
  b: Approver;
}

/** Two approvers, each with a token of its own, and the Secrets that hold them. */
async function scene(policy: Policy | null = atA, options: WorldOptions = {}): Promise<Scene> {
  const sims = new Map<string, Approver>();
  const here = await world({
    manual: true,
    ...options,
    approvers: (clock) => {
      for (const name of ['a', 'b'])
        if (!sims.has(name)) sims.set(name, approver({ token: `token-${name}`, sleep: (ms) => clock.sleep(ms) }));
      const fetch = async (request: Request) => {
        const sim = sims.get(new URL(request.url).hostname.replace('.test', ''));
        if (sim) return sim.fetch(request);
        if (request.url.startsWith('http://other.test')) return new Response('no such page', { status: 404 });
        throw new TypeError('fetch failed', { cause: Object.assign(new Error('no such host'), { code: 'ENOTFOUND' }) });
      };
      const token = async (at: Policy) => ok(at.tokenSecretRef && `token-${at.tokenSecretRef.name}`);
      return { http: http({ fetch, clock, token }) };
    },
  });
  const [a, b] = [sims.get('a'), sims.get('b')];
  if (!a || !b) throw new Error('bug: the world asks for its approvers');
  if (policy) await made(here.management.create(loadbalancers, lb({ policy })));
  return { here, a, b };
}

const edit = async (here: World, spec: object, name = 'test') => {
  await made(here.management.patch(lbtickets, { name, namespace: 'project' }, { type: 'merge', body: { spec } }));
  await here.clock.advance(1000);
};

/** By force, where admission judges. */
const name = async (here: World, policy: Policy) => {
  const all = { url: null, tokenSecretRef: null, ...policy };
  const body = { metadata: { annotations: { 'fairlead.io/force': 'true' } }, spec: { policy: all } };
  await made(here.management.patch(loadbalancers, { name: 'demo' }, { type: 'merge', body }));
  await here.clock.advance(1000);
};

const file = async (here: World, one = 'test') => {
  await made(here.management.create(lbtickets, ticket(one)));
  await here.clock.advance(1000);
};

const messageOf = async (here: World) =>
  (await here.ticket('test')).status?.conditions?.find(({ type }) => type === 'NetworkPolicyOpen')?.message;

for (const [what, other] of [
  ['another URL', atB],
  ['nobody', { provider: 'auto' }],
] as const)
  // prettier-ignore
  test(`a Loadbalancer that names ${what} leaves what was opened where it was, to be withdrawn there`, async () => {
    const { here, a, b } = await scene();
    a.decideAll('opened');
    b.decideAll('opened');
    await file(here);
    expect(await here.ticket('test')).toMatchObject({
      status: { process: 'enabled', application: 'app-1', filing: { loadbalancer: 'demo', url: 'http://a.test' } },
    });
    await name(here, other);
    // It has app-1 as well, of somebody else.
    if (other.provider === 'http') await file(here, 'other');
    await edit(here, { state: 'disabled' });
    await edit(here, { state: 'deleted' });
    await here.restart();
    await here.clock.advance(120_000);
    // Without a token it is not heard there: so it says what to do, and goes on trying.
    expect((await here.ticket('test')).status).toMatchObject({ process: 'disabled', application: 'app-1' });
    expect(await messageOf(here)).toMatch(
      /401 .*filed with approver http http:\/\/a\.test of Loadbalancer demo, whose spec\.policy names another by now/,
    );
    await name(here, atA);
    await here.clock.advance(60_000);
    expect((await here.ticket('test')).status?.process).toBe('deleted');
    expect((await here.ticket('test')).status).not.toHaveProperty('filing');
    expect(a.applications()).toEqual([]);
    expect(b.calls.filter((call) => call.startsWith('DELETE'))).toEqual([]);
  });

test('a token goes to no other place than its own', async () => {
  const { here, a, b } = await scene();
  await file(here);
  await name(here, atB);
  a.setToken('token-b');
  a.decideAll('opened');
  await here.clock.advance(120_000);
  expect(conditionAt(await here.ticket('test'), 'NetworkPolicyOpen')).toEqual(['False', 'denied']);
  expect((await here.ticket('test')).status?.process).toBe('apply');
  expect(b.calls).toEqual([]);
  // One that asks nobody for a token is heard as before.
  a.setToken(undefined);
  await here.clock.advance(120_000);
  expect((await here.ticket('test')).status?.process).toBe('enabled');
});

test('a rejected ticket that moves to a Loadbalancer with another approver takes back its own application, and nobody else’s', async () => {
  const { here, a, b } = await scene();
  const { spec } = lb({ nsselector: { spare: 'bar' } });
  const [ltm, ve] = [{ ...spec.ltm, url: 'http://100.1.1.2/api' }, { ...spec.ve, addr: '200.1.1.2', cidr: '20.2.0.0/24' }]; // prettier-ignore
  await made(here.management.create(loadbalancers, lb({ ...spec, ltm, ve, policy: atB }, 'spare')));
  b.decideAll('opened');
  await made(here.management.create(lbtickets, ticket('other', { loadbalancer: 'spare' })));
  a.decideAll('rejected');
  await file(here);
  expect((await here.ticket('test')).status).toMatchObject({ process: 'failed', application: 'app-1' });
  expect((await here.ticket('other')).status).toMatchObject({ process: 'enabled', application: 'app-1' });
  await edit(here, { loadbalancer: 'spare', veip: null, ltmip: null });
  await here.clock.advance(60_000);
  expect(a.applications()).toEqual([]);
  expect((await here.ticket('test')).status).toMatchObject({ process: 'enabled', application: 'app-2' });
  expect(b.applications().map(({ id }) => id)).toEqual(['app-1', 'app-2']);
});

test('an answer that is lost before the Loadbalancer names another is asked for again there, and withdrawn', async () => {
  const { here, a, b } = await scene();
  a.failNext({ kind: 'lost' }, { kind: 'outage' }, { kind: 'outage' });
  await file(here);
  expect(a.applications()).toHaveLength(1);
  a.setToken(undefined);
  await name(here, atB);
  await here.clock.advance(60_000);
  expect([a.applications(), a.filed]).toEqual([[], 1]);
  expect((await here.ticket('test')).status).toMatchObject({ process: 'apply', filing: { url: 'http://b.test' } });
  expect(b.applications()).toHaveLength(1);
});

for (const isRestarted of [false, true])
  test(`a wrong URL that is mended holds nobody up${isRestarted ? ', over a restart at a server that is no approver' : ''}`, async () => {
    const wrong = { ...atA, url: isRestarted ? 'http://other.test' : 'http://none.test' };
    const { here, a } = await scene(wrong);
    await file(here);
    expect((await here.ticket('test')).status?.process).toBe('created');
    if (isRestarted) await here.restart();
    await name(here, atA);
    await here.clock.advance(10_000);
    expect((await here.ticket('test')).status).toMatchObject({ process: 'apply', filing: { url: 'http://a.test' } });
    expect(a.applications()).toHaveLength(1);
  });

test('of a ticket from before this was written down, the approver of today is', async () => {
  const { here } = await scene();
  await file(here);
  await here.stop();
  const place = { name: 'test', namespace: 'project' };
  const body = { status: { filing: null, refiled: null } };
  await made(here.management.patch(lbtickets, place, { type: 'merge', body }, { subresource: 'status' }));
  await here.begin();
  await here.clock.advance(1000);
  expect((await here.ticket('test')).status?.filing).toMatchObject({ url: 'http://a.test', loadbalancer: 'demo' });
});

test('an application whose approver is gone for good can be taken out of the status', async () => {
  const { here, a, b } = await scene();
  a.decideAll('opened');
  await file(here);
  await name(here, atB);
  await edit(here, { state: 'disabled' });
  await edit(here, { state: 'deleted' });
  expect((await here.ticket('test')).status?.process).toBe('disabled');
  const place = { name: 'test', namespace: 'project' };
  const body = { status: { application: null, filing: null } };
  await made(here.management.patch(lbtickets, place, { type: 'merge', body }, { subresource: 'status' }));
  await here.clock.advance(1000);
  expect((await here.ticket('test')).status?.process).toBe('deleted');
  expect(b.calls).toEqual([]);
});

test('while an application is with the approver, another is named by force alone', async () => {
  const { here } = await scene(null, { admission: true });
  const own = lb({ policy: atA });
  await made(here.management.create(loadbalancers, own));
  await file(here);
  const body = { spec: { policy: { url: 'http://b.test' } } };
  const edited = await here.management.patch(loadbalancers, { name: 'demo' }, { type: 'merge', body });
  expect(edited).toMatchObject(fail('denied', expect.stringContaining('project/test') as never));
  await name(here, atB);
});

test('an application that was deleted at the approver is filed anew under a key of its own, also by another controller', async () => {
  const { here, a } = await scene();
  await file(here);
  const annotations = { 'fairlead.io/changed-by': 'ann' };
  const place = { name: 'test', namespace: 'project' };
  await made(here.management.patch(lbtickets, place, { type: 'merge', body: { metadata: { annotations } } }));
  a.revoke('app-1');
  await here.clock.advance(10_000);
  expect((await here.ticket('test')).status?.history?.map(({ to, who }) => [to, who])).toEqual(
    ['created', 'apply', 'created', 'apply'].map((to) => [to, undefined]),
  );
  expect((await here.ticket('test')).status).toMatchObject({ process: 'apply', application: 'app-2', refiled: 1 });
  await here.restart();
  a.revoke('app-2');
  await here.clock.advance(60_000);
  expect((await here.ticket('test')).status).toMatchObject({ process: 'apply', application: 'app-3', refiled: 2 });
  expect(a.calls.filter((call) => call.startsWith('POST'))).toHaveLength(3);
});

test('a crash between the withdrawal and its write uses no key twice', async () => {
  const between = faults();
  const { here, a } = await scene(atA, { between: between.between });
  await file(here);
  between.arm(0, false);
  await edit(here, { claimer: 'k00369' });
  await here.stop();
  expect(a.applications()).toEqual([]);
  between.arm(Infinity, false);
  await here.begin();
  await here.clock.advance(10_000);
  expect((await here.ticket('test')).status).toMatchObject({ process: 'apply', application: 'app-2' });
  expect(a.applications()).toMatchObject([{ id: 'app-2', body: { claimer: 'k00369' } }]);
});

test('an approver that forgets each application is filed with ever more seldom', async () => {
  const { here, a } = await scene();
  await file(here);
  for (let i = 0; i < 600; i += 1) {
    for (const { id } of a.applications()) a.revoke(id);
    await here.clock.advance(1000);
  }
  // 2, 4, 8, 16, 32 and then 60 s and a poll apart: some fourteen in ten minutes, not two hundred.
  expect(a.filed).toBeGreaterThan(10);
  expect(a.filed).toBeLessThan(18);
});

test('an edit of what was applied for withdraws the application and files another; any other edit leaves it', async () => {
  const { here, a } = await scene();
  await file(here);
  await edit(here, { listners: [{ name: 'web', port: 80, protocal: 'tcp', session: 'none', services: [{ service: 'svc01', port: 8080, weight: 1 }] }] }); // prettier-ignore
  expect((await here.ticket('test')).status).toMatchObject({ process: 'apply', application: 'app-1' });
  await edit(here, { claimer: 'k00369' });
  const { status } = await here.ticket('test');
  expect(status).toMatchObject({ process: 'apply', application: 'app-2', filing: { claimer: 'k00369' }, veip: '20.1.0.1' }); // prettier-ignore
  expect(a.applications()).toMatchObject([{ id: 'app-2', body: { claimer: 'k00369' } }]);
  expect(status?.history?.map(({ to }) => to)).toEqual(['created', 'apply', 'created', 'apply']);
  expect(status?.history?.[2]?.why).toBe('application app-1 is withdrawn: the ticket was edited');
});

test('what a person is asked is asked anew when the ticket is edited meanwhile', async () => {
  const { here } = await scene({ provider: 'manual' });
  await file(here);
  const first = (await here.ticket('test')).status?.application;
  await edit(here, { claimer: 'k00369' });
  const { status } = await here.ticket('test');
  expect(status).toMatchObject({ process: 'apply', filing: { provider: 'manual', claimer: 'k00369' } });
  expect(status?.application).not.toBe(first);
  expect(await messageOf(here)).toContain(`application ${status?.application} waits for a network admin`);
});

test('poll-now is heard while the filing itself waits', async () => {
  const { here, a } = await scene();
  a.failNext(...Array.from({ length: 6 }, () => ({ kind: 'outage' as const })));
  await file(here);
  // Six tries are over after 62 s, and the seventh is a minute off.
  await here.clock.advance(63_000);
  expect([(await here.ticket('test')).status?.process, a.filed]).toEqual(['created', 0]);
  const body = { metadata: { annotations: { 'fairlead.io/poll-now': 'please' } } };
  await made(here.management.patch(lbtickets, { name: 'test', namespace: 'project' }, { type: 'merge', body }));
  await here.clock.advance(100);
  expect([(await here.ticket('test')).status?.process, a.filed]).toEqual(['apply', 1]);
});
