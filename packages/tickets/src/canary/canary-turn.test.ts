// Canaries over the embedded API server, with the agent and the device played by the test, on one fake clock.
import { lbcanaries, lbrules, lbtickets, loadbalancers, type Lbcanary } from '@fairlead/api';
import { fail, ok } from '@fairlead/core';
import { expect, test } from 'vitest';
import type { StatisticsReader } from '../desk.ts';
import { made } from '../testing/cluster.ts';
import { canary, lb, listner, rule, ticket } from '../testing/objects.ts';
import { world, type World, type WorldOptions } from '../testing/world.ts';

/** What the device has counted; tests move it. */
interface Counters {
  requests: number;
  errors: number;
  canary: number;
  available: number;
  isReachable: boolean;
}

interface Scene {
  w: World;
  device: Counters;
  asked: string[];
  canary(name?: string): Promise<Lbcanary>;
  /** Minutes go by, with so many requests in each, of which the canary gets its share. */
  minute(requests?: number, errors?: number): Promise<void>;
  /** The generated rule in the ConfigMap, where the weights are. */
  weights(): Promise<string>;
}

const svc = (service: string, weight: number) => ({ service, port: 8080, weight });
const web = { ...listner(80), services: [svc('svc01', 100), svc('svc02', 0)] };

async function scene(options: WorldOptions = {}): Promise<Scene> {
  const device: Counters = { requests: 0, errors: 0, canary: 0, available: 2, isReachable: true };
  const asked: string[] = [];
  const statistics: StatisticsReader = async (_, { key, listener, pools }) => {
    asked.push(`${key}/${listener} ${pools.join(' ')}`);
    if (!device.isReachable) return fail('unreachable', 'no answer');
    const pool = { connections: 0, members: 2, available: 2, requests: 0 };
    return ok({
      listener: { requests: device.requests, errors: device.errors, unanswered: 0, open: 0 },
      pools: Object.fromEntries(
        pools.map((name, i) => [
          name,
          i === 0 ? { ...pool, requests: device.canary, available: device.available } : pool,
        ]),
      ),
    });
  };
  const w = await world({ ...options, statistics });
  await made(w.management.create(loadbalancers, lb()));
  await made(w.management.create(lbtickets, ticket('test', { listners: [web] })));
  await w.clock.advance(2000);
  await w.report();
  const at = (name: string) => ({ name, namespace: 'project' });
  const one = (name = 'next') => made(w.management.get(lbcanaries, at(name)));
  return {
    w,
    device,
    asked,
    canary: one,
    async minute(requests = 1000, errors = 0) {
      await w.report();
      const { status } = await one();
      device.requests += requests;
      device.errors += errors;
      device.canary += Math.round((requests * (status?.weight ?? 0)) / 100);
      await w.clock.advance(61_000);
    },
    async weights() {
      const text = (await w.configMap())?.data?.['template'] ?? '';
      return /"iRule": ?"((?:[^"\\]|\\.)*)"/.exec(text)?.[1] ?? 'no rule';
    },
  };
}

const labels = ({ status }: Lbcanary) => status?.history?.map(({ to }) => to);
const start = (s: Scene, spec = {}, name = 'next') => made(s.w.management.create(lbcanaries, canary(name, spec)));
const wish = (s: Scene, spec: Partial<Lbcanary['spec']>) =>
  made(s.w.management.patch(lbcanaries, { name: 'next', namespace: 'project' }, { type: 'merge', body: { spec } }));

test('a canary goes through its steps, each watched for a pause, and is promoted', async () => {
  const s = await scene();
  const before = await s.weights();
  expect(before).toContain('svc01');
  await start(s);
  await s.w.clock.advance(1000);
  expect((await s.canary()).status).toMatchObject({ phase: 'baseline', step: 0 });
  expect(await s.weights()).toBe(before);
  for (const weight of [5, 20, 50, 100]) {
    await s.minute();
    expect((await s.canary()).status).toMatchObject({ phase: 'shifting', weight });
    expect(await s.weights()).toContain('svc02');
  }
  await s.minute();
  const done = await s.canary();
  expect(done.status).toMatchObject({ phase: 'promoted', weight: 100 });
  expect(labels(done)).toEqual([
    'baseline',
    'shifting 5 %',
    'shifting 20 %',
    'shifting 50 %',
    'shifting 100 %',
    'promoted 100 %',
  ]);
  expect(await s.weights()).toContain('svc02');
  expect(s.asked[0]).toBe('acp-region01/shop_http_app/test_80_vs svc02_8080_pool svc01_8080_pool');
  expect((await s.w.events('next')).map((line) => line.split(':')[0])).toEqual([
    'Measuring',
    'Shifted',
    'Shifted',
    'Shifted',
    'Shifted',
    'Promoted',
  ]);
  // What users wrote stays as it is.
  expect((await s.w.ticket('test')).spec.listners?.[0]?.services).toEqual(web.services);
});

test('a canary that fails goes back to the starting weights, and the history says why', async () => {
  const s = await scene();
  const before = await s.weights();
  await start(s);
  await s.w.clock.advance(1000);
  await s.minute(1000, 2);
  await s.minute(1000, 2);
  await s.w.report();
  s.device.requests += 1000;
  s.device.canary += 200;
  s.device.errors += 150;
  await s.w.clock.advance(6000);
  const aborted = await s.canary();
  expect(aborted.status).toMatchObject({ phase: 'aborted', step: 2 });
  expect(aborted.status).not.toHaveProperty('weight');
  expect(aborted.status?.history?.at(-1)?.why).toMatch(/worse than the baseline: .*about 148 of 200 requests/);
  expect(await s.weights()).toBe(before);
  expect((await s.w.events('next')).at(-1)).toMatch(/^Aborted: aborted: /);
  // And there it stays.
  await s.minute();
  expect(labels(await s.canary())).toEqual(labels(aborted));
});

test('a canary whose members go down goes back at once', async () => {
  const s = await scene();
  await start(s, { mode: 'manual' });
  await s.w.clock.advance(1000);
  await s.minute();
  await s.w.report();
  s.device.available = 0;
  await s.w.clock.advance(6000);
  expect((await s.canary()).status?.history?.at(-1)).toMatchObject({
    from: 'shifting 5 %',
    to: 'aborted',
    why: expect.stringContaining('0 of 2 members of the canary are available'),
  });
});

test('while the device cannot be read, or the step is not there yet, nothing goes on', async () => {
  const s = await scene();
  await start(s);
  await s.w.clock.advance(1000);
  await s.minute();
  // No report of the agent: the step is on its way for ever.
  await s.w.clock.advance(600_000);
  expect((await s.canary()).status).toMatchObject({ phase: 'shifting', weight: 5 });
  expect((await s.canary()).status).not.toHaveProperty('since');
  s.device.isReachable = false;
  await s.minute();
  await s.minute();
  const { status } = await s.canary();
  expect(status).toMatchObject({ phase: 'shifting', weight: 5 });
  expect(status?.conditions?.find(({ type }) => type === 'Measured')).toMatchObject({
    status: 'False',
    reason: 'unreachable',
  });
});

test('a restart goes on where it was, with the time that has passed', async () => {
  const s = await scene();
  await start(s);
  await s.w.clock.advance(1000);
  await s.minute();
  await s.w.report();
  await s.w.clock.advance(20_000);
  s.device.requests += 500;
  s.device.canary += 25;
  const before = (await s.canary()).status;
  await s.w.restart();
  await s.w.clock.advance(30_000);
  expect((await s.canary()).status).toMatchObject({
    phase: 'shifting',
    weight: 5,
    since: before?.since,
    mark: before?.mark,
  });
  await s.w.clock.advance(15_000);
  expect((await s.canary()).status).toMatchObject({ weight: 20 });
});

test('two controllers at once make each step once', async () => {
  const s = await scene();
  await s.w.begin();
  await start(s);
  await s.w.clock.advance(1000);
  for (let i = 0; i < 5; i += 1) await s.minute();
  expect(labels(await s.canary())).toEqual([
    'baseline',
    'shifting 5 %',
    'shifting 20 %',
    'shifting 50 %',
    'shifting 100 %',
    'promoted 100 %',
  ]);
});

test('a step that a slow controller writes after the other has gone on is refused', async () => {
  let isArmed = false;
  let open: () => void = () => undefined;
  const gate = new Promise<void>((resolve) => (open = resolve));
  const s = await scene({
    between: (kube) => ({
      ...kube,
      async patch(kind, at, patch, options) {
        if (isArmed && kind.plural === 'lbcanaries') {
          isArmed = false;
          await gate;
        }
        return kube.patch(kind, at, patch, options);
      },
    }),
  });
  await s.w.begin();
  await start(s);
  await s.w.clock.advance(1000);
  await s.w.report();
  await s.w.clock.advance(55_000);
  isArmed = true;
  await s.minute();
  await s.minute();
  await s.minute();
  const before = await s.canary();
  expect(isArmed).toBe(false);
  expect(before.status?.step).toBeGreaterThan(1);
  open();
  await s.w.clock.advance(2000);
  const after = await s.canary();
  expect(labels(after)).toEqual(labels(before));
  expect(after.status?.step).toBe(before.status?.step);
});

test('by hand: steps that are asked for, promotion, and rollback after it', async () => {
  const s = await scene();
  const before = await s.weights();
  await start(s, { mode: 'manual' });
  await s.w.clock.advance(1000);
  await s.minute();
  await s.minute();
  expect((await s.canary()).status).toMatchObject({ weight: 5 });
  await wish(s, { step: 3 });
  await s.w.clock.advance(1000);
  expect((await s.canary()).status).toMatchObject({ weight: 50, step: 3 });
  await wish(s, { state: 'promoted' });
  await s.w.clock.advance(1000);
  await s.w.report();
  expect((await s.canary()).status).toMatchObject({ phase: 'promoted', weight: 100 });
  await wish(s, { state: 'rolledback' });
  await s.w.clock.advance(1000);
  expect((await s.canary()).status).toMatchObject({ phase: 'rolledback' });
  expect(await s.weights()).toBe(before);
});

test('a second canary on the same listner waits, whatever admission thought, and begins when the first has ended', async () => {
  const s = await scene();
  await start(s);
  await s.w.clock.advance(2000);
  await start(s, {}, 'other');
  await s.w.clock.advance(1000);
  const waiting = await s.canary('other');
  expect(waiting.status).toMatchObject({ phase: 'pending' });
  expect(waiting.status?.conditions?.find(({ type }) => type === 'Accepted')).toMatchObject({
    status: 'False',
    reason: 'taken',
    message: expect.stringContaining('Lbcanary next'),
  });
  await wish(s, { state: 'rolledback' });
  await s.w.clock.advance(1000);
  expect((await s.canary('other')).status).toMatchObject({ phase: 'baseline' });
});

test('a canary that is deleted leaves the weights of the ticket', async () => {
  const s = await scene();
  const before = await s.weights();
  await start(s);
  await s.w.clock.advance(1000);
  await s.minute();
  expect(await s.weights()).not.toBe(before);
  await made(s.w.management.remove(lbcanaries, { name: 'next', namespace: 'project' }));
  await s.w.clock.advance(1000);
  expect(await s.weights()).toBe(before);
});

test('a canary before its ticket waits; one on a rule shifts the rule alone', async () => {
  const s = await scene();
  await start(s, { lbrule: 'beta', service: 'svc04' });
  await s.w.clock.advance(1000);
  expect((await s.canary()).status).toMatchObject({ phase: 'pending' });
  const services = [svc('svc03', 100), svc('svc04', 0)];
  await made(s.w.management.create(lbrules, rule('beta', { services })));
  await s.w.clock.advance(1000);
  await s.w.report();
  await s.w.clock.advance(1000);
  expect((await s.canary()).status).toMatchObject({ phase: 'baseline' });
  await s.minute();
  expect((await s.canary()).status).toMatchObject({ phase: 'shifting', weight: 5 });
  expect((await s.w.configMap())?.data?.['template']).toContain('svc03_8080_pool 19');
});
