// How much there is to do: tickets that have just been filed come before what can be written for many at once.
import type { Lbticket } from '@fairlead/api';
import type { Clock } from '@fairlead/core';
import type { LiveStore } from '@fairlead/kube';
import { ticketName } from './names.ts';

export interface Backlog {
  /** Many tickets are on their way to an application, and they move. */
  readonly isBusy: boolean;
  /** Follows the store until `signal` aborts. `onRest`: they were many, and are few or stand still. */
  follow(signal: AbortSignal, onRest?: () => void): void;
}

/** A few tickets at once are what users file by hand. Where many come one after the other, some are always served already. */
const [many, few] = [32, 8];
/** Milliseconds in which none comes or goes: then they wait for something, and need not be waited for. */
const still = 1000;

export function backlog(tickets: Pick<LiveStore<Lbticket>, 'all' | 'listen'>, clock: Clock): Backlog {
  const underWay = new Set<string>();
  let areMany = false;
  let isLooking = false;
  let last = -Infinity;
  const note = (ticket: Lbticket, isThere = true): void => {
    const { process } = ticket.status ?? {};
    const before = underWay.size;
    if (isThere && (process === undefined || process === 'created')) underWay.add(ticketName(ticket));
    else underWay.delete(ticketName(ticket));
    if (underWay.size !== before) last = clock.now();
    areMany = underWay.size > (areMany ? few : many);
  };
  return {
    get isBusy() {
      return areMany && clock.now() - last < still;
    },
    follow(signal, onRest = () => undefined) {
      /** Nobody tells that nothing comes: so it is looked, as long as they are many. */
      const look = async (): Promise<void> => {
        if (isLooking) return;
        isLooking = true;
        const goesOn = () => areMany && !signal.aborted;
        while (goesOn()) {
          await clock.sleep(still, signal);
          if (areMany && clock.now() - last >= still) onRest();
        }
        isLooking = false;
      };
      for (const ticket of tickets.all()) note(ticket);
      void look();
      const stop = tickets.listen(({ before, after }) => {
        const were = areMany;
        if (after) note(after);
        else if (before) note(before, false);
        if (were && !areMany) onRest();
        if (!were && areMany) void look();
      });
      signal.addEventListener('abort', stop, { once: true });
    },
  };
}
