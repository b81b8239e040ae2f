// One turn of one ticket: look, ask the table, write, and again until nothing moves.
import { lbtickets, type Lbticket } from '@fairlead/api';
import type { Problem } from '@fairlead/core';
import { admit } from './admission.ts';
import { laterTry, type Desk, type Next } from './desk.ts';
import { configMapKey } from './directory.ts';
import { failed, fails, holds, onChange, said, stay, type Finding } from './finding.ts';
import { step, type State, type Step } from './life.ts';
import { fieldManager, finalizer, placeOf, ticketName } from './names.ts';
import { askApprover, file, withdraw } from './policy.ts';
import { clearanceOf, programmed } from './programmed.ts';
import { rest } from './quarantine.ts';
import { conditionOf, isTrue, statusAfter, statusPatch, type Fact } from './status.ts';

/** More moves than the longest way through the table: a ticket that takes more goes in a circle. */
const mostMoves = 12;

export async function ticketTurn(desk: Desk, name: string): Promise<Next> {
  let ticket = desk.lbtickets.read(placeOf(name));
  if (!ticket) return forget(desk, name);
  for (let moves = 0; moves < mostMoves; moves += 1) {
    const finding = await look(desk, ticket);
    const moved = finding.event && step(stateOf(ticket), finding.event);
    const done = await settle(desk, ticket, { finding, moved });
    if (!done.ok) return done.next;
    ticket = done.ticket;
    if (!moved) return stateOf(ticket) === 'deleted' ? letGo(desk, ticket) : finding.next;
  }
  throw new Error(`bug: ticket ${name} moves in a circle`);
}

const stateOf = (ticket: Lbticket): State => ticket.status?.process ?? 'new';

const isRemoved = (ticket: Lbticket): boolean => ticket.metadata.deletionTimestamp !== undefined;

const isUnwanted = (ticket: Lbticket): boolean => isRemoved(ticket) || ticket.spec.state !== 'enabled';

const isEdited = (ticket: Lbticket): boolean => ticket.metadata.generation !== ticket.status?.observedGeneration;

/** Waits of writes that failed are counted apart from those for the approver. */
const writeKey = (name: string): string => `write ${name}`;

/** Its object is gone, and our finalizer was gone before: nothing of it is anywhere but in our memory. */
function forget(desk: Desk, name: string): Next {
  desk.ledger.release(name);
  desk.ledger.leave(name);
  for (const key of [name, writeKey(name), `withdraw ${name}`]) desk.tries.delete(key);
  desk.polled.delete(name);
  desk.filing.delete(name);
  desk.forgetPart(name);
  return onChange;
}

/** What the world says about the ticket in its state. */
async function look(desk: Desk, ticket: Lbticket): Promise<Finding> {
  switch (stateOf(ticket)) {
    case 'new':
      return isRemoved(ticket) ? cleared('its object is removed') : lookAtNew(desk, ticket);
    case 'created':
      if (isUnwanted(ticket)) return disable(ticket);
      return isEdited(ticket) ? lookAtNew(desk, ticket) : file(desk, ticket);
    case 'apply':
      return isUnwanted(ticket) ? disable(ticket) : askApprover(desk, ticket);
    case 'enabled':
      if (isUnwanted(ticket)) return disable(ticket);
      return stay(defined({ Programmed: programmed(desk, ticket) }));
    case 'failed':
      return lookAtFailed(desk, ticket);
    case 'disabled':
      return lookAtDisabled(desk, ticket);
    case 'deleted':
      return stay();
  }
}

async function lookAtNew(desk: Desk, ticket: Lbticket): Promise<Finding> {
  const admitted = await admit(desk, ticket);
  switch (admitted.found) {
    case 'wait':
      return stay();
    case 'unwritten':
      desk.log(`ticket ${ticketName(ticket)}: ${admitted.problem.message}`);
      return stay({}, { after: laterTry(desk, writeKey(ticketName(ticket))) });
    case 'problem':
      return refused(admitted.problem);
    case 'pair': {
      const { veip, ltmip } = admitted.pair;
      const why = `addresses ${veip} (VE) and ${ltmip} (LTM) are taken`;
      const facts = {
        Allocated: holds('Allocated', why),
        NetworkPolicyOpen: fails('pending', 'no application is filed yet'),
      };
      return { event: 'allocated', why, facts, veip, ltmip, application: null, next: onChange };
    }
  }
}

function refused(problem: Problem): Finding {
  const facts = {
    Allocated: failed(problem),
    NetworkPolicyOpen: fails('pending', 'no application is filed while the ticket is failed'),
  };
  return { event: 'refused', why: said(problem), facts, veip: null, ltmip: null, application: null, next: onChange };
}

/** A rejected ticket waits for an edit; any other failure may have gone away. */
async function lookAtFailed(desk: Desk, ticket: Lbticket): Promise<Finding> {
  if (isRemoved(ticket) || ticket.spec.state === 'deleted') return cleared('the user gave it up');
  const isRejected = conditionOf(ticket, 'NetworkPolicyOpen')?.reason === 'rejected';
  if (isRejected && !isEdited(ticket)) return stay();
  const finding = await lookAtNew(desk, ticket);
  const isSame = finding.facts.Allocated?.message === conditionOf(ticket, 'Allocated')?.message;
  return finding.event === 'refused' && isSame && !isEdited(ticket) ? stay() : finding;
}

async function lookAtDisabled(desk: Desk, ticket: Lbticket): Promise<Finding> {
  if (isUnwanted(ticket)) {
    const clearance = clearanceOf(desk, ticket);
    const isGivenUp = isRemoved(ticket) || ticket.spec.state === 'deleted';
    if (clearance.isClear && isGivenUp)
      return cleared(isRemoved(ticket) ? 'its object is removed' : 'the user gave it up');
    return stay(defined({ Programmed: clearance.fact }));
  }
  const isOpen = isTrue(ticket, 'NetworkPolicyOpen');
  return { event: isOpen ? 'enable' : 'refile', why: 'the user wants it enabled again', facts: {}, next: onChange };
}

const disable = (ticket: Lbticket): Finding => ({
  event: 'disable',
  why: isRemoved(ticket) ? 'its object is removed' : `the user wants it ${ticket.spec.state}`,
  facts: {},
  next: onChange,
});

const cleared = (why: string): Finding => ({
  event: 'cleared',
  why: `${why}; its addresses are free`,
  facts: {
    Allocated: fails('deleted', 'the addresses are released'),
    NetworkPolicyOpen: fails('deleted', 'the application is withdrawn'),
    Programmed: fails('deleted', 'nothing of the ticket is on the device'),
  },
  veip: null,
  ltmip: null,
  application: null,
  next: onChange,
});

type Settled = { ok: true; ticket: Lbticket } | { ok: false; next: Next };

/** Does what the step asks for, in the order that survives a crash between any two writes. */
async function settle(
  desk: Desk,
  ticket: Lbticket,
  { finding, moved }: { finding: Finding; moved: Step | undefined },
): Promise<Settled> {
  const name = ticketName(ticket);
  if (moved?.effects.includes('withdraw')) {
    const gone = await withdraw(desk, ticket);
    if (!gone.ok) {
      // Nothing else is done before: an application without a ticket would keep the network open for ever.
      const told = stay({ NetworkPolicyOpen: failed(gone.problem) });
      await writeStatus(desk, ticket, { finding: told, moved: undefined });
      return { ok: false, next: { after: laterTry(desk, `withdraw ${name}`) } };
    }
  }
  const facts = { ...outlook(desk, ticket, moved), ...finding.facts };
  const written = await writeStatus(desk, ticket, { finding: withdrawn({ ...finding, facts }, moved), moved });
  if (!written.ok) return written;
  if (!moved) return written;
  const { loadbalancer } = ticket.spec;
  const isResting = moved.to === 'deleted' && rest(desk, written.ticket);
  if (moved.effects.includes('release') && !isResting) desk.ledger.release(name);
  if (moved.to === 'deleted') desk.ledger.leave(name);
  if (finding.veip && finding.ltmip)
    desk.ledger.settle(loadbalancer, name, { veip: finding.veip, ltmip: finding.ltmip });
  if (moved.effects.includes('program') || moved.effects.includes('unprogram'))
    desk.queue.add(`configmap ${configMapKey(ticket)}`);
  desk.queue.add(`loadbalancer ${loadbalancer}`, 100);
  await tell(desk, written.ticket, { to: moved.to, why: finding.why });
  return written;
}

/** What the next look will say of the device, so that one write says both. */
function outlook(desk: Desk, ticket: Lbticket, moved: Step | undefined): Finding['facts'] {
  if (moved?.to === 'enabled') return defined({ Programmed: programmed(desk, ticket) });
  return moved?.effects.includes('unprogram') ? defined({ Programmed: clearanceOf(desk, ticket).fact }) : {};
}

/** A withdrawn application leaves no id behind. */
const withdrawn = (finding: Finding, moved: Step | undefined): Finding =>
  moved?.effects.includes('withdraw') && finding.event === 'disable'
    ? {
        ...finding,
        application: null,
        facts: { ...finding.facts, NetworkPolicyOpen: fails('pending', 'the application is withdrawn') },
      }
    : finding;

async function writeStatus(
  desk: Desk,
  ticket: Lbticket,
  { finding, moved }: { finding: Finding; moved: Step | undefined },
): Promise<Settled> {
  const name = ticketName(ticket);
  const to = moved?.to === 'new' ? undefined : moved?.to;
  const transition = to ? { to, why: finding.why } : undefined;
  const after = statusAfter(
    ticket,
    { ...finding, transition, observed: observedBy(ticket, finding) },
    desk.clock.now(),
  );
  const body = statusPatch(ticket.status ?? {}, after);
  // A ticket that waits for its own write to be shown has nothing to say yet.
  if (!body || (!moved && stateOf(ticket) === 'new')) return { ok: true, ticket };
  const { resourceVersion } = ticket.metadata;
  const patch = { type: 'merge' as const, body: { metadata: { resourceVersion }, status: body } };
  const at = { name: ticket.metadata.name, namespace: ticket.metadata.namespace };
  const written = await desk.kube.patch(lbtickets, at, patch, { subresource: 'status', fieldManager });
  if (!written.ok) {
    if (written.problem.code === 'missing') return { ok: false, next: onChange };
    desk.log(`ticket ${name}: its status is not written: ${written.problem.message}`);
    return { ok: false, next: { after: laterTry(desk, writeKey(name)) } };
  }
  desk.tries.delete(writeKey(name));
  desk.lbtickets.wrote(written.value, resourceVersion);
  return { ok: true, ticket: written.value };
}

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

/** An Event per transition. One that is lost is logged, and nothing waits for it: the history has it too. */
async function tell(desk: Desk, ticket: Lbticket, { to, why }: { to: State; why: string }): Promise<void> {
  const type = to === 'failed' ? 'Warning' : 'Normal';
  const told = await desk.recorder.event(ticket, { type, reason: titles[to], message: why });
  if (!told.ok) desk.log(`ticket ${ticketName(ticket)}: its Event ${titles[to]} is lost: ${told.problem.message}`);
}

/** A deleted ticket stays to be seen, unless its object is being removed: then nothing keeps it any longer. */
async function letGo(desk: Desk, ticket: Lbticket): Promise<Next> {
  const { finalizers = [], resourceVersion, name, namespace } = ticket.metadata;
  if (!isRemoved(ticket) || !finalizers.includes(finalizer)) return onChange;
  const body = { metadata: { resourceVersion, finalizers: finalizers.filter((one) => one !== finalizer) } };
  const gone = await desk.kube.patch(lbtickets, { name, namespace }, { type: 'merge', body }, { fieldManager });
  if (gone.ok || gone.problem.code === 'missing') return onChange;
  desk.log(`ticket ${ticketName(ticket)}: its finalizer stays: ${gone.problem.message}`);
  return { after: laterTry(desk, writeKey(ticketName(ticket))) };
}

const defined = (facts: { Programmed: Fact | undefined }): Finding['facts'] =>
  facts.Programmed ? { Programmed: facts.Programmed } : {};
