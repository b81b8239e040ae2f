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

/** A few tickets at once are what users file by hand. */
const many = 32;
/** Milliseconds without a turn of any ticket: then they wait for something, and need not be waited for. */
const still = 1000;

export function backlog(tickets: Pick<LiveStore<Lbticket>, 'all' | 'listen'>, clock: Clock): Backlog {
  const underWay = new Set<string>();
  let last = -Infinity;
  const note = (ticket: Lbticket): void => {
    const { process } = ticket.status ?? {};
    if (process === undefined || process === 'created') underWay.add(ticketName(ticket));
    else underWay.delete(ticketName(ticket));
  };
  return {
    get isBusy() {
      return underWay.size > many && clock.now() - last < still;
    },
    moved: () => void (last = clock.now()),
    follow(onRest = () => undefined) {
      for (const ticket of tickets.all()) note(ticket);
      return tickets.listen(({ before, after }) => {
        const were = underWay.size;
        if (after) note(after);
        else if (before) underWay.delete(ticketName(before));
        if (were > many && underWay.size <= many) onRest();
      });
    },
  };
}
