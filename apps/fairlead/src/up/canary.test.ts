// examples/canary-flow over the whole environment: real requests, real pods, the command line as a user types it.
import { afterEach, expect, test, vi } from 'vitest';
import { lbcanaries, lbtickets, type Lbcanary } from '@fairlead/api';
import { pods } from '@fairlead/kube';
import { canaryFinish, canaryShift, canaryStart, canaryState, canaryStatus, type StartOptions } from '../canary.ts';
import { applyManifests, readManifests } from '../manifests.ts';
import { eventually, withEnvironment } from '../testing/environment.ts';
import { memberAddresses } from './device-view.ts';
import type { Environment } from './environment.ts';
import { boundAt } from './requests.ts';
import { measure } from './traffic.ts';

const folder = new URL('../../../../examples/canary-flow/', import.meta.url).pathname;
let environment: Environment;

withEnvironment(async (started) => {
  environment = started;
  const region = environment.clusters.get('acp-region01');
  for (const [kube, files] of [
    [region, ['acp-region01/04-workloads.yaml']],
    [environment.management, ['management/01-loadbalancer.yaml', 'management/02-lbticket.yaml']],
  ] as const) {
    const manifests = readManifests(files.map((file) => folder + file));
    if (!kube || !manifests.ok) throw new Error('the example cannot be read');
    expect(await applyManifests(kube, manifests.value, 'kubectl')).toMatchObject({ ok: true });
  }
  await eventually(
    () => environment.stores.lbtickets.get({ name: 'shop', namespace: 'default' }),
    (ticket) => ticket?.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') === true,
  );
  await eventually(
    () => memberAddresses(environment.devices.ve.sim, 'up'),
    (members) => members.size === 4,
  );
});

afterEach(() => vi.restoreAllMocks());

/** What the command prints. */
function heard(): string[] {
  const texts: string[] = [];
  for (const stream of [process.stdout, process.stderr])
    vi.spyOn(stream, 'write').mockImplementation((text) => texts.push(String(text)) > 0);
  return texts;
}

let client = 1;

/** The share of `service` among real requests, in percent. Each is from a client of its own. */
async function share(service: string, count = 400): Promise<number> {
  const address = environment.stores.lbtickets.get({ name: 'shop', namespace: 'default' })?.status?.veip ?? '';
  const target = boundAt(environment.devices.ve.sim, address, 80);
  if (!target) throw new Error('the listner is not on the device');
  const { counts } = await measure(target, { host: 'shop.test' }, client, count);
  client += count;
  return (100 * (counts[service] ?? 0)) / count;
}

const canary = (): Lbcanary | undefined => environment.stores.lbcanaries.get({ name: 'flow', namespace: 'default' });
const isAt = (weight: number) => (one: Lbcanary | undefined) =>
  one?.status?.weight === weight && one.status.since !== undefined;
const shared = () => ({ kubeconfig: environment.kubeconfig, management: 'management' });
const start = (options: Pick<StartOptions, 'service' | 'steps'> & Partial<StartOptions>) =>
  canaryStart('flow', {
    ...shared(),
    ticket: 'shop',
    listner: 'front',
    manual: false,
    pause: '1s',
    minRequests: 5,
    ...options,
  });

/** Traffic goes on until `holds` of the canary. */
async function under(holds: (one: Lbcanary | undefined) => boolean): Promise<void> {
  while (!holds(canary())) await share('web', 100);
}

async function annotate(app: string, status: string | null): Promise<void> {
  const region = environment.clusters.get('acp-region01');
  const found = await region?.list(pods, { labelSelector: `app=${app}` });
  const body = { metadata: { annotations: { 'sim.fairlead.io/status': status } } };
  for (const { metadata } of found?.ok ? found.value.items : [])
    expect(await region?.patch(pods, metadata, { type: 'merge', body })).toMatchObject({ ok: true });
}

test('the canary of the example is one that is admitted', async () => {
  const manifests = readManifests([`${folder}management/03-lbcanary.yaml`]);
  const applied = manifests.ok && (await applyManifests(environment.management, manifests.value, 'kubectl'));
  expect(applied).toMatchObject({ ok: true });
  const at = { name: 'web-next', namespace: 'default' };
  expect(await environment.management.remove(lbcanaries, at)).toMatchObject({ ok: true });
});

test('by hand: the measured split goes over step by step, and finishing makes it the ticket’s own', async () => {
  const told = heard();
  expect(await share('web')).toBe(100);
  expect(await start({ service: 'web-next', steps: [20, 50], manual: true })).toBe(0);
  await eventually(canary, isAt(20));
  const atFirst = await share('web-next');
  expect(atFirst).toBeGreaterThan(12);
  expect(atFirst).toBeLessThan(28);
  expect(await canaryShift('flow', shared())).toBe(0);
  await eventually(canary, isAt(50));
  const atSecond = await share('web-next');
  expect(atSecond).toBeGreaterThan(40);
  expect(atSecond).toBeLessThan(60);
  expect(await canaryShift('flow', shared())).toBe(1);
  expect(told.join('')).toContain('fairlead canary promote');
  expect(await canaryState('flow', { ...shared(), wait: true }, 'promoted')).toBe(0);
  expect(await share('web-next')).toBe(100);
  // Gone without its weights in the ticket, it would take the requests back.
  expect(await environment.management.remove(lbcanaries, { name: 'flow', namespace: 'default' })).toMatchObject({
    ok: false,
  });
  expect(await canaryFinish('flow', shared())).toBe(0);
  const ticket = await environment.management.get(lbtickets, { name: 'shop', namespace: 'default' });
  const services = ticket.ok ? ticket.value.spec.listners?.[0]?.services : [];
  expect(services?.map(({ service, weight }) => `${service} ${weight}`)).toEqual(['web 0', 'web-next 100']);
  await eventually(canary, (one) => one === undefined);
  expect(await share('web-next')).toBe(100);
}, 120_000);

test('a canary whose pods answer 500 goes back to the start, and the history says why', async () => {
  const told = heard();
  await annotate('web', '500');
  expect(await start({ service: 'web:8080', steps: [50, 100] })).toBe(0);
  await under((one) => one?.status?.phase === 'aborted');
  expect(canary()?.status?.history?.map(({ to }) => to)).toEqual(['baseline', 'shifting 50 %', 'aborted']);
  expect(await canaryStatus('flow', { ...shared(), watch: true, output: 'text' })).toBe(1);
  expect(told.join('')).toMatch(/aborted +the canary is worse than the baseline: .* requests to the canary failed/);
  await eventually(
    () => share('web-next', 100),
    (percent) => percent === 100,
  );
}, 120_000);

test('mended and started again it goes over by itself, without a virtual server made anew', async () => {
  const told = heard();
  const { sim } = environment.devices.ve;
  const { recreated } = sim.counters;
  await annotate('web', null);
  const waited = start({ service: 'web', steps: [30, 100], wait: true });
  await under((one) => one?.status?.phase === 'promoted');
  expect(await waited).toBe(0);
  expect(told.join('')).toContain('shifting 30 %');
  expect(await share('web')).toBe(100);
  expect(sim.counters.recreated).toBe(recreated);
  expect(await canaryState('flow', { ...shared(), wait: true }, 'rolledback')).toBe(0);
  expect(await share('web')).toBe(0);
}, 120_000);
