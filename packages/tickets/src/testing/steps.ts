// The steps of a walk: what users, approver, device, clusters and bad luck do to the controller.
import { lbrules, lbtickets, loadbalancers, type Lbticket, type Loadbalancer } from '@fairlead/api';
import { isEqual } from '@fairlead/core';
import { configMaps, type ConfigMap } from '@fairlead/kube';
import type { Approver, Fault as ApproverFault, Status } from '@fairlead/sim-approver';
import { readEntries } from '../configmap.ts';
import { configMapName } from '../names.ts';
import type { Fault, Faults } from './faults.ts';
import { listner, rule, ticket } from './objects.ts';
import { addressIn } from './sound.ts';
import type { World } from './world.ts';

export const walkers = ['a', 'b', 'c'] as const;
export type Walker = (typeof walkers)[number];

export const balancers = ['demo', 'spare'] as const;
export type Balancer = (typeof balancers)[number];

export const approverUrls = ['http://approver.test', 'http://other.test'] as const;

export type WalkStep =
  | { do: 'file'; ticket: Walker; on: Balancer; veip: string | undefined; hasListner: boolean }
  | { do: 'want'; ticket: Walker; state: 'enabled' | 'disabled' | 'deleted' }
  | { do: 'give up'; ticket: Walker }
  | { do: 'edit'; ticket: Walker; what: 'claimer' | 'balance' | 'broken' | 'address' | 'move' }
  | { do: 'remove'; ticket: Walker }
  | { do: 'rule'; ticket: Walker; what: 'write' | 'delete' | 'wrong' }
  | { do: 'network'; of: Balancer; layer: 've' | 'ltm'; cidr: string; isOverlapping: boolean }
  | { do: 'policy'; of: Balancer; at: number; isForced: boolean }
  | { do: 'decide'; status: Status }
  | { do: 'revoke'; at: number }
  | { do: 'approver'; fault: ApproverFault }
  | { do: 'api'; side: 'management' | 'target'; fault: Fault }
  | { do: 'kill'; after: number; isLost: boolean }
  | { do: 'restart' }
  | { do: 'hand over'; overlap: number }
  | { do: 'cluster'; isAway: boolean }
  | { do: 'report'; on: Balancer; isGood: boolean }
  | { do: 'wait'; ms: number };

export interface Walking {
  here: World;
  /** As many as there are URLs in `approverUrls`; their ids are the same. */
  sims: readonly Approver[];
  management: Faults;
  target: Faults;
  /** What the device has, as the agent last left it: by Loadbalancer, address by ticket. */
  device: Map<Balancer, Map<string, string>>;
  /** When the value of a rule was taken back, on the walk's clock. */
  gone: Map<string, number>;
  /** How many values of rules there were. */
  values: number;
  /** What was written, or let through, though it must not be. */
  wrong: string[];
}

export async function take(walking: Walking, step: WalkStep): Promise<void> {
  const { here, sims } = walking;
  switch (step.do) {
    case 'file':
      return file(walking, step);
    case 'want':
      return edit(walking, step.ticket, (one) => ({ ...one, state: step.state }));
    case 'give up':
      await edit(walking, step.ticket, (one) => ({ ...one, state: 'disabled' }));
      await here.clock.advance(100);
      return edit(walking, step.ticket, (one) => ({ ...one, state: 'deleted' }));
    case 'edit':
      return edit(walking, step.ticket, edits[step.what]);
    case 'remove':
      return remove(walking, step.ticket);
    case 'rule':
      return step.what === 'delete'
        ? removeRule(walking, step.ticket)
        : writeRule(walking, step.ticket, step.what === 'wrong');
    case 'network':
      return editNetwork(walking, step);
    case 'decide':
      return sims.forEach((sim) => sim.decideAll(step.status, 'by the walk'));
    case 'revoke':
      return sims.forEach((sim) => sim.revoke(sim.applications()[step.at]?.id ?? ''));
    case 'policy':
      return namePolicy(walking, step);
    case 'approver':
      return sims.forEach((sim) => sim.failNext(step.fault));
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
      return report(walking, step.on, step.isGood);
    case 'wait':
      return here.clock.advance(step.ms);
  }
}

export const at = (name: string) => ({ name, namespace: 'project' });

async function file(walking: Walking, step: WalkStep & { do: 'file' }): Promise<void> {
  const { on, veip = null, hasListner } = step;
  const listners = hasListner ? [listner(80, `svc-${step.ticket}`)] : [];
  const object = ticket(step.ticket, { loadbalancer: on, veip, listners });
  const metadata = { ...object.metadata, annotations: { 'fairlead.io/force': 'true' } };
  allowed(await walking.here.management.create(lbtickets, { ...object, metadata }), ['exists', 'invalid', 'denied']);
}

const edits: Record<(WalkStep & { do: 'edit' })['what'], (spec: Lbticket['spec']) => Lbticket['spec']> = {
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
  move: (spec) => ({ ...spec, loadbalancer: spec.loadbalancer === 'demo' ? 'spare' : 'demo', veip: null, ltmip: null }),
};

/** As a user does it: what admission or the server refuses does not happen, and must be refused for a reason. */
export async function edit(
  { here, wrong }: Walking,
  name: Walker,
  change: (spec: Lbticket['spec']) => Lbticket['spec'],
): Promise<void> {
  const found = here.kept.management.one(lbtickets, at(name));
  if (!found) return;
  const object = { ...found, spec: change(found.spec) };
  if (isEqual(object.spec, found.spec)) return;
  const replaced = await here.management.replace(lbtickets, object);
  allowed(replaced, ['invalid', 'denied', 'conflict', 'missing']);
  const { process } = found.status ?? {};
  const mayMove = process === undefined || process === 'created' || process === 'failed';
  const moves = (['loadbalancer', 'veip'] as const).some((field) => object.spec[field] !== found.spec[field]);
  const isRefused = !replaced.ok && (replaced.problem.code === 'invalid' || replaced.problem.code === 'denied');
  if (moves && replaced.ok && !mayMove) wrong.push(`${name} was moved while it was ${process}`);
  if (moves && isRefused && mayMove) wrong.push(`${name} may not move: ${replaced.problem.message}`);
}

export async function remove({ here }: Walking, name: Walker): Promise<void> {
  const found = here.kept.management.one(lbtickets, at(name));
  if (!found) return;
  const { resourceVersion } = found.metadata;
  allowed(await here.management.remove(lbtickets, at(name), { resourceVersion }), ['denied', 'conflict', 'missing']);
}

/** Of a ticket there is one rule, and each version of it has a value that no other has. */
export async function writeRule(walking: Walking, name: Walker, isWrong: boolean): Promise<void> {
  const { here, wrong } = walking;
  const old = here.kept.management.one(lbrules, at(`rule-${name}`));
  const value = isWrong ? '(' : `v${(walking.values += 1)}-${name}.test`;
  const object = rule(`rule-${name}`, {
    lbticket: name,
    services: [{ service: `new-${name}`, port: 8080, weight: 100 }],
    rules: [{ type: 'domain', values: [{ operator: isWrong ? 'regexp' : 'equal', value }] }],
  });
  const written = old
    ? await here.management.replace(lbrules, { ...old, spec: object.spec })
    : await here.management.create(lbrules, object);
  allowed(written, ['denied', 'invalid', 'conflict']);
  if (written.ok && isWrong) wrong.push(`a rule with the expression ${value} was let through`);
  if (written.ok && old) takenBack(walking, valueOf(old));
}

export async function removeRule(walking: Walking, name: Walker): Promise<void> {
  const { here } = walking;
  const old = here.kept.management.one(lbrules, at(`rule-${name}`));
  if (!old) return;
  const { resourceVersion } = old.metadata;
  const gone = await here.management.remove(lbrules, old.metadata, { resourceVersion });
  allowed(gone, ['conflict']);
  if (gone.ok) takenBack(walking, valueOf(old));
}

export const valueOf = ({ spec }: ReturnType<typeof rule>): string => spec.rules[0]?.values[0]?.value ?? '';

const takenBack = ({ gone, here }: Walking, value: string) => gone.set(value, here.clock.now());

async function editNetwork({ here, wrong }: Walking, step: WalkStep & { do: 'network' }): Promise<void> {
  const { of, layer, cidr, isOverlapping } = step;
  const found = here.kept.management.one(loadbalancers, { name: of });
  if (!found) throw new Error(`bug: no Loadbalancer ${of}`);
  const spec: Loadbalancer['spec'] = { ...found.spec, [layer]: { ...found.spec[layer], cidr } };
  const written = await here.management.replace(loadbalancers, { ...found, spec });
  allowed(written, ['denied', 'conflict']);
  if (written.ok && isOverlapping) wrong.push(`${of} got ${cidr}, which overlaps`);
}

/** While an application is with the approver, another is named by force alone. */
async function namePolicy({ here, wrong }: Walking, step: WalkStep & { do: 'policy' }): Promise<void> {
  const { of, at, isForced } = step;
  const found = here.kept.management.one(loadbalancers, { name: of });
  const url = approverUrls[at];
  if (!found || url === undefined || found.spec.policy.url === url) return;
  const there = here.kept.management
    .all(lbtickets)
    .filter(({ status }) => status?.application !== undefined && status.filing?.loadbalancer === of);
  const metadata = { ...found.metadata, annotations: { 'fairlead.io/force': String(isForced) } };
  const spec = { ...found.spec, policy: { provider: 'http' as const, url } };
  const written = await here.management.replace(loadbalancers, { ...found, metadata, spec });
  allowed(written, isForced ? ['conflict'] : ['denied', 'conflict']);
  if (written.ok && !isForced && there.length > 0) wrong.push(`${of} named ${url} though it has applications`);
}

type Answer = { ok: true } | { ok: false; problem: { code: string; message: string } };

/** What a user may be told. */
function allowed(answer: Answer, codes: readonly string[]): void {
  if (!answer.ok && !codes.includes(answer.problem.code)) throw new Error(answer.problem.message);
}

export async function restart({ here, management, target }: Walking): Promise<void> {
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

export const configMapOf = ({ kept }: World, loadbalancer: Balancer): ConfigMap | undefined =>
  kept.target.one(configMaps, { name: configMapName(loadbalancer), namespace: 'shop' });

/** The agent takes what the ConfigMap has to the device; when that fails, the device has some of both. */
export async function report({ here, device }: Walking, on: Balancer, isGood: boolean): Promise<void> {
  const configMap = configMapOf(here, on);
  const there = new Map(configMap && !isGood ? device.get(on) : []);
  device.set(on, there);
  if (!configMap) return;
  for (const name of Object.keys(readEntries(configMap))) {
    const address = addressIn(configMap, name);
    if (address !== undefined) there.set(name, address);
  }
  const busy = { shop_http_app: { ok: false, code: 'busy', message: 'the device is busy' } };
  await here.report(isGood ? {} : busy, on);
}
