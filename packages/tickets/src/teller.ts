// Says Events beside the turns: a ticket does not wait until its Event is written, and work comes before talk.
import { untilAborted, type Clock } from '@fairlead/core';
import type { KubeObject, Recorder, Told } from '@fairlead/kube';

export interface Teller {
  /** In this order for one object. What fails is logged, and nothing waits for it: the history says it too. */
  tell(about: KubeObject, told: readonly Told[]): void;
  /** Writes what is told until `signal` aborts; what waits then is dropped, and said so. */
  run(signal: AbortSignal): Promise<void>;
}

export interface TellerOptions {
  recorder: Recorder;
  clock: Clock;
  /** Is there work that writes to the same server? Then talk is slow. */
  isBusy: () => boolean;
  log: (line: string) => void;
}

interface Talk {
  about: KubeObject;
  told: Told[];
}

/** Objects that Events are written about at once: few, for turns use the same connections. */
const parallel = 2;
/** Between two objects while there is work, in milliseconds: Events go on, and take next to nothing from it. */
const slow = 100;
/** Objects that wait to be told of; beyond it the oldest is dropped. A server that takes no Events must not fill our memory. */
const longest = 50_000;

export function teller({ recorder, clock, isBusy, log }: TellerOptions): Teller {
  const waiting = new Map<string, Talk>();
  const busy = new Set<string>();
  const open = new Set<Promise<void>>();
  let isRunning = false;
  let ended: AbortSignal | undefined;

  const say = async (key: string, { about, told }: Talk): Promise<void> => {
    busy.add(key);
    for (const one of told) {
      const said = await recorder.event(about, one);
      if (!said.ok) log(`${key}: its Event ${one.reason} is lost: ${said.problem.message}`);
    }
    busy.delete(key);
    if (isBusy() && isRunning) await clock.sleep(slow, ended);
  };
  const first = (): [string, Talk] | undefined => {
    for (const entry of waiting) if (!busy.has(entry[0])) return entry;
    return undefined;
  };
  const start = (): void => {
    if (!isRunning) return;
    while (open.size < parallel) {
      const next = first();
      if (!next) return;
      waiting.delete(next[0]);
      const talk = say(...next).finally(() => {
        open.delete(talk);
        start();
      });
      open.add(talk);
    }
  };
  return {
    tell(about, told) {
      if (told.length === 0) return;
      const key = `${about.kind} ${about.metadata.namespace ?? ''}/${about.metadata.name}`;
      const present = waiting.get(key);
      if (present) present.told.push(...told);
      else waiting.set(key, { about: nameOf(about), told: [...told] });
      const oldest = waiting.size > longest ? waiting.keys().next().value : undefined;
      if (oldest !== undefined) {
        waiting.delete(oldest);
        log(`more than ${longest} objects wait for their Events: those of ${oldest} are dropped`);
      }
      start();
    },
    async run(signal) {
      isRunning = !signal.aborted;
      ended = signal;
      start();
      await untilAborted(signal);
      isRunning = false;
      await Promise.all(open);
      if (waiting.size > 0) log(`stopped: Events about ${waiting.size} objects are not written`);
      waiting.clear();
    },
  };
}

/** What an Event says of its object; the rest of a ticket need not stay in memory for it. */
function nameOf({ apiVersion, kind, metadata: { name, namespace, uid, resourceVersion } }: KubeObject): KubeObject {
  return {
    apiVersion,
    kind,
    metadata: {
      name,
      ...(namespace ? { namespace } : {}),
      ...(uid ? { uid } : {}),
      ...(resourceVersion ? { resourceVersion } : {}),
    },
  };
}
