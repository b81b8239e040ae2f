// What a turn found becomes the ticket's status, and what has to follow, in the order that survives a crash between any two writes.
import { changedByAnnotation, lbtickets, longestUser, type Lbticket } from '@fairlead/api';
import type { Told } from '@fairlead/kube';
import { certificateNews } from './certificates.ts';
import { labelNews } from './label-conflicts.ts';
import { turnNews } from './news.ts';
import { serviceNews } from './services.ts';
import { laterTry, type Desk, type Next } from './desk.ts';
import { configMapKey } from './directory.ts';
import { failed, fails, onChange, stay, type Finding } from './finding.ts';
import { filingNow } from './filing.ts';
import type { State, Step } from './life.ts';
import { fieldManager, ticketName } from './names.ts';
import { isAnsweredHere, withdraw } from './policy.ts';
import { clearanceOf, factsOf } from './programmed.ts';
import { rest } from './quarantine.ts';
import { conditionOf, isTrue, statusAfter, statusPatch, type Fact } from './status.ts';
import { wakeConfigMap, wakeLoadbalancer } from './wake.ts';

/** A ticket in a turn: as the API server has it, as it shall be, and the moves in between that are not written yet. */
export interface Draft {
  stored: Lbticket;
  ticket: Lbticket;
  moves: readonly Move[];
}

interface Move {
  finding: Finding;
  moved: Step;
}

export type Settled = { ok: true; draft: Draft } | { ok: false; next: Next };

export const stateOf = (ticket: Lbticket): State => ticket.status?.process ?? 'new';

/** Waits of writes that failed are counted apart from those for the approver. */
export const writeKey = (name: string): string => `write ${name}`;

/**
 *   the step                                       | its write
 *   -----------------------------------------------+----------------------------------------------------------
 *   withdraws, programs, unprograms, releases      | at once, with all that was not written yet
 *   to created or apply, approver answers here     | with the next: nobody else heard of what a crash forgets
 *   to created or apply, approver is somewhere else| at once: what is filed has to be known to be filed
 *   none                                           | at once, if anything is new
 */
export async function settle(
  desk: Desk,
  draft: Draft,
  { finding, moved }: { finding: Finding; moved: Step | undefined },
): Promise<Settled> {
  const { ticket } = draft;
  if (moved?.effects.includes('withdraw')) {
    if (isTrue(ticket, 'NetworkPolicyOpen')) {
      // Said before it is done: who comes after a crash, or after another edit, must not take the network for open.
      const told = stay({ NetworkPolicyOpen: fails('withdrawn', 'the application is being withdrawn') });
      const marked = await write(desk, drafted(desk, draft, { finding: told, moved: undefined }));
      return marked.ok ? settle(desk, marked.draft, { finding, moved }) : marked;
    }
    const gone = await withdraw(desk, ticket);
    if (!gone.ok) {
      // Nothing else is done before: an application without a ticket would keep the network open for ever.
      const told = stay({ NetworkPolicyOpen: failed(gone.problem) });
      const written = await write(desk, drafted(desk, draft, { finding: told, moved: undefined }));
      return written.ok ? { ok: false, next: { after: laterTry(desk, `withdraw ${ticketName(ticket)}`) } } : written;
    }
  }
  const facts = { ...outlook(desk, ticket, moved), ...finding.facts };
  const after = drafted(desk, draft, { finding: withdrawn({ ...finding, facts }, moved), moved });
  return moved && isGathered(desk, after.ticket, moved) ? { ok: true, draft: after } : write(desk, after);
}

const isGathered = (desk: Desk, ticket: Lbticket, moved: Step): boolean =>
  moved.effects.length === 0 && (moved.to === 'created' || moved.to === 'apply') && isAnsweredHere(desk, ticket);

function drafted(desk: Desk, draft: Draft, { finding, moved }: { finding: Finding; moved: Step | undefined }): Draft {
  const { stored, ticket, moves } = draft;
  const to = moved?.to === 'new' ? undefined : moved?.to;
  const transition = to ? { to, why: finding.why, who: whoOf(ticket, finding) } : undefined;
  const isRefiled = moved?.to === 'created' && moved.effects.includes('withdraw');
  const filing = finding.filing === undefined ? adopted(desk, ticket) : finding.filing;
  const change = { ...finding, filing, isRefiled, transition, observed: observedBy(ticket, finding) };
  const status = statusAfter(ticket, change, desk.clock.now());
  return { stored, ticket: { ...ticket, status }, moves: moved ? [...moves, { finding, moved }] : moves };
}

/** What a ticket of before this was written down has at an approver was filed with the one of today. */
const adopted = (desk: Desk, ticket: Lbticket): Finding['filing'] =>
  ticket.status?.application !== undefined && ticket.status.filing === undefined ? filingNow(desk, ticket) : undefined;

/** Events that an edit of the ticket brings about; the others are the approver's, or the world's. */
const byEdit: readonly Finding['event'][] = ['allocated', 'refused', 'disable', 'enable', 'refile', 'cleared'];

/** The user, where admission saw one. Who removed an object left no name on it: a review of DELETE changes nothing. */
function whoOf(ticket: Lbticket, { event, who }: Finding): string | undefined {
  if (who !== undefined) return who;
  const { annotations: all = {}, deletionTimestamp, generation } = ticket.metadata;
  const isAnswer = event === 'allocated' || event === 'refused';
  const isOld = isAnswer && generation === ticket.status?.observedGeneration;
  if (deletionTimestamp !== undefined || isOld || !byEdit.includes(event)) return undefined;
  return all[changedByAnnotation]?.slice(0, longestUser);
}

async function write(desk: Desk, { stored, ticket, moves }: Draft): Promise<Settled> {
  const name = ticketName(ticket);
  const body = statusPatch(stored.status ?? {}, ticket.status ?? {});
  // A ticket that waits for its own write to be shown has nothing to say yet.
  if (!body || (moves.length === 0 && stateOf(stored) === 'new')) return { ok: true, draft: written(stored) };
  const { resourceVersion } = stored.metadata;
  const patch = { type: 'merge' as const, body: { metadata: { resourceVersion }, status: body } };
  const at = { name: stored.metadata.name, namespace: stored.metadata.namespace };
  const sent = await desk.kube.patch(lbtickets, at, patch, { subresource: 'status', fieldManager });
  if (!sent.ok) {
    if (sent.problem.code === 'missing') return { ok: false, next: onChange };
    // Somebody edits it in this moment; the watch brings the edit, and with it the next turn.
    if (sent.problem.code !== 'conflict')
      desk.log(`ticket ${name}: its status is not written: ${sent.problem.message}`);
    return { ok: false, next: { after: laterTry(desk, writeKey(name)) } };
  }
  desk.tries.delete(writeKey(name));
  if (sent.value.status?.application !== undefined) desk.filing.delete(name);
  desk.lbtickets.wrote(sent.value, resourceVersion);
  for (const move of moves) follow(desk, sent.value, move);
  tellChanges(desk, stored, moves);
  tellNews(desk, stored, sent.value, moves);
  return { ok: true, draft: written(sent.value) };
}

function tellNews(desk: Desk, before: Lbticket, after: Lbticket, moves: readonly Move[]): void {
  const told = [
    ...moves.map(toldOf),
    ...certificateNews(before, after),
    ...serviceNews(before, after),
    ...labelNews(before, after),
  ];
  const [was, is] = [conditionOf(before, 'Programmed'), conditionOf(after, 'Programmed')];
  const news = turnNews(desk.troubled, `ticket ${ticketName(after)}`, { type: 'Programmed', before: was, after: is });
  // What a certificate or a label has said already, it has not to say again.
  const isSaid = ({ type, message }: Told) =>
    type === 'Warning' && told.some((one) => one.type === type && one.message.includes(message));
  desk.teller.tell(after, [...told, ...news.filter((one) => !isSaid(one))]);
}

function tellChanges(desk: Desk, stored: Lbticket, moves: readonly Move[]): void {
  let from = stateOf(stored);
  for (const { moved, finding } of moves) {
    desk.changed({ turn: 'ticket', ticket: ticketName(stored), from, to: moved.to, why: finding.why });
    from = moved.to;
  }
}

const written = (ticket: Lbticket): Draft => ({ stored: ticket, ticket, moves: [] });

/** What has to follow once the state is written. */
function follow(desk: Desk, ticket: Lbticket, { finding, moved }: Move): void {
  const name = ticketName(ticket);
  const { loadbalancer } = ticket.spec;
  const isResting = moved.to === 'deleted' && rest(desk, ticket);
  if (moved.effects.includes('release') && !isResting) desk.ledger.release(name);
  if (moved.to === 'deleted') desk.ledger.leave(name);
  if (finding.veip && finding.ltmip)
    desk.ledger.settle(loadbalancer, name, { veip: finding.veip, ltmip: finding.ltmip });
  if (moved.effects.includes('program') || moved.effects.includes('unprogram'))
    wakeConfigMap(desk, configMapKey(ticket));
  wakeLoadbalancer(desk, loadbalancer);
}

/** What the next look will say of the device, so that one write says both. */
function outlook(desk: Desk, ticket: Lbticket, moved: Step | undefined): Finding['facts'] {
  if (moved?.to === 'enabled') return factsOf(desk, ticket);
  return moved?.effects.includes('unprogram') ? defined({ Programmed: clearanceOf(desk, ticket).fact }) : {};
}

/** A withdrawn application leaves no id behind. */
const withdrawn = (finding: Finding, moved: Step | undefined): Finding =>
  moved?.effects.includes('withdraw') && finding.event === 'disable'
    ? {
        ...finding,
        application: null,
        filing: null,
        facts: { ...finding.facts, NetworkPolicyOpen: fails('pending', 'the application is withdrawn') },
      }
    : finding;

/** In created and failed an edit is observed when it was admitted or refused, and not before: until then it is still to be looked at. */
function observedBy(ticket: Lbticket, finding: Finding): number {
  const { generation = 0 } = ticket.metadata;
  const state = stateOf(ticket);
  const isOpen = state === 'new' || state === 'created' || state === 'failed';
  const isAnswered = finding.event === 'allocated' || finding.event === 'refused' || finding.event === 'cleared';
  return isOpen && !isAnswered ? (ticket.status?.observedGeneration ?? 0) : generation;
}

const titles: Record<State, string> = {
  new: 'New',
  created: 'Created',
  apply: 'Applied',
  enabled: 'Enabled',
  failed: 'Failed',
  disabled: 'Disabled',
  deleted: 'Deleted',
};

/** An Event per transition. */
const toldOf = ({ finding, moved }: Move) => ({
  type: moved.to === 'failed' ? ('Warning' as const) : ('Normal' as const),
  reason: titles[moved.to],
  message: finding.why,
});

export const defined = (facts: { Programmed: Fact | undefined }): Finding['facts'] =>
  facts.Programmed ? { Programmed: facts.Programmed } : {};
