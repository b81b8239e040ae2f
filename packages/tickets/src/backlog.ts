// How much there is to do: tickets that have just been filed come before what can be written for many at once.
import type { Lbticket } from '@fairlead/api';
import type { Clock } from '@fairlead/core';
import type { LiveStore } from '@fairlead/kube';
import { ticketName } from './names.ts';

export interface Backlog {
  /** Many tickets are on their way to an application, and they move. */
  readonly isBusy: boolean;
  /** A ticket had a turn. */
  moved(): void;
  /** Follows the store until called. `onRest`: they were many, and are no longer. */
  follow(onRest?: () => void): () => void;
}

/** A few tickets at once are what users file by hand. Where many come one after the other, some are always served already. */
const [many, few] = [32, 8];
/** Milliseconds without a turn of any ticket: then they wait for something, and need not be waited for. */
const still = 1000;

export function backlog(tickets: Pick<LiveStore<Lbticket>, 'all' | 'listen'>, clock: Clock): Backlog {
  const underWay = new Set<string>();
  let areMany = false;
  let last = -Infinity;
  const note = (ticket: Lbticket, isThere = true): void => {
    const { process } = ticket.status ?? {};
    if (isThere && (process === undefined || process === 'created')) underWay.add(ticketName(ticket));
    else underWay.delete(ticketName(ticket));
    areMany = underWay.size > (areMany ? few : many);
  };
  return {
    get isBusy() {
      return areMany && clock.now() - last < still;
    },
    moved: () => void (last = clock.now()),
    follow(onRest = () => undefined) {
      for (const ticket of tickets.all()) note(ticket);
      return tickets.listen(({ before, after }) => {
        const were = areMany;
        if (after) note(after);
        else if (before) note(before, false);
        if (were && !areMany) onRest();
      });
    },
  };
}
