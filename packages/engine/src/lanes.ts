// Several queues as one: a key waits in the lane it belongs to, and turns that hang hold up their own lane alone.
import { untilAborted, type Clock } from '@fairlead/core';
import { queue, type Queue, type QueueOptions, type Turn } from './queue.ts';

export interface LanesOptions<K> extends Omit<QueueOptions<K>, 'parallel'> {
  /** Pure. A lane is made with its first key, and stays. */
  laneOf(key: K): string;
  /** Turns at once in a lane. */
  parallel(lane: string): number;
}

export function lanes<K>(clock: Clock, { laneOf, parallel, onBug, onTurn }: LanesOptions<K>): Queue<K> {
  const all = new Map<string, Queue<K>>();
  /** Starts a lane that is made while turns are given. */
  let start: ((lane: Queue<K>) => void) | undefined;

  const laneFor = (key: K): Queue<K> => {
    const name = laneOf(key);
    const present = all.get(name);
    if (present) return present;
    const made = queue<K>(clock, { parallel: parallel(name), onBug, onTurn });
    all.set(name, made);
    start?.(made);
    return made;
  };

  const run = async (turn: Turn<K>, signal: AbortSignal): Promise<void> => {
    // A bug in one lane ends the others as well, as it would in one queue.
    const stop = new AbortController();
    // One for each lane: on a single one, more than ten would listen, and Node.js warns of that as of a leak.
    const ends = (): AbortSignal => AbortSignal.any([signal, stop.signal]);
    const runs: Promise<void>[] = [];
    const bugs: unknown[] = [];
    start = (lane) => {
      const run = lane.run(turn, ends()).catch((bug: unknown) => {
        bugs.push(bug);
        stop.abort();
      });
      runs.push(run);
    };
    for (const lane of all.values()) start(lane);
    await untilAborted(ends());
    start = undefined;
    await Promise.all(runs);
    if (bugs.length > 0) throw bugs[0];
  };

  return {
    add: (key, delay) => laneFor(key).add(key, delay),
    drop: (key) => all.get(laneOf(key))?.drop(key),
    run,
    get size() {
      return [...all.values()].reduce((sum, lane) => sum + lane.size, 0);
    },
    get overdue() {
      return Math.max(0, ...[...all.values()].map((lane) => lane.overdue));
    },
  };
}
