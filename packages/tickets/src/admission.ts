// Is a ticket valid, and can it have its addresses? Asked for new tickets, and again for edited and failed ones.
import { lbtickets, type Lbticket, type Loadbalancer } from '@fairlead/api';
import { fail, type Problem, type Result } from '@fairlead/core';
import type { Desk } from './desk.ts';
import type { Pair } from './ledger.ts';
import { annotations, createdAt, fieldManager, finalizer, ticketName } from './names.ts';

/** What of the desk this needs. */
export type AdmissionDesk = Pick<Desk, 'kube' | 'loadbalancers' | 'target' | 'outlineOf' | 'ledger'> & {
  lbtickets: Pick<Desk['lbtickets'], 'isShown' | 'wrote'>;
};

/**
 * `wait`: the addresses were written now, and the ticket goes on once the API server shows it.
 * `unwritten`: they could not be written; nothing is wrong with the ticket.
 */
export type Admitted =
  | { found: 'pair'; pair: Pair }
  | { found: 'wait' }
  | { found: 'unwritten'; problem: Problem }
  | { found: 'problem'; problem: Problem };

export async function admit(desk: AdmissionDesk, ticket: Lbticket): Promise<Admitted> {
  const admitted = await addressesOf(desk, ticket);
  // Only who is refused for want of an address waits for one; the others would keep the next in the list from it.
  if (admitted.found === 'problem' && admitted.problem.code !== 'exhausted' && admitted.problem.code !== 'taken')
    desk.ledger.leave(ticketName(ticket));
  return admitted;
}

async function addressesOf(desk: AdmissionDesk, ticket: Lbticket): Promise<Admitted> {
  const loadbalancer = desk.loadbalancers.get({ name: ticket.spec.loadbalancer });
  if (!loadbalancer) {
    const why = `Loadbalancer "${ticket.spec.loadbalancer}" does not exist; create it, or name another`;
    return refused(fail('missing', why, 'spec.loadbalancer').problem);
  }
  // A new ticket is compiled with the address that it gets, and so once. Is it refused, that comes free with the refusal.
  const early = ticket.status?.process === undefined ? takePair(desk, ticket) : undefined;
  const problem = invalid(desk, ticket, { loadbalancer, pair: early?.ok ? early.value : undefined });
  if (problem) return refused(problem);
  const taken = early ?? takePair(desk, ticket);
  if (!taken.ok) return refused(taken.problem);
  const body = missingIn(ticket, taken.value);
  if (body) return writeSpec(desk, ticket, body);
  // Two controllers may work side by side for a moment. What both wrote, both are shown in the same order, and the
  // first counts: so only what the watch has brought is taken as ours.
  return desk.lbtickets.isShown(at(ticket)) ? { found: 'pair', pair: taken.value } : { found: 'wait' };
}

const refused = (problem: Problem): Admitted => ({ found: 'problem', problem });

const at = (ticket: Lbticket) => ({ name: ticket.metadata.name, namespace: ticket.metadata.namespace });

function invalid(
  desk: AdmissionDesk,
  ticket: Lbticket,
  { loadbalancer, pair }: { loadbalancer: Loadbalancer; pair: Pair | undefined },
): Problem | undefined {
  const { cluster } = loadbalancer.spec;
  const { namespace } = ticket.spec;
  const namespaces = desk.target(cluster)?.stores.namespaces;
  // A cluster that cannot be reached is no fault of the ticket's; writing its ConfigMap waits for it.
  if (namespaces?.synced && !namespaces.get({ name: namespace })) {
    const why = `namespace "${namespace}" does not exist in cluster ${cluster}; create it there, or name another`;
    return fail('missing', why, 'spec.namespace').problem;
  }
  // Without an address with the one that is asked for, or any: what is wrong with listners and rules does not hang on it.
  const asked = ticket.spec.veip || loadbalancer.spec.ve.cidr.split('/')[0] || '';
  const veip = ticket.status?.veip ?? pair?.veip ?? asked;
  const outline = desk.outlineOf({ ...ticket, status: { ...ticket.status, veip } }, loadbalancer);
  return outline.ok ? undefined : outline.problem;
}

/** What was chosen by us and not asked for may be chosen again, when the ticket moves or another has it by now. */
function takePair(desk: AdmissionDesk, ticket: Lbticket): Result<Pair> {
  const { loadbalancer, veip, ltmip } = ticket.spec;
  const applicant = { name: ticketName(ticket), created: createdAt(ticket) };
  const asked = desk.ledger.take(loadbalancer, applicant, { veip, ltmip });
  if (asked.ok) return asked;
  const ours = allocatedOf(ticket);
  const own = { veip: veip === ours.veip ? undefined : veip, ltmip: ltmip === ours.ltmip ? undefined : ltmip };
  if (own.veip === veip && own.ltmip === ltmip) return asked;
  return desk.ledger.take(loadbalancer, applicant, own);
}

function allocatedOf(ticket: Lbticket): Partial<Pair> {
  const [veip = '', ltmip = ''] = (ticket.metadata.annotations?.[annotations.allocated] ?? '').split(',');
  return { ...(veip ? { veip } : {}), ...(ltmip ? { ltmip } : {}) };
}

/** The patch that writes the pair and the finalizer, if the ticket lacks any of it. */
function missingIn(ticket: Lbticket, pair: Pair): Record<string, unknown> | undefined {
  const { metadata, spec } = ticket;
  const ours = allocatedOf(ticket);
  const veip = chosen(spec.veip, pair.veip, ours.veip);
  const ltmip = chosen(spec.ltmip, pair.ltmip, ours.ltmip);
  const finalizers = metadata.finalizers ?? [];
  if (veip === undefined && ltmip === undefined && finalizers.includes(finalizer)) return undefined;
  const allocated = `${veip ?? ours.veip ?? ''},${ltmip ?? ours.ltmip ?? ''}`;
  return {
    metadata: {
      resourceVersion: metadata.resourceVersion,
      finalizers: [...new Set([...finalizers, finalizer])],
      ...(allocated === ',' ? {} : { annotations: { [annotations.allocated]: allocated } }),
    },
    spec: { ...(veip === undefined ? {} : { veip }), ...(ltmip === undefined ? {} : { ltmip }) },
  };
}

/** What has to be written: nothing where the user named the address, in whatever spelling. */
const chosen = (asked: string | null | undefined, given: string, ours: string | undefined): string | undefined =>
  !asked || (asked === ours && asked !== given) ? given : undefined;

/** Before anything is filed: the pair stands in the ticket for all to see, or the write fails and nothing is lost. */
async function writeSpec(desk: AdmissionDesk, ticket: Lbticket, body: Record<string, unknown>): Promise<Admitted> {
  const written = await desk.kube.patch(lbtickets, at(ticket), { type: 'merge', body }, { fieldManager });
  if (!written.ok) return { found: 'unwritten', problem: written.problem };
  desk.lbtickets.wrote(written.value, ticket.metadata.resourceVersion);
  return { found: 'wait' };
}
