// One turn of one Loadbalancer: its status is projected from the tickets, which are the truth.
import { loadbalancers, type Loadbalancer, type LoadbalancerIp, type LoadbalancerStatus } from '@fairlead/api';
import { isEqual } from '@fairlead/core';
import { addressList } from './address-list.ts';
import { laterTry, type Desk, type Next } from './desk.ts';
import { failed, holds, onChange } from './finding.ts';
import { deviceFact, nextForDevice } from './device-fact.ts';
import { reach, type Reached } from './reach.ts';
import { resting, wakeShown } from './quarantine.ts';
import { fieldManager, placeOf } from './names.ts';
import { merge, statusPatch, timeText, type Fact } from './status.ts';
import { supply, supplyTold } from './supply.ts';

export async function loadbalancerTurn(desk: Desk, name: string): Promise<Next> {
  const loadbalancer = desk.loadbalancers.get({ name });
  if (!loadbalancer) return onChange;
  const reached = reach(desk, loadbalancer.spec.cluster);
  const next = sooner(reached.ok ? onChange : reached.next, nextForDevice(desk, name));
  const after = statusOf(desk, loadbalancer, reached);
  if (isEqual(loadbalancer.status, after)) {
    wakeShown(desk, after);
    return next;
  }
  const { resourceVersion } = loadbalancer.metadata;
  const status = statusPatch(loadbalancer.status ?? {}, after);
  const patch = { type: 'merge' as const, body: { metadata: { resourceVersion }, status } };
  const written = await desk.kube.patch(loadbalancers, { name }, patch, { subresource: 'status', fieldManager });
  if (written.ok) {
    desk.tries.delete(`loadbalancer ${name}`);
    tell(desk, loadbalancer, after);
    wakeShown(desk, after);
    return next;
  }
  if (written.problem.code === 'missing') return onChange;
  // Others write conditions of theirs beside ours; the watch brings what they wrote, and then ours fits.
  if (written.problem.code === 'conflict') return { after: 100 };
  desk.log(`Loadbalancer ${name}: its status is not written: ${written.problem.message}`);
  return { after: laterTry(desk, `loadbalancer ${name}`) };
}

function statusOf(desk: Desk, loadbalancer: Loadbalancer, reached: Reached): LoadbalancerStatus {
  const { name, generation = 0 } = loadbalancer.metadata;
  const { moreIps: _, ...before } = loadbalancer.status ?? {};
  const capacity = desk.ledger.capacity(name);
  const facts = factsOf(desk, loadbalancer, reached);
  const at = { time: timeText(desk.clock.now()), observed: generation };
  const conditions = merge(before.conditions ?? [], facts, at);
  return {
    ...before,
    observedGeneration: generation,
    ...addressList(pairsOf(desk, name), resting(desk, name)),
    ...(capacity ? { capacity } : {}),
    conditions,
  };
}

function factsOf(desk: Desk, loadbalancer: Loadbalancer, reached: Reached): Record<string, Fact> {
  const { name } = loadbalancer.metadata;
  const wrong = desk.ledger.problem(name);
  const capacity = desk.ledger.capacity(name);
  const device = deviceFact(desk, loadbalancer);
  const DeviceReachable = device ? { DeviceReachable: device } : {};
  const AddressesAvailable = wrong ? failed(wrong) : supply(capacity);
  // A cluster that was not read yet says nothing about itself: what was known of it stays.
  if (!reached.ok && !reached.isNews)
    return { ...DeviceReachable, AddressesAvailable, ...(wrong ? { Ready: failed(wrong) } : {}) };
  const ClusterReachable = reached.ok ? holds('Connected') : failed(reached.problem);
  const inTheWay = [wrong ? failed(wrong) : holds('Ready'), ClusterReachable, ...(device ? [device] : [])];
  const Ready = inTheWay.find(({ status }) => status === 'False') ?? holds('Ready');
  return { ...DeviceReachable, ClusterReachable, AddressesAvailable, Ready };
}

const sooner = (a: Next, b: Next): Next =>
  a.after === 'change' || b.after === 'change' ? (a.after === 'change' ? b : a) : { after: Math.min(a.after, b.after) };

/** An Event for each of these that turned; that it was good from the start is no news. */
function tell(desk: Desk, loadbalancer: Loadbalancer, after: LoadbalancerStatus): void {
  desk.teller.tell(loadbalancer, supplyTold(loadbalancer.status, after));
  for (const type of ['ClusterReachable', 'DeviceReachable']) {
    const [was, is] = [loadbalancer.status, after].map((status) =>
      status?.conditions?.find((one) => one.type === type),
    );
    if (!is || is.status === was?.status || is.status === 'Unknown' || (!was && is.status === 'True')) continue;
    const isGood = is.status === 'True';
    const reason = isGood ? type : type.replace('Reachable', 'Unreachable');
    const message = isGood ? `${type.replace('Reachable', '').toLowerCase()} answers again` : is.message;
    desk.teller.tell(loadbalancer, [{ type: isGood ? 'Normal' : 'Warning', reason, message }]);
  }
}

/** Those of its tickets, in no order. */
function pairsOf(desk: Desk, loadbalancer: string): LoadbalancerIp[] {
  const pairs: LoadbalancerIp[] = [];
  for (const ticket of desk.directory.ofLoadbalancer(loadbalancer)) {
    const { veip, ltmip, process } = desk.lbtickets.read(placeOf(ticket))?.status ?? {};
    if (!veip || !ltmip) continue;
    const status = process === 'enabled' || process === 'disabled' ? 'bond' : 'reserved';
    pairs.push({ veip, ltmip, status, ticket });
  }
  return pairs;
}
