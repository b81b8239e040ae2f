// One turn of one F5 Ingress: the address and partition of its ticket are written there, and taken back. What controller
// and agent say to each other stands in its annotations: the claim is ours, the report the agent's.
import {
  claimOf,
  ingressAnnotations,
  ingressFinalizer,
  reportOf,
  ticketOfIngress,
  type Loadbalancer,
  type VipClaim,
} from '@fairlead/api';
import { isEqual, type Problem } from '@fairlead/core';
import { ingresses, recorder, type Ingress } from '@fairlead/kube';
import { laterTry, type Desk, type FreshTarget, type Next } from './desk.ts';
import { onChange, said } from './finding.ts';
import { wishOf, type IngressWish, type Vip } from './ingress-wish.ts';
import { fieldManager, placeOf } from './names.ts';

/*
 *                 wanted            not wanted any more          agent: gone
 *   no claim -------------> claim -----------------> withdrawn ---------------> no claim
 *                             ^                          |
 *                             '--- wanted again ---------'
 *
 *  The finalizer is there as long as the claim is. A CIS of somebody else's does not report back: with `external` a claim
 *  that is not wanted any more goes when the LTM leads there no longer, and there is no finalizer. Another ticket, partition or address is first
 *  taken from what was there.
 */
export async function ingressTurn(desk: Desk, key: string): Promise<Next> {
  const [cluster = '', namespace = '', name = ''] = key.split('/');
  const target = desk.target(cluster);
  const ingress = target?.ingresses?.read({ namespace, name });
  if (!target || !ingress) return onChange;
  const wish = wishFor(desk, cluster, ingress);
  const before = claimOf(ingress);
  const loadbalancer = loadbalancerOf(desk, before?.ticket ?? wish.vip?.ticket);
  const after = nextClaim(desk, ingress, { vip: wish.vip, loadbalancer });
  const body = patchOf(ingress, {
    claim: after,
    problem: wish.problem,
    isExternal: loadbalancer?.spec.cis.mode === 'external',
  });
  if (!body) return onChange;
  const { resourceVersion } = ingress.metadata;
  const at = { namespace, name };
  const written = await target.kube.patch(
    ingresses,
    at,
    { type: 'merge', body: { metadata: { resourceVersion, ...body } } },
    { fieldManager },
  );
  if (!written.ok) {
    if (written.problem.code === 'missing') return onChange;
    // Somebody wrote it meanwhile: the watch brings that, and with it the next turn.
    if (written.problem.code === 'conflict') return { after: 100 };
    desk.log(`Ingress ${cluster}/${namespace}/${name}: ${written.problem.message}`);
    return { after: laterTry(desk, `ingress ${key}`) };
  }
  desk.tries.delete(`ingress ${key}`);
  target.ingresses?.wrote(written.value, resourceVersion);
  await tell(desk, target, { ingress, before, after, problem: wish.problem });
  for (const claim of [before, after]) {
    if (!claim) continue;
    desk.queue.add(`ticket ${claim.ticket}`);
    const of = loadbalancerOf(desk, claim.ticket);
    // The namespace's labels are written with the ConfigMap, and lean on whether any Ingress is served there.
    if (of && !isEqual(before, after)) desk.queue.add(`configmap ${of.metadata.name}/${namespace}`);
  }
  // A claim that went may have made room for another.
  return after ? onChange : { after: 0 };
}

function wishFor(desk: Desk, cluster: string, ingress: Ingress): IngressWish {
  const name = ticketOfIngress(ingress);
  const ticket = name === undefined ? undefined : desk.lbtickets.read(placeOf(name));
  return wishOf({ ingress, cluster, ticket, loadbalancer: loadbalancerOf(desk, name) });
}

function loadbalancerOf(desk: Desk, ticket: string | undefined): Loadbalancer | undefined {
  const found = ticket === undefined ? undefined : desk.lbtickets.read(placeOf(ticket));
  return found && desk.loadbalancers.get({ name: found.spec.loadbalancer });
}

/** `loadbalancer`: of the claim that is there, or else of the one to come. Without it nobody is there to report. */
function nextClaim(
  desk: Desk,
  ingress: Ingress,
  { vip, loadbalancer }: { vip: Vip | undefined; loadbalancer: Loadbalancer | undefined },
): VipClaim | undefined {
  const before = claimOf(ingress);
  // A version of the object names an edit like nothing else does, and comes only once.
  const revision = ingress.metadata.resourceVersion ?? '';
  if (!before) return vip && { revision, ...vip, wanted: true };
  const { ticket, partition, ip } = before;
  if (vip && isEqual(vip, { ticket, partition, ip }))
    return before.wanted ? before : { ...before, revision, wanted: true };
  if (!loadbalancer) return undefined;
  // Our agent waits for the LTM itself, a CIS of somebody else's only goes by what stands here.
  if (loadbalancer.spec.cis.mode === 'external') return isLedTo(desk, ticket) ? before : undefined;
  if (before.wanted) return { ...before, revision, wanted: false };
  return reportOf(ingress)?.gone ? undefined : before;
}

/** Has the LTM not confirmed yet that it leads only to what is to stay? */
function isLedTo(desk: Desk, ticket: string): boolean {
  const found = desk.lbtickets.read(placeOf(ticket));
  const state = (found && desk.surroundings?.ltm?.(found)) ?? 'none';
  return typeof state === 'object' || state === 'pending';
}

interface Wanted {
  claim: VipClaim | undefined;
  problem: Problem | undefined;
  isExternal: boolean;
}

/** What of the object's metadata is to change; undefined when all is as it should be. */
function patchOf({ metadata }: Ingress, { claim, problem, isExternal }: Wanted): object | undefined {
  const { annotations = {}, finalizers = [] } = metadata;
  const hadClaim = annotations[ingressAnnotations.vip] !== undefined;
  const vip = claim?.wanted ? claim : undefined;
  const wanted: Record<string, string | null> = {
    [ingressAnnotations.vip]: claim ? JSON.stringify(claim) : null,
    [ingressAnnotations.refused]: problem ? said(problem) : null,
    // What CIS reads of an Ingress that never was ours is the business of others.
    ...(hadClaim || claim
      ? { [ingressAnnotations.ip]: vip?.ip ?? null, [ingressAnnotations.partition]: vip?.partition ?? null }
      : {}),
    ...(hadClaim && !claim ? { [ingressAnnotations.status]: null } : {}),
  };
  const changed = Object.entries(wanted).filter(([key, value]) => (annotations[key] ?? null) !== value);
  const others = finalizers.filter((one) => one !== ingressFinalizer);
  const kept = claim && !isExternal ? [...others, ingressFinalizer] : others;
  const isKept = kept.length === finalizers.length;
  if (changed.length === 0 && isKept) return undefined;
  return {
    ...(changed.length > 0 ? { annotations: Object.fromEntries(changed) } : {}),
    ...(isKept ? {} : { finalizers: kept }),
  };
}

interface News {
  ingress: Ingress;
  before: VipClaim | undefined;
  after: VipClaim | undefined;
  problem: Problem | undefined;
}

/** Events on the Ingress, where its user looks. The annotations have it too, so nothing waits for a lost one. */
async function tell(desk: Desk, target: FreshTarget, { ingress, before, after, problem }: News): Promise<void> {
  const telling = recorder({ kube: target.kube, clock: desk.clock, component: 'fairlead-tickets' });
  const isTold = problem && said(problem) === ingress.metadata.annotations?.[ingressAnnotations.refused];
  const news =
    problem && !isTold
      ? { type: 'Warning' as const, reason: 'Refused', message: said(problem) }
      : after?.wanted && !before?.wanted
        ? {
            type: 'Normal' as const,
            reason: 'AddressGiven',
            message: `address ${after.ip} of Lbticket ${after.ticket}`,
          }
        : before?.wanted && !after?.wanted
          ? {
              type: 'Normal' as const,
              reason: 'AddressWithdrawn',
              message: `address ${before.ip} of Lbticket ${before.ticket}`,
            }
          : undefined;
  // To an object that is gone nobody looks any longer.
  if (!news || (ingress.metadata.deletionTimestamp !== undefined && !after)) return;
  const told = await telling.event(ingress, news);
  if (!told.ok)
    desk.log(
      `Ingress ${ingress.metadata.namespace}/${ingress.metadata.name}: its Event ${news.reason} is lost: ${told.problem.message}`,
    );
}
