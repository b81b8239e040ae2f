// One turn of one ticket: look, ask the table, write, and again until nothing moves.
import { lbtickets, type Lbticket } from '@fairlead/api';
import { formatAddress, parseAddress, type Problem } from '@fairlead/core';
import { admit } from './admission.ts';
import { laterTry, type Desk, type Next } from './desk.ts';
import { failed, fails, holds, onChange, said, stay, type Finding } from './finding.ts';
import { filingNow, isFiledOtherwise, isSaidOtherwise } from './filing.ts';
import { step } from './life.ts';
import { fieldManager, finalizer, placeOf, ticketName } from './names.ts';
import { forgetNews } from './news.ts';
import { askApprover, file, refile, refileKey } from './policy.ts';
import { clearanceOf, factsOf } from './programmed.ts';
import { isNeeded } from './quarantine.ts';
import { defined, settle, stateOf, writeKey, type Draft } from './settle.ts';
import { conditionOf, isTrue } from './status.ts';

/** More moves than the longest way through the table: a ticket that takes more goes in a circle. */
const mostMoves = 12;

export async function ticketTurn(desk: Desk, name: string): Promise<Next> {
  const stored = desk.lbtickets.read(placeOf(name));
  if (!stored) return forget(desk, name);
  let draft: Draft = { stored, ticket: stored, moves: [] };
  for (let moves = 0; moves < mostMoves; moves += 1) {
    const finding = await look(desk, draft.ticket);
    const moved = finding.event && step(stateOf(draft.ticket), finding.event);
    const done = await settle(desk, draft, { finding, moved });
    if (!done.ok) return done.next;
    ({ draft } = done);
    if (!moved) return stateOf(draft.ticket) === 'deleted' ? letGo(desk, draft.ticket) : finding.next;
  }
  throw new Error(`bug: ticket ${name} moves in a circle`);
}

const isRemoved = (ticket: Lbticket): boolean => ticket.metadata.deletionTimestamp !== undefined;

const isUnwanted = (ticket: Lbticket): boolean => isRemoved(ticket) || ticket.spec.state !== 'enabled';

const isEdited = (ticket: Lbticket): boolean => ticket.metadata.generation !== ticket.status?.observedGeneration;

/** Does it ask for other addresses than it has, or show those of another load balancer? */
function isMoved({ ledger }: Desk, ticket: Lbticket): boolean {
  const has = ledger.pairOf(ticket.spec.loadbalancer, ticketName(ticket));
  const said = [ticket.spec, ticket.status ?? {}];
  return (['veip', 'ltmip'] as const).some((field) => said.some((one) => canonical(one[field]) !== has[field]));
}

function canonical(text: string | null | undefined): string | undefined {
  const address = parseAddress(text ?? '');
  return address.ok ? formatAddress(address.value) : undefined;
}

/** Its object is gone, and our finalizer was gone before: nothing of it is anywhere but in our memory. */
function forget(desk: Desk, name: string): Next {
  desk.ledger.release(name);
  desk.ledger.leave(name);
  for (const key of [name, writeKey(name), refileKey(name), `withdraw ${name}`]) desk.tries.delete(key);
  desk.polled.delete(name);
  desk.filing.delete(name);
  desk.forgetPart(name);
  forgetNews(desk.troubled, `ticket ${name}`);
  return onChange;
}

/** What the world says about the ticket in its state. */
async function look(desk: Desk, ticket: Lbticket): Promise<Finding> {
  switch (stateOf(ticket)) {
    case 'new':
      return isRemoved(ticket) ? cleared('its object is removed') : lookAtNew(desk, ticket);
    case 'created':
      // Given up and moved in one go: what it holds has to be what it says, for it may come back.
      if (isRemoved(ticket) || (isUnwanted(ticket) && !isMoved(desk, ticket))) return disable(ticket);
      return isEdited(ticket) || isFiledOtherwise(desk, ticket) ? lookAtNew(desk, ticket) : file(desk, ticket);
    case 'apply':
      return isUnwanted(ticket) ? disable(ticket) : lookAtApplied(desk, ticket);
    case 'enabled':
      if (isUnwanted(ticket)) return disable(ticket);
      return stay(factsOf(desk, ticket));
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
      const why = `addresses ${veip} (VE) and ${ltmip} (LTM) of Loadbalancer ${ticket.spec.loadbalancer} are taken`;
      const facts = {
        Allocated: holds('Allocated', why),
        NetworkPolicyOpen: fails('pending', 'no application is filed yet'),
      };
      const filing = filingNow(desk, ticket) ?? null;
      return { event: 'allocated', why, facts, veip, ltmip, application: null, filing, next: onChange };
    }
  }
}

function refused(problem: Problem): Finding {
  const facts = {
    Allocated: failed(problem),
    NetworkPolicyOpen: fails('pending', 'no application is filed while the ticket is failed'),
  };
  return {
    event: 'refused',
    why: said(problem),
    facts,
    veip: null,
    ltmip: null,
    application: null,
    filing: null,
    next: onChange,
  };
}

/** An application that says what the ticket no longer says is not worth an answer. */
async function lookAtApplied(desk: Desk, ticket: Lbticket): Promise<Finding> {
  if (!isSaidOtherwise(desk, ticket)) return askApprover(desk, ticket);
  return refile(desk, ticket, `application ${ticket.status?.application ?? ''} is withdrawn: the ticket was edited`);
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
      return cleared(isRemoved(ticket) ? 'its object is removed' : 'the user gave it up', clearance.fact?.message);
    return stay(defined({ Programmed: clearance.fact }));
  }
  const why = 'the user wants it enabled again';
  return isTrue(ticket, 'NetworkPolicyOpen')
    ? { event: 'enable', why, facts: {}, next: onChange }
    : refile(desk, ticket, why);
}

const disable = (ticket: Lbticket): Finding => ({
  event: 'disable',
  why: isRemoved(ticket) ? 'its object is removed' : `the user wants it ${ticket.spec.state}`,
  facts: {},
  next: onChange,
});

/** `left`: what is known of the device. */
const cleared = (why: string, left = 'nothing of the ticket is on the device'): Finding => ({
  event: 'cleared',
  why: `${why}; its addresses are free`,
  facts: {
    Allocated: fails('deleted', 'the addresses are released'),
    NetworkPolicyOpen: fails('deleted', 'the application is withdrawn'),
    Programmed: fails('deleted', left),
  },
  veip: null,
  ltmip: null,
  application: null,
  filing: null,
  next: onChange,
});

/** A deleted ticket stays to be seen, unless its object is being removed: then nothing keeps it any longer. */
async function letGo(desk: Desk, ticket: Lbticket): Promise<Next> {
  const { finalizers = [], resourceVersion, name, namespace } = ticket.metadata;
  if (!isRemoved(ticket) || !finalizers.includes(finalizer)) return onChange;
  if (isNeeded(desk, ticket)) {
    desk.queue.add(`loadbalancer ${ticket.spec.loadbalancer}`);
    return onChange;
  }
  const body = { metadata: { resourceVersion, finalizers: finalizers.filter((one) => one !== finalizer) } };
  const gone = await desk.kube.patch(lbtickets, { name, namespace }, { type: 'merge', body }, { fieldManager });
  if (gone.ok || gone.problem.code === 'missing') return onChange;
  desk.log(`ticket ${ticketName(ticket)}: its finalizer stays: ${gone.problem.message}`);
  return { after: laterTry(desk, writeKey(ticketName(ticket))) };
}
