// A walk: what users, approver, device, clusters and bad luck do to the controller, one step after another.
import {
  checkLbticket,
  checkLbticketRemoval,
  filled,
  lbrules,
  lbtickets,
  loadbalancers,
  type Lbticket,
} from '@fairlead/api';
import { configMaps, type Kube, type KubeObject } from '@fairlead/kube';
import { approver, type Approver, type Fault as ApproverFault, type Status } from '@fairlead/sim-approver';
import { http } from '../http.ts';
import { ok } from '@fairlead/core';
import { ticketName } from '../names.ts';
import { readEntries } from '../configmap.ts';
import { isDone } from '../report.ts';
import { made } from './cluster.ts';
import { faults, type Fault } from './faults.ts';
import { lb, listner, ticket } from './objects.ts';
import { addedTo, addressIn, faultsOf, type Scene } from './sound.ts';
import { world, type World } from './world.ts';

export const walkers = ['a', 'b', 'c'] as const;
export type Walker = (typeof walkers)[number];

export type WalkStep =
  | { do: 'file'; ticket: Walker; veip: string | undefined; hasListner: boolean }
  | { do: 'want'; ticket: Walker; state: 'enabled' | 'disabled' | 'deleted' }
  | { do: 'give up'; ticket: Walker }
  | { do: 'edit'; ticket: Walker; what: 'claimer' | 'balance' | 'broken' | 'address' }
  | { do: 'remove'; ticket: Walker }
  | { do: 'decide'; status: Status }
  | { do: 'approver'; fault: ApproverFault }
  | { do: 'api'; side: 'management' | 'target'; fault: Fault }
  | { do: 'kill'; after: number; isLost: boolean }
  | { do: 'restart' }
  | { do: 'hand over'; overlap: number }
  | { do: 'cluster'; isAway: boolean }
  | { do: 'report'; isGood: boolean }
  | { do: 'wait'; ms: number };

/** One per test; each walk through it begins with nothing and ends with nothing. */
export interface Ground {
  here: World;
  /** Walks `steps`, and after each looks whether all is sound; then mends everything, and looks whether all comes to its end. */
  walk(steps: readonly WalkStep[]): Promise<void>;
}

/** Two addresses on the LTM for three tickets: somebody always waits. */
const balancer = () =>
  lb({
    ltm: { url: 'http://100.1.1.1/api', cidr: '10.0.0.0/30', mode: 'allocate' },
    ve: { addr: '200.1.1.1', user: 'admin', passwd: 'admin', cidr: '20.1.0.0/29' },
    policy: { provider: 'http', url: 'http://approver.test' },
  });

export async function ground(): Promise<Ground> {
  let sim: Approver | undefined;
  const [management, target] = [faults(), faults()];
  const wrong: string[] = [];
  const here: World = await world({
    approvers: (clock) => ({
      http: http({
        fetch: async (request) => {
          if (!sim) throw new Error('bug: no approver yet');
          return sim.fetch(request);
        },
        clock,
        token: async () => ok(undefined),
      }),
    }),
    between: management.between,
    betweenTarget: (kube) => target.between(watched(kube, () => here, wrong)),
  });
  const walk = async (steps: readonly WalkStep[]): Promise<void> => {
    await wipe(here);
    sim = approver({ decision: 'opened', sleep: (ms) => here.clock.sleep(ms) });
    wrong.length = 0;
    const walking: Walking = { here, sim, management, target, device: new Map(), wrong };
    await made(here.management.create(loadbalancers, balancer()));
    await here.begin();
    for (const [i, step] of steps.entries()) {
      await take(walking, step);
      await here.clock.advance(20);
      await look(walking, () => `after step ${i + 1}, ${JSON.stringify(step)}`);
    }
    await mend(walking);
    await end(walking);
    await here.stop();
  };
  return { here, walk };
}

interface Walking {
  here: World;
  sim: Approver;
  management: ReturnType<typeof faults>;
  target: ReturnType<typeof faults>;
  /** What the device has, as the agent last left it: address by ticket. */
  device: Map<string, string>;
  /** What was written though it must not be. */
  wrong: string[];
}

/** Nothing may be added to a ConfigMap for a ticket that is not enabled in that moment. */
const watched = (kube: Kube, here: () => World, wrong: string[]): Kube => ({
  ...kube,
  async apply<T extends KubeObject>(...all: Parameters<typeof kube.apply<T>>) {
    const [kind, object] = all;
    if (kind.plural === configMaps.plural) {
      const before = await here().configMap();
      for (const name of addedTo(before, object)) {
        const found = await here().management.get(lbtickets, { namespace: 'project', name: name.split('/')[1] ?? '' });
        const process = found.ok ? found.value.status?.process : 'gone';
        if (process !== 'enabled') wrong.push(`${name} was programmed while it was ${process}`);
      }
    }
    return kube.apply(...all);
  },
});

async function take(walking: Walking, step: WalkStep): Promise<void> {
  const { here, sim } = walking;
  switch (step.do) {
    case 'file': {
      const object = ticket(step.ticket, {
        veip: step.veip ?? null,
        listners: step.hasListner ? [own(step.ticket)] : [],
      });
      await user(here, { ...object, metadata: { ...object.metadata, annotations: { 'fairlead.io/force': 'true' } } });
      return;
    }
    case 'want':
      return edit(here, step.ticket, (one) => ({ ...one, state: step.state }));
    case 'give up':
      await edit(here, step.ticket, (one) => ({ ...one, state: 'disabled' }));
      await here.clock.advance(100);
      return edit(here, step.ticket, (one) => ({ ...one, state: 'deleted' }));
    case 'edit':
      return edit(here, step.ticket, edits[step.what]);
    case 'remove':
      return remove(here, step.ticket);
    case 'decide':
      return sim.decideAll(step.status, 'by the walk');
    case 'approver':
      return sim.failNext(step.fault);
    case 'api':
      return walking[step.side].failNext(step.fault);
    case 'kill':
      return walking.management.arm(step.after, step.isLost);
    case 'restart':
      return restart(walking);
    case 'hand over':
      return handOver(walking, step.overlap);
    case 'cluster':
      here.slow(step.isAway ? Infinity : 0);
      return restart(walking);
    case 'report':
      return report(walking, step.isGood);
    case 'wait':
      return here.clock.advance(step.ms);
  }
}

const own = (name: Walker) => listner(80, `svc-${name}`);

const edits: Record<'claimer' | 'balance' | 'broken' | 'address', (spec: Lbticket['spec']) => Lbticket['spec']> = {
  claimer: (spec) => ({ ...spec, claimer: `${spec.claimer ?? ''}x`.slice(-9) }),
  balance: (spec) => ({
    ...spec,
    listners: (spec.listners ?? []).map((one) => ({
      ...one,
      balance: one.balance === 'round-robin' ? 'least-connections-member' : 'round-robin',
    })),
  }),
  // Compiles to a problem, not to a part.
  broken: (spec) => ({ ...spec, listners: (spec.listners ?? []).map((one) => ({ ...one, irules: ['/Common/none'] })) }),
  address: (spec) => ({ ...spec, veip: spec.veip === '20.1.0.1' ? '20.1.0.2' : '20.1.0.1' }),
};

/** As a user files it: what admission or the server refuses does not happen. */
async function user(here: World, object: Lbticket): Promise<void> {
  if (checkLbticket(filled(lbtickets, object), undefined, await worldOf(here)).length > 0) return;
  const created = await here.management.create(lbtickets, object);
  if (!created.ok && !['exists', 'invalid'].includes(created.problem.code)) throw new Error(created.problem.message);
}

async function edit(here: World, name: Walker, change: (spec: Lbticket['spec']) => Lbticket['spec']): Promise<void> {
  const found = await here.management.get(lbtickets, { name, namespace: 'project' });
  if (!found.ok) return;
  const object = { ...found.value, spec: change(found.value.spec) };
  if (checkLbticket(filled(lbtickets, object), found.value, await worldOf(here)).length > 0) return;
  const replaced = await here.management.replace(lbtickets, object);
  if (!replaced.ok && !['invalid', 'conflict', 'missing'].includes(replaced.problem.code))
    throw new Error(replaced.problem.message);
}

async function remove(here: World, name: Walker): Promise<void> {
  const found = await here.management.get(lbtickets, { name, namespace: 'project' });
  if (!found.ok || checkLbticketRemoval(found.value).length > 0) return;
  const { resourceVersion } = found.value.metadata;
  const gone = await here.management.remove(lbtickets, { name, namespace: 'project' }, { resourceVersion });
  if (!gone.ok && !['conflict', 'missing'].includes(gone.problem.code)) throw new Error(gone.problem.message);
}

async function worldOf(here: World) {
  const all = await made(here.management.list(lbtickets));
  const balancers = await made(here.management.list(loadbalancers));
  const rules = await made(here.management.list(lbrules));
  return { loadbalancers: () => balancers.items, lbtickets: () => all.items, lbrules: () => rules.items };
}

async function restart({ here, management, target }: Walking): Promise<void> {
  await here.stop();
  management.arm(Infinity, false);
  target.arm(Infinity, false);
  await here.begin();
}

/** The next one begins while the others still work. */
async function handOver({ here }: Walking, overlap: number): Promise<void> {
  const before = here.ending();
  await here.begin();
  await here.clock.advance(overlap);
  for (const end of before) await end();
}

/** The agent takes what the ConfigMap has to the device; when that fails, the device has some of both. */
async function report({ here, device }: Walking, isGood: boolean): Promise<void> {
  const configMap = await here.configMap();
  if (!configMap) return device.clear();
  if (isGood) device.clear();
  for (const name of Object.keys(readEntries(configMap))) {
    const address = addressIn(configMap, name);
    if (address !== undefined) device.set(name, address);
  }
  await here.report(isGood ? {} : { shop_http_app: { ok: false, code: 'busy', message: 'the device is busy' } });
}

async function look({ here, sim, device, wrong }: Walking, when: () => string): Promise<void> {
  const { items } = await made(here.management.list(lbtickets));
  const configMap = await here.configMap();
  // The agent removes what left the ConfigMap before it says so: all that it confirmed is gone.
  if (!configMap || isDone(configMap))
    for (const name of device.keys()) if (!(name in readEntries(configMap))) device.delete(name);
  const scene: Scene = { tickets: items, configMap, device, applications: sim.applications() };
  const bugs = here.log.splice(0).filter((line) => line.startsWith('bug'));
  const found = [...wrong, ...bugs, ...faultsOf(scene)];
  if (found.length > 0) throw new Error(`${when()}: ${found.join('; ')}\n${items.map(told).join('\n')}`);
}

const told = (one: Lbticket): string => `${ticketName(one)} ${JSON.stringify(one.spec)} ${JSON.stringify(one.status)}`;

/** Everything works again: then each ticket comes to where its user wants it. */
async function mend(walking: Walking): Promise<void> {
  const { here, sim } = walking;
  here.slow(0);
  sim.decideAll('opened');
  await restart(walking);
  await settled(walking);
  const { items } = await made(here.management.list(lbtickets));
  const held = items.filter(({ status }) => status?.veip !== undefined).length;
  const entries = Object.keys(readEntries(await here.configMap())).sort();
  const late = items.flatMap((one): string[] => {
    const { process } = one.status ?? {};
    const isIn = entries.includes(ticketName(one));
    const wants = one.metadata.deletionTimestamp ? 'removed' : one.spec.state;
    if (process === 'enabled' && (one.spec.listners ?? []).length > 0 && !isIn && !isBroken(one))
      return [`not programmed`];
    if (process !== 'enabled' && isIn) return ['still programmed'];
    if (wants === 'removed') return ['still there'];
    if (wants === 'disabled') return process === 'disabled' || process === 'failed' ? [] : [`is ${process}`];
    if (wants === 'deleted') return process === 'deleted' ? [] : [`is ${process}`];
    if (process === 'enabled') return [];
    return process === 'failed' && isExcused(one, held) ? [] : [`is ${process}`];
  });
  const used = (await here.loadbalancer('demo')).status?.capacity;
  if (used?.ltm.used !== held || used?.ve.used !== held) late.push(`${held} pairs are held, ${JSON.stringify(used)}`);
  if (late.length > 0) throw new Error(`at the end: ${late.join('; ')}\n${items.map(told).join('\n')}`);
}

const isBroken = ({ spec }: Lbticket): boolean => spec.listners?.some(({ irules }) => irules?.length) === true;

/** May a ticket be failed when all works? */
function isExcused(one: Lbticket, held: number): boolean {
  const said = one.status?.conditions?.find(({ status }) => status === 'False');
  if (said?.reason === 'exhausted') return held >= 2;
  return said?.reason === 'taken' || said?.reason === 'invalid' || said?.reason === 'rejected';
}

/** The device follows, approvers are asked, and waits of up to a minute end. */
async function settled(walking: Walking): Promise<void> {
  const { here } = walking;
  let [before, after] = ['', await versions(here)];
  for (let i = 0; i < 8 && before !== after; i += 1) {
    await here.clock.advance(61_000);
    await report(walking, true);
    await look(walking, () => 'while all is mended');
    [before, after] = [after, await versions(here)];
  }
}

/** Moves with each write to a ticket or a ConfigMap. The report writes too, but the same text the second time. */
async function versions(here: World): Promise<string> {
  const { items } = await made(here.management.list(lbtickets));
  return [...items, await here.configMap()].map((one) => one?.metadata.resourceVersion).join(' ');
}

/** All give up: nothing is left anywhere. */
async function end(walking: Walking): Promise<void> {
  const { here, sim } = walking;
  for (const state of ['disabled', 'deleted'] as const) {
    for (const name of walkers) await edit(here, name, (spec) => ({ ...spec, state, listners: [] }));
    for (const name of walkers) await edit(here, name, (spec) => ({ ...spec, state }));
    await settled(walking);
  }
  const { items } = await made(here.management.list(lbtickets));
  const left = items.flatMap(({ status }) => (status?.process === 'deleted' ? [] : [status?.process ?? 'new']));
  const { capacity, ips } = (await here.loadbalancer('demo')).status ?? {};
  const found = [
    ...(left.length > 0 ? [`tickets are ${left.join(', ')}`] : []),
    ...(sim.applications().length > 0 ? [`${sim.applications().length} applications are left`] : []),
    ...((await here.configMap()) ? ['the ConfigMap is left'] : []),
    ...(capacity?.ve.used || capacity?.ltm.used || ips?.length ? [`leaked: ${JSON.stringify(capacity)}`] : []),
  ];
  if (found.length > 0) throw new Error(`when all gave up: ${found.join('; ')}\n${items.map(told).join('\n')}`);
  for (const name of walkers) await remove(here, name);
  await here.clock.advance(5000);
  const objects = (await made(here.management.list(lbtickets))).items;
  if (objects.length > 0) throw new Error(`removed tickets are still there: ${objects.map(told).join('\n')}`);
}

/** What a walk that failed left behind. */
async function wipe(here: World): Promise<void> {
  await here.stop();
  for (const { metadata } of (await made(here.management.list(lbtickets))).items) {
    await here.management.patch(lbtickets, metadata, { type: 'merge', body: { metadata: { finalizers: null } } });
    await here.management.remove(lbtickets, metadata);
  }
  for (const { metadata } of (await made(here.management.list(loadbalancers))).items)
    await here.management.remove(loadbalancers, metadata);
  const configMap = await here.configMap();
  if (configMap) await here.target.remove(configMaps, configMap.metadata);
  here.slow(0);
  here.log.length = 0;
  here.writes.length = 0;
}
