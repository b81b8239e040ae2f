// Who changed a ticket, and who answered its application: admission is the only one who knows, and leaves the name on
// the object (spec/tickets.md §3, history).
import { isEqual } from '@fairlead/core';
import { allocatedAnnotation, answerIn, changedByAnnotation, longestUser, type Lbticket } from './lbticket.ts';

/**
 *   the write                                   | the annotation
 *   --------------------------------------------+------------------------
 *   creates the ticket                          | the user
 *   changes its spec                            | the user
 *   fills in addresses that were left to choose | as it was: that is the controller
 *   changes nothing that is asked for           | as it was, whatever was sent
 */
export function signed(object: Lbticket, old: Lbticket | undefined, userInfo: unknown): Lbticket {
  const name = old && isSame(object, old) ? old.metadata.annotations?.[changedByAnnotation] : userOf(userInfo);
  const present = object.metadata.annotations ?? {};
  if (present[changedByAnnotation] === name) return object;
  const { [changedByAnnotation]: _, ...others } = present;
  const annotations = name === undefined ? others : { ...others, [changedByAnnotation]: name };
  return { ...object, metadata: { ...object.metadata, annotations } };
}

/**
 *   the write of the status of a ticket in apply | answeredBy
 *   ---------------------------------------------+--------------------------------
 *   answers: NetworkPolicyOpen True, or rejected | the user, whatever was sent
 *   changes nothing of the answer                | as it was sent
 *
 * The state that follows the answer begins without it, so nobody's name stands on the next one.
 */
export function answerSigned(object: Lbticket, old: Lbticket, userInfo: unknown): Lbticket {
  const isWaiting = old.status?.process === 'apply' && object.status?.process === 'apply';
  const answer = answerIn(object);
  if (!isWaiting || answer === undefined || answer === answerIn(old)) return object;
  const { answeredBy: _, ...status } = object.status ?? {};
  const name = userOf(userInfo);
  return { ...object, status: name === undefined ? status : { ...status, answeredBy: name.slice(0, longestUser) } };
}

function isSame(object: Lbticket, old: Lbticket): boolean {
  const isChosen = allocated(object) !== undefined && allocated(object) !== allocated(old);
  const spec = { ...object.spec };
  for (const field of ['veip', 'ltmip'] as const) {
    if (!isChosen) continue;
    if (old.spec[field] === undefined) delete spec[field];
    else spec[field] = old.spec[field];
  }
  return isEqual(spec, old.spec);
}

const allocated = ({ metadata }: Lbticket): string | undefined => metadata.annotations?.[allocatedAnnotation];

function userOf(userInfo: unknown): string | undefined {
  const { username } = (typeof userInfo === 'object' && userInfo !== null ? userInfo : {}) as { username?: unknown };
  return typeof username === 'string' && username !== '' ? username : undefined;
}
