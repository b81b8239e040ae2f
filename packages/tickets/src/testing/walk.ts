// A walk: one step after another, and after each a look whether all is sound; at the end everything comes to where it should.
import { lbrules, lbtickets, loadbalancers, type Lbticket, type Loadbalancer } from '@fairlead/api';
import { configMaps, namespaces, type ConfigMap, type Kube, type KubeObject } from '@fairlead/kube';
import { approver, type Approver } from '@fairlead/sim-approver';
import { isEqual, ok } from '@fairlead/core';
import { http } from '../http.ts';
import { ticketName } from '../names.ts';
import { readEntries } from '../configmap.ts';
import { isDone } from '../report.ts';
import { made } from './cluster.ts';
import { faults, type Faults } from './faults.ts';
import { lb } from './objects.ts';
import { addedTo, faultsOf, ruleValuesIn, type Filed, type Scene } from './sound.ts';
import {
  approverUrls,
  at,
  balancers,
  configMapOf,
  edit,
  remove,
  removeRule,
  report,
  restart,
  take,
  valueOf,
  walkers,
  writeRule,
  type Walking,
  type WalkStep,
} from './steps.ts';
import { world, type World } from './world.ts';

/**
 * Three tickets, and on the LTM two addresses and one: somebody often waits. The networks lie on one LTM and one VE, and
 * addresses of `spare` rest for less than the minute in which all comes to its end.
 */
const both = [
  lb({
    ltm: { url: 'http://100.1.1.1/api', cidr: '10.0.0.0/30', mode: 'allocate' },
    ve: { addr: '200.1.1.1', user: 'admin', passwd: 'admin', cidr: '20.1.0.0/29' },
    policy: { provider: 'http', url: approverUrls[0] },
  }),
  lb(
    {
      ltm: { url: 'http://100.1.1.1/api', cidr: '10.0.0.8/30', exclude: ['10.0.0.9'], mode: 'allocate' },
      ve: { addr: '200.1.1.1', user: 'admin', passwd: 'admin', cidr: '20.1.0.16/29' },
      nsselector: { spare: 'bar' },
      cis: { mode: 'fairlead', tenant: '{cluster}_spare' },
      policy: { provider: 'http', url: approverUrls[0] },
      reclaimQuarantine: '50s',
    },
    'spare',
  ),
];

/** Walks on one ground; then its Events alone would make it slow. */
const walksPerGround = 500;

/** Walks the steps, and after each looks whether all is sound; then mends everything, and looks whether all comes to its end. */
export function walks(): (steps: readonly WalkStep[]) => Promise<void> {
  let ground: Ground | undefined;
  let count = 0;
  return async (steps) => {
    if (count % walksPerGround === 0) await leave();
    count += 1;
    ground ??= await newGround();
    try {
      await ground.walk(steps);
    } catch (error) {
      // Nobody knows what such a walk left behind.
      await leave();
      throw error;
    }
  };
  async function leave(): Promise<void> {
    const last = ground;
    ground = undefined;
    await last?.close();
  }
}

/** Each walk through it begins with nothing and ends with nothing. */
interface Ground {
  walk(steps: readonly WalkStep[]): Promise<void>;
  close(): Promise<void>;
}

async function newGround(): Promise<Ground> {
  let sims: readonly Approver[] = [];
  let walking: Walking | undefined;
  const [management, target] = [faults(), faults()];
  const here: World = await world({
    admission: true,
    isStill: true,
    approvers: (clock) => ({
      http: http({
        fetch: async (request) => {
          const sim = sims[approverUrls.findIndex((url) => request.url.startsWith(url))];
          if (!sim) throw new Error('bug: no approver yet');
          return sim.fetch(request);
        },
        clock,
        token: async () => ok(undefined),
      }),
    }),
    between: management.between,
    betweenTarget: (kube) => target.between(watched(kube, () => walking)),
  });
  await here.stop();
  const walk = async (steps: readonly WalkStep[]): Promise<void> => {
    sims = approverUrls.map(() => approver({ decision: 'opened', sleep: (ms) => here.clock.sleep(ms) }));
    walking = begun({ here, sims, management, target });
    const { log, writes } = here;
    log.length = writes.length = 0;
    for (const one of both) await setBack(here, one);
    await restart(walking);
    for (const [i, step] of steps.entries()) {
      await take(walking, step);
      await here.clock.advance(20);
      look(walking, () => `after step ${i + 1}, ${JSON.stringify(step)}`);
    }
    await mend(walking);
    await end(walking);
    await here.stop();
  };
  return { walk, close: here.close };
}

/** The Loadbalancers stay from walk to walk: nothing of a walk is left in them, but networks that grew. */
async function setBack({ kept, management }: World, one: Loadbalancer): Promise<void> {
  const found = kept.management.one(loadbalancers, one.metadata);
  if (!found) await made(management.create(loadbalancers, one));
  else if (!isEqual(found.spec, one.spec)) await made(management.replace(loadbalancers, { ...found, spec: one.spec }));
}

const begun = (parts: { here: World; sims: readonly Approver[]; management: Faults; target: Faults }): Walking => ({
  ...parts,
  device: new Map(balancers.map((name) => [name, new Map()])),
  gone: new Map(),
  values: 0,
  wrong: [],
});

/** Longer than a turn that began before may take to write. */
const lately = 100;

/** Nothing may be added to a ConfigMap for a ticket that is not enabled in that moment, or of a rule that is gone. */
const watched = (kube: Kube, walking: () => Walking | undefined): Kube => ({
  ...kube,
  async apply<T extends KubeObject>(...all: Parameters<typeof kube.apply<T>>) {
    const [kind, object] = all;
    const now = walking();
    if (now && kind.plural === configMaps.plural) now.wrong.push(...wrongIn(now, object));
    return kube.apply(...all);
  },
});

function wrongIn({ here, gone }: Walking, object: ConfigMap): string[] {
  const { name, namespace = '' } = object.metadata;
  const before = here.kept.target.one(configMaps, { name, namespace });
  const tickets = addedTo(before, object).flatMap((ticket): string[] => {
    const found = here.kept.management.one(lbtickets, at(ticket.split('/')[1] ?? ''));
    const process = found ? found.status?.process : 'gone';
    return process === 'enabled' ? [] : [`${ticket} was programmed while it was ${process}`];
  });
  const known = ruleValuesIn(before);
  const rules = ruleValuesIn(object).filter((value) => !known.includes(value));
  const late = rules.filter((value) => here.clock.now() - (gone.get(value) ?? Infinity) > lately);
  return [...tickets, ...late.map((value) => `${value} was programmed when its rule was gone`)];
}

function look({ here, sims, device, wrong }: Walking, when: () => string): void {
  const tickets = here.kept.management.all(lbtickets);
  const found: [string, ConfigMap][] = [];
  for (const name of balancers) {
    const configMap = configMapOf(here, name);
    if (configMap) found.push([name, configMap]);
    // The agent removes what left the ConfigMap before it says so: all that it confirmed is gone.
    if (configMap && !isDone(configMap)) continue;
    for (const ticket of device.get(name)?.keys() ?? [])
      if (!(ticket in readEntries(configMap))) device.get(name)?.delete(ticket);
  }
  const scene: Scene = {
    now: here.clock.now(),
    loadbalancers: here.kept.management.all(loadbalancers),
    tickets,
    configMaps: new Map(found),
    device,
    applications: applicationsAt(sims),
  };
  const bugs = here.log.splice(0).filter((line) => line.startsWith('bug'));
  complain(when(), [...wrong, ...bugs, ...faultsOf(scene)], tickets);
}

const applicationsAt = (sims: readonly Approver[]): Filed[] =>
  sims.flatMap((sim, i) => sim.applications().map((one) => ({ ...one, url: approverUrls[i] ?? '' })));

function complain(when: string, found: readonly string[], tickets: readonly Lbticket[]): void {
  if (found.length > 0) throw new Error(`${when}: ${found.join('; ')}\n${tickets.map(told).join('\n')}`);
}

const told = (one: Lbticket): string => `${ticketName(one)} ${JSON.stringify(one.spec)} ${JSON.stringify(one.status)}`;

/** Everything works again: then each ticket and each rule comes to where its user wants it. */
async function mend(walking: Walking): Promise<void> {
  const { here, sims } = walking;
  here.slow(0);
  for (const sim of sims) sim.decideAll('opened');
  await restart(walking);
  await settled(walking);
  const tickets = here.kept.management.all(lbtickets);
  const late = [...tickets.flatMap((one) => lateTicket(here, one)), ...balancers.flatMap((name) => leaked(here, name))];
  complain('at the end', [...late, ...walkers.flatMap((name) => lateRule(here, name))], tickets);
  // The restart looked at everything; an edit has to be seen without one.
  const rules = walkers.filter((name) => here.kept.management.one(lbrules, at(`rule-${name}`)));
  for (const name of rules) await writeRule(walking, name, false);
  if (rules.length > 0) await settled(walking);
  const unseen = rules.flatMap((name) => lateRule(here, name));
  complain('after an edit of the rules', unseen, here.kept.management.all(lbtickets));
}

function lateTicket(here: World, one: Lbticket): string[] {
  const { process } = one.status ?? {};
  const isIn = balancers.some((name) => ticketName(one) in readEntries(configMapOf(here, name)));
  const wants = one.metadata.deletionTimestamp ? 'removed' : one.spec.state;
  const name = ticketName(one);
  if (process === 'enabled' && (one.spec.listners ?? []).length > 0 && !isIn && !isBroken(one))
    return [`${name} is not programmed`];
  if (process !== 'enabled' && isIn) return [`${name} is still programmed`];
  if (wants === 'removed') return [`${name} is still there`];
  if (wants === 'disabled') return process === 'disabled' || process === 'failed' ? [] : [`${name} is ${process}`];
  if (wants === 'deleted') return process === 'deleted' ? [] : [`${name} is ${process}`];
  if (process === 'enabled') return [];
  return process === 'failed' && isExcused(here, one) ? [] : [`${name} is ${process}`];
}

const isBroken = ({ spec }: Lbticket): boolean => spec.listners?.some(({ irules }) => irules?.length) === true;

/** May a ticket be failed when all works? */
function isExcused(here: World, one: Lbticket): boolean {
  const said = one.status?.conditions?.find(({ status }) => status === 'False');
  const { ltm, ve } = capacityOf(here, one.spec.loadbalancer);
  if (said?.reason === 'exhausted') return ltm.used === ltm.total || ve.used === ve.total;
  return said?.reason === 'taken' || said?.reason === 'invalid' || said?.reason === 'rejected';
}

function capacityOf({ kept }: World, name: string) {
  const found = kept.management.one(loadbalancers, { name })?.status?.capacity;
  if (!found) throw new Error(`${name} has no capacity in its status`);
  return found;
}

/** Each address is of a ticket that holds it: no quarantine is left, and nobody else has one. */
function leaked(here: World, name: string): string[] {
  const own = here.kept.management.all(lbtickets).filter(({ spec }) => spec.loadbalancer === name);
  const held = own.filter(({ status }) => status?.veip !== undefined).length;
  const { ltm, ve } = capacityOf(here, name);
  const { ips = [] } = here.kept.management.one(loadbalancers, { name })?.status ?? {};
  if (ltm.used === held && ve.used === held && ips.length === held) return [];
  return [`${held} pairs of ${name} are held, ${ltm.used} and ${ve.used} are used, ${ips.length} are shown`];
}

/** The newest value of the rule is where its ticket is, older ones are nowhere, and the rule says so. */
function lateRule({ kept, ...here }: World, name: string): string[] {
  const rule = kept.management.one(lbrules, at(`rule-${name}`));
  const ticket = kept.management.one(lbtickets, at(name));
  const isOn = ticket?.status?.process === 'enabled' && (ticket.spec.listners ?? []).length > 0;
  const found = balancers
    .flatMap((one) => ruleValuesIn(configMapOf({ kept, ...here }, one)))
    .filter((value) => value.includes(`-${name}.`));
  // A bad edit leaves what the ticket had on the device.
  if (ticket && isOn && isBroken(ticket)) return [];
  const wanted = rule && isOn ? [valueOf(rule)] : [];
  const isReady = rule?.status?.conditions?.find(({ type }) => type === 'Ready')?.status === 'True';
  return [
    ...(found.join() === wanted.join() ? [] : [`of the rule of ${name} ${found} is programmed, and not ${wanted}`]),
    ...(isReady === wanted.length > 0 ? [] : [`the rule of ${name} is ${isReady ? '' : 'not '}ready`]),
  ];
}

/** The device follows, approvers are asked, and waits of up to a minute end. */
async function settled(walking: Walking): Promise<void> {
  const { here } = walking;
  let [before, after] = ['', versions(here)];
  for (let i = 0; i < 8 && before !== after; i += 1) {
    await here.clock.advance(61_000);
    for (const name of balancers) await report(walking, name, true);
    look(walking, () => 'while all is mended');
    [before, after] = [after, versions(here)];
  }
}

/** Moves with each write. The report writes too, but the same text the second time. */
function versions(here: World): string {
  const { management } = here.kept;
  const all = [...management.all(lbtickets), ...management.all(lbrules), ...management.all(loadbalancers)];
  return [...all, ...balancers.map((name) => configMapOf(here, name))]
    .map((one) => one?.metadata.resourceVersion)
    .join(' ');
}

/** All give up: nothing is left anywhere. */
async function end(walking: Walking): Promise<void> {
  const { here, sims } = walking;
  for (const name of walkers) await removeRule(walking, name);
  for (const state of ['disabled', 'deleted'] as const) {
    for (const name of walkers) await edit(walking, name, (spec) => ({ ...spec, state, listners: [] }));
    for (const name of walkers) await edit(walking, name, (spec) => ({ ...spec, state }));
    await settled(walking);
  }
  const tickets = here.kept.management.all(lbtickets);
  const left = tickets.flatMap(({ status }) => (status?.process === 'deleted' ? [] : [status?.process ?? 'new']));
  const labels = here.kept.target.one(namespaces, { name: 'shop' })?.metadata.labels ?? {};
  const found = [
    ...(left.length > 0 ? [`tickets are ${left.join(', ')}`] : []),
    ...applicationsAt(sims).map(({ url, id }) => `${id} is left at ${url}`),
    ...balancers.flatMap((name) => (configMapOf(here, name) ? [`the ConfigMap of ${name} is left`] : [])),
    ...balancers.flatMap((name) => leaked(here, name)),
    ...both.flatMap(({ spec }) => Object.keys(spec.nsselector).filter((key) => key in labels)),
  ];
  complain('when all gave up', found, tickets);
  for (const name of walkers) await remove(walking, name);
  await here.clock.advance(5000);
  const objects = here.kept.management.all(lbtickets);
  complain('at last', objects.length > 0 ? ['removed tickets are still there'] : [], objects);
}
