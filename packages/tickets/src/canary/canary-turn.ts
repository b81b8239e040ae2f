// One turn of one Lbcanary: look at its target and at the device, ask the flow, write the status, tell.
import {
  canaryProblem,
  canaryServices,
  canaryTarget,
  isCanaryEnded,
  lbcanaries,
  type CanaryTransition,
  type Lbcanary,
  type LbcanaryStatus,
  type Lbticket,
} from '@fairlead/api';
import { applicationName, poolName, virtualName } from '@fairlead/as3';
import { fail, isEqual, type Problem, type Result, type Statistics } from '@fairlead/core';
import { canariesOf, laterTry, type Desk, type Next } from '../desk.ts';
import { ticketOf } from '../directory.ts';
import { onChange } from '../finding.ts';
import { createdAt, fieldManager, placeOf, tenantOf } from '../names.ts';
import { programmed } from '../programmed.ts';
import { merge, statusPatch, timeText } from '../status.ts';
import { flow, type Reading, type Step } from './flow.ts';

const longestHistory = 40;

export async function canaryTurn(desk: Desk, key: string, signal: AbortSignal): Promise<Next> {
  const canary = desk.lbcanaries.read(placeOf(key));
  if (!canary || canary.metadata.deletionTimestamp !== undefined) return onChange;
  const ticket = desk.lbtickets.read(placeOf(ticketOf(canary)));
  const problem = problemOf(desk, canary, ticket);
  const reading = await read(desk, { canary, ticket, problem }, signal);
  if (signal.aborted) return onChange;
  const step = flow(canary, { now: desk.clock.now(), problem, programmed: onDevice(desk, canary, ticket), reading });
  const written = await write(desk, canary, step);
  if (!written) return { after: laterTry(desk, `canary ${key}`) };
  desk.tries.delete(`canary ${key}`);
  return step.next === undefined ? onChange : { after: step.next };
}

/** Its target is not there, or another canary has it: the one at work keeps it, then the older, then by name. */
function problemOf(desk: Desk, canary: Lbcanary, ticket: Lbticket | undefined): Problem | undefined {
  const rules = desk.directory.rulesOf(ticketOf(canary));
  const wrong = canaryProblem(canary, { lbtickets: () => (ticket ? [ticket] : []), lbrules: () => rules });
  if (wrong) return wrong;
  const rivals = canariesOf(desk, ticketOf(canary)).filter(
    (other) => !isCanaryEnded(other) && canaryTarget(other) === canaryTarget(canary),
  );
  const [first] = rivals.sort(
    (a, b) =>
      Number(hasBegun(b)) - Number(hasBegun(a)) ||
      createdAt(a) - createdAt(b) ||
      (a.metadata.name < b.metadata.name ? -1 : 1),
  );
  if (!first || first.metadata.name === canary.metadata.name) return undefined;
  const why = `Lbcanary ${first.metadata.name} is at work there; wait for it, or roll it back`;
  return fail('taken', why, 'spec.listner').problem;
}

const hasBegun = ({ status }: Lbcanary): boolean => status?.phase !== undefined && status.phase !== 'pending';

/** While a neighbour's edit is on its way nothing new is known of ours, and what was programmed still is. */
function onDevice(desk: Desk, { status }: Lbcanary, ticket: Lbticket | undefined): { is: boolean; message: string } {
  if (ticket?.status?.process !== 'enabled') return { is: false, message: 'the ticket is not enabled' };
  const fact = programmed(desk, ticket);
  return fact
    ? { is: fact.status === 'True', message: fact.message }
    : { is: status?.since !== undefined, message: 'the weights are on their way to the device' };
}

async function read(
  desk: Desk,
  { canary, ticket, problem }: { canary: Lbcanary; ticket: Lbticket | undefined; problem: Problem | undefined },
  signal: AbortSignal,
): Promise<Result<Reading>> {
  const nothing = fail('missing', 'there is nothing to read yet');
  if (problem || !ticket || isCanaryEnded(canary) || canary.status?.phase === 'promoted') return nothing;
  const loadbalancer = desk.loadbalancers.get({ name: ticket.spec.loadbalancer });
  const listner = ticket.spec.listners?.find(({ name }) => name === canary.spec.listner);
  const rules = desk.directory.rulesOf(ticketOf(canary));
  const services = canaryServices(canary, { lbtickets: () => [ticket], lbrules: () => rules });
  if (!loadbalancer || !listner || 'problem' in services) return nothing;
  const { namespace } = ticket.spec;
  const own = poolName(canary.spec.service, canary.spec.port);
  const others = services
    .filter(({ weight }) => weight > 0)
    .map(({ service, port }) => poolName(service, port))
    .filter((pool) => pool !== own);
  const question = {
    key: `${tenantOf(loadbalancer, namespace)}/${applicationName(namespace, listner.protocal)}`,
    listener: virtualName(ticket.metadata.name, listner.port),
    pools: [own, ...others],
  };
  const got = await desk.statistics(loadbalancer, question, signal);
  return got.ok ? { ok: true, value: readingOf(got.value, own) } : got;
}

/** Requests of tcp and udp listners are connections: nobody looks into them. */
function readingOf({ listener, pools }: Statistics, own: string): Reading {
  const canary = pools[own] ?? { requests: 0, connections: 0, members: 0, available: 0 };
  const others = Object.entries(pools).flatMap(([name, pool]) => (name === own ? [] : [pool]));
  const sum = (of: (pool: typeof canary) => number) => others.reduce((total, pool) => total + of(pool), 0);
  return {
    countsErrors: listener !== undefined,
    counts: {
      requests: listener?.requests ?? canary.connections + sum(({ connections }) => connections),
      errors: listener?.errors ?? 0,
      unanswered: listener?.unanswered ?? 0,
      canaryRequests: listener ? canary.requests : canary.connections,
    },
    open: listener?.open ?? 0,
    members: {
      canaryAvailable: canary.available,
      canaryMembers: canary.members,
      baselineAvailable: sum(({ available }) => available),
      baselineMembers: sum(({ members }) => members),
    },
  };
}

/** Over the version that was read: of two controllers that step at once, the second one's write fails, and it looks again. */
async function write(desk: Desk, canary: Lbcanary, step: Step): Promise<boolean> {
  const { name, namespace, generation = 0, resourceVersion } = canary.metadata;
  const before = canary.status ?? {};
  const time = timeText(desk.clock.now());
  const { move } = step;
  const after: LbcanaryStatus = {
    ...step.status,
    observedGeneration: generation,
    conditions: merge(before.conditions ?? [], step.facts, { time, observed: generation }),
    ...(move ? { history: history(before, { time, why: move.why, after: step.status }) } : {}),
  };
  if (isEqual(before, after)) return true;
  const body = statusPatch(before, after);
  const patch = { type: 'merge' as const, body: { metadata: { resourceVersion }, status: body ?? {} } };
  const written = await desk.kube.patch(lbcanaries, { name, namespace }, patch, {
    subresource: 'status',
    fieldManager,
  });
  if (!written.ok) {
    if (written.problem.code === 'missing') return true;
    desk.log(`Lbcanary ${namespace}/${name}: its status is not written: ${written.problem.message}`);
    return false;
  }
  desk.lbcanaries.wrote(written.value, resourceVersion);
  if (move) tell(desk, written.value, { ...move, from: labelOf(before), to: labelOf(step.status) });
  return true;
}

function history(
  before: LbcanaryStatus,
  { time, why, after }: { time: string; why: string; after: LbcanaryStatus },
): CanaryTransition[] {
  const from = before.phase ? { from: labelOf(before) } : {};
  const line = { when: time, ...from, to: labelOf(after), why: why.slice(0, 4096) };
  return [...(before.history ?? []), line].slice(-longestHistory);
}

/** `shifting 20 %`. */
const labelOf = ({ phase = 'pending', weight }: LbcanaryStatus): string =>
  weight === undefined ? phase : `${phase} ${weight} %`;

const titles = {
  pending: 'Pending',
  baseline: 'Measuring',
  shifting: 'Shifted',
  promoted: 'Promoted',
  aborted: 'Aborted',
  rolledback: 'RolledBack',
} as const;

/** Said beside the turns: the history has it too. */
function tell(
  desk: Desk,
  canary: Lbcanary,
  { phase, from, to, why }: NonNullable<Step['move']> & { from: string; to: string },
): void {
  const { namespace = '', name } = canary.metadata;
  desk.changed({ turn: 'canary', canary: `${namespace}/${name}`, from, to, why });
  const type = phase === 'aborted' ? 'Warning' : 'Normal';
  desk.teller.tell(canary, [{ type, reason: titles[phase], message: `${to}: ${why}` }]);
}
