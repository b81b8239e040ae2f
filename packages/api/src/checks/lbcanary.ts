// Whether an Lbcanary may be written or removed, and what its target may not lose meanwhile.
import type { Problem } from '@fairlead/core';
import { type Lbcanary, canaryTarget, isCanaryEnded, lbcanary as definition } from '../lbcanary.ts';
import { forceAnnotation } from '../lbticket.ts';
import type { WeightedService } from '../services.ts';
import { checkStructure, isUntouched } from './structure.ts';
import { type World, isSame, nameOf, ticketNamed } from './world.ts';

/** Problems of writing `object`; `old` is what is there before, if anything. */
export function checkLbcanary(object: Lbcanary, old: Lbcanary | undefined, world: World): Problem[] {
  if (isUntouched(object, old)) return [];
  const wrong = checkStructure(definition, object, old);
  if (wrong.length > 0) return wrong;
  // What is shifted cannot change, so an edit is about pace and outcome only, and has to work whatever became of the target.
  if (old) return [];
  const problem = canaryProblem(object, world);
  return problem ? [problem] : checkAlone(object, world);
}

/** What of its target is missing, or does not fit. */
export function canaryProblem(canary: Lbcanary, world: Pick<World, 'lbtickets' | 'lbrules'>): Problem | undefined {
  const services = canaryServices(canary, world);
  return 'problem' in services ? services.problem : problemOfServices(canary, services);
}

/**
 * Problems of removing the object: what it gave the canary goes back at once, which for a promoted one is an outage
 * nobody asked for.
 */
export function checkLbcanaryRemoval(object: Lbcanary, world: World): Problem[] {
  if (object.status?.phase !== 'promoted' || object.metadata.annotations?.[forceAnnotation] === 'true') return [];
  const services = canaryServices(object, world);
  if ('problem' in services) return [];
  const others = services.filter((one) => !isCanary(object, one) && one.weight > 0);
  if (others.length === 0) return [];
  const message = `removing it gives requests back to ${others.map(({ service }) => service).join(', ')}: give ${object.spec.service} all the weight in ${whereOf(object)} first (fairlead canary finish does both), roll it back, or annotate ${forceAnnotation}="true"`;
  return [{ code: 'denied', message, path: 'metadata.name' }];
}

/** The Services that the canary is one of, with the weights in the ticket or rule. */
export function canaryServices(
  { metadata, spec }: Lbcanary,
  world: Pick<World, 'lbtickets' | 'lbrules'>,
): WeightedService[] | { problem: Problem } {
  const ticket = ticketNamed(world, metadata.namespace, spec.lbticket);
  if (!ticket)
    return missing('spec.lbticket', `there is no Lbticket ${spec.lbticket}: file it first, or correct the name`);
  const listner = ticket.spec.listners?.find(({ name }) => name === spec.listner);
  if (!listner) {
    const names = (ticket.spec.listners ?? []).map(({ name }) => name).join(', ') || 'none';
    return missing('spec.listner', `Lbticket ${spec.lbticket} has no listner ${spec.listner}; it has ${names}`);
  }
  if (spec.lbrule === undefined) return listner.services;
  for (const rule of world.lbrules()) {
    if (rule.metadata.name !== spec.lbrule || rule.metadata.namespace !== metadata.namespace) continue;
    if (rule.spec.lbticket === spec.lbticket && rule.spec.listner === spec.listner) return rule.spec.services;
    const on = `listner ${rule.spec.listner} of Lbticket ${rule.spec.lbticket}`;
    return missing('spec.lbrule', `Lbrule ${spec.lbrule} is on ${on}: name these, or another rule`);
  }
  return missing('spec.lbrule', `there is no Lbrule ${spec.lbrule}: make it first, or correct the name`);
}

/** What of canaries that have not ended would no longer fit, were the world as given. */
export function droppedByCanary(
  world: Pick<World, 'lbtickets' | 'lbrules' | 'lbcanaries'>,
  concerns: (canary: Lbcanary) => boolean,
): Problem[] {
  return [...(world.lbcanaries?.() ?? [])]
    .filter((canary) => !isCanaryEnded(canary) && concerns(canary))
    .flatMap((canary): Problem[] => {
      const problem = canaryProblem(canary, world);
      if (!problem || isFinished(canary, canaryServices(canary, world))) return [];
      const message = `Lbcanary ${nameOf(canary)} shifts requests to Service ${canary.spec.service} there, and then ${problem.message}; roll it back or delete it first`;
      return [{ code: 'denied', message, path: 'spec.services' }];
    });
}

/** Once promoted, the others may go. */
const isFinished = (canary: Lbcanary, services: WeightedService[] | { problem: Problem }): boolean =>
  canary.status?.phase === 'promoted' &&
  !('problem' in services) &&
  services.some((one) => isCanary(canary, one) && one.weight > 0);

const isCanary = ({ spec }: Lbcanary, { service, port }: WeightedService): boolean =>
  service === spec.service && port === spec.port;

const whereOf = ({ spec }: Lbcanary): string =>
  spec.lbrule === undefined ? `listner ${spec.listner} of Lbticket ${spec.lbticket}` : `Lbrule ${spec.lbrule}`;

function problemOfServices(canary: Lbcanary, services: readonly WeightedService[]): Problem | undefined {
  const { service, port } = canary.spec;
  const where = whereOf(canary);
  if (!services.some((one) => isCanary(canary, one))) {
    const known = services.map((one) => `${one.service}:${one.port}`).join(', ');
    return missing(
      'spec.service',
      `${where} has no Service ${service} with port ${port}, only ${known}: add it there with weight 0`,
    ).problem;
  }
  if (services.some((one) => !isCanary(canary, one) && one.weight > 0)) return undefined;
  const message = `all requests of ${where} go to ${service} already: there is nothing to shift, and nothing to compare with`;
  return { code: 'invalid', message, path: 'spec.service' };
}

function checkAlone(object: Lbcanary, world: World): Problem[] {
  for (const other of world.lbcanaries?.() ?? []) {
    if (isSame(other, object) || isCanaryEnded(other) || canaryTarget(other) !== canaryTarget(object)) continue;
    const message = `Lbcanary ${nameOf(other)} is at work on ${whereOf(object)} (${other.status?.phase ?? 'new'}): wait for it, roll it back, or finish it`;
    return [{ code: 'taken', message, path: 'spec.listner' }];
  }
  return [];
}

const missing = (path: string, message: string): { problem: Problem } => ({
  problem: { code: 'missing', message, path },
});
