// Of several controllers one works: who holds the Lease. The others wait, and one of them goes on when it falls silent.
import { untilAborted, type Clock } from '@fairlead/core';
import { lead, type Kube } from '@fairlead/kube';
import type { Log } from './log.ts';

export interface LeadingOptions {
  /** A client for the Lease alone: it outlives each term. */
  kube: Kube;
  clock: Clock;
  random: () => number;
  /** Of the Lease. */
  namespace: string;
  name?: string | undefined;
  /** Differs for each process. */
  identity: string;
  /** Milliseconds that others wait after our last sign of life. Default 15 s. */
  duration?: number | undefined;
  log: Log;
  /** A term is over, and its work did not end in time: another may have begun, so this process must not go on. */
  overdue(): void;
}

export interface Leading {
  readonly isLeading: boolean;
  /** Seeks the Lease, and does `work` in each term, until `signal` aborts. `work` ends when its signal aborts. */
  run(work: (term: AbortSignal) => Promise<void>, signal: AbortSignal): Promise<void>;
}

const leaseName = 'fairlead';

/**
 *   seconds since the last renewal that worked, of 15:
 *   0            2.1                         10                          15
 *   |--- renew --|--- renew again ... -------|--- the work has to end ----|--- another begins
 */
export function leading(options: LeadingOptions): Leading {
  const { clock, log, identity, duration = 15_000, name = leaseName, overdue } = options;
  let isLeading = false;
  return {
    get isLeading() {
      return isLeading;
    },
    run: (work, signal) => {
      const started = async (term: AbortSignal): Promise<void> => {
        isLeading = true;
        log.info(`${identity} leads: Lease ${options.namespace}/${name}`);
        const ended = new AbortController();
        const watchdog = endsInTime(term, { clock, limit: duration / 4, overdue, ended: ended.signal });
        await work(term).finally(() => ended.abort());
        await watchdog;
      };
      const stopped = (): void => {
        isLeading = false;
        log.info(`${identity} leads no longer`);
      };
      const trouble = ({ message }: { message: string }): void =>
        log.warn(`Lease ${options.namespace}/${name}: ${message}`);
      return lead({ ...options, name, duration }, { started, stopped, trouble }, signal);
    },
  };
}

interface Watched {
  clock: Clock;
  /** Milliseconds that the work may take to end. */
  limit: number;
  overdue(): void;
  ended: AbortSignal;
}

async function endsInTime(term: AbortSignal, { clock, limit, overdue, ended }: Watched): Promise<void> {
  const over = AbortSignal.any([term, ended]);
  await untilAborted(over);
  if (ended.aborted) return;
  await clock.sleep(limit, ended);
  if (!ended.aborted) overdue();
}
