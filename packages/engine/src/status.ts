// Tells ConfigMaps what came of them: the annotation `fairlead.io/status`, and an Event, each only when it changes.
import { askerOf, problems, type Clock, type Origin } from '@fairlead/core';
import { configMaps, type ConfigMap, type Kube, type ObjectReference, type Store } from '@fairlead/kube';
import { annotations } from '@fairlead/sources';
import { backoff } from './backoff.ts';
import type { Outcome } from './outcome.ts';
import { lanes } from './lanes.ts';
import {
  isTellable,
  remarksBetween,
  statusText,
  withOutcome,
  wordsIn,
  wordsOf,
  type Remark,
  type Report,
} from './report.ts';

export interface ClusterReports {
  kube: Pick<Kube, 'patch'>;
  configmaps: Pick<Store<ConfigMap>, 'get'>;
  /** Records an Event. */
  event?: ((regarding: ObjectReference, remark: Remark) => void) | undefined;
}

export interface StatusOptions {
  clock: Clock;
  /** 0 to 1. */
  random: () => number;
  /** The cluster of that name; undefined when it is not served any longer. */
  clusters(name: string): ClusterReports | undefined;
  /** A line for the log: what cannot be written, and why. */
  log?: ((line: string) => void) | undefined;
  onBug?: ((error: unknown, asker: string) => void) | undefined;
  /** Milliseconds to wait for more to tell of one object. Default 20. */
  debounce?: number | undefined;
}

export interface Statuses {
  /** Remembers, and writes in its own time. Hand it to an engine as `report`. */
  report(outcomes: readonly Outcome[]): void;
  /** Writes until `signal` aborts. */
  run(signal: AbortSignal): Promise<void>;
  /** Objects that are told of. */
  readonly size: number;
}

interface Entry {
  report: Report;
  /** What was told last, by subject. */
  told: Map<string, string>;
  /** Our last text, and the edit of the object it was written over: until the store moves, it is not written again. */
  written?: { text: string; over: string | undefined } | undefined;
}

export function statuses(options: StatusOptions): Statuses {
  const { clock, random, debounce = 20 } = options;
  const entries = new Map<string, Entry>();
  // A lane for each cluster: one that does not answer keeps no other's objects from being told.
  const turns = lanes<string>(clock, {
    laneOf: (asker) => asker.slice(0, asker.indexOf('/')),
    parallel: () => 1,
    onBug: options.onBug,
  });
  const pauses = backoff<string>({ random });

  const note = (outcome: Outcome & { origin: Origin }): void => {
    const asker = askerOf(outcome.origin);
    const entry = entries.get(asker);
    const report = withOutcome(entry?.report, outcome);
    // A turn speaks of all in its scope, and most of it is as it was.
    if (report === entry?.report) return;
    if (entry) entry.report = report;
    else
      entries.set(asker, {
        report,
        told: wordsIn(currentOf(options, outcome.origin)?.metadata.annotations?.[annotations.status]),
      });
    turns.add(asker, debounce);
  };

  const turn = async (asker: string): Promise<void> => {
    const entry = entries.get(asker);
    if (!entry || !isTellable(entry.report)) return;
    const outcome = await write(options, entry);
    if (outcome === 'gone') entries.delete(asker);
    if (outcome === 'again') turns.add(asker, pauses.next(asker));
    else pauses.reset(asker);
  };

  return {
    report(outcomes) {
      for (const { origin, asker = '', ...rest } of outcomes) {
        if (origin) note({ ...rest, origin });
        // Of an object that is gone, what was told of it is forgotten.
        else if (entries.has(asker)) turns.add(asker, debounce);
      }
    },
    run: (signal) => turns.run(turn, signal),
    get size() {
      return entries.size;
    },
  };
}

/** The object as the store has it now; undefined when it is gone, or another of the same name. */
function currentOf({ clusters }: StatusOptions, origin: Origin): ConfigMap | undefined {
  const current = clusters(origin.cluster)?.configmaps.get({ namespace: origin.namespace, name: origin.name });
  return current?.metadata.uid === origin.uid ? current : undefined;
}

async function write(options: StatusOptions, entry: Entry): Promise<'told' | 'again' | 'gone'> {
  const { origin } = entry.report;
  const current = currentOf(options, origin);
  const cluster = options.clusters(origin.cluster);
  if (!current || !cluster) return 'gone';

  const text = statusText(entry.report);
  const over = current.metadata.resourceVersion;
  const isWritten = entry.written?.text === text && entry.written.over === over;
  if (current.metadata.annotations?.[annotations.status] !== text && !isWritten) {
    const { namespace, name, uid } = origin;
    // With the uid, a ConfigMap made anew under this name in the meantime is refused to us: 409.
    const body = { metadata: { uid, annotations: { [annotations.status]: text } } };
    const patched = await cluster.kube.patch(
      configMaps,
      { namespace, name },
      { type: 'merge', body },
      { fieldManager: 'fairlead-agent' },
    );
    if (!patched.ok) {
      const { code, message } = patched.problem;
      if (code === 'missing' || code === 'conflict') return 'gone';
      options.log?.(`status of ${askerOf(origin)}: ${code}: ${message}`);
      return problems[code].retry ? 'again' : 'told';
    }
    entry.written = { text, over };
  }
  const words = wordsOf(entry.report);
  for (const remark of remarksBetween(entry.told, words)) cluster.event?.(referenceTo(origin), remark);
  entry.told = words;
  return 'told';
}

const referenceTo = ({ namespace, name, uid }: Origin): ObjectReference => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  namespace,
  name,
  uid,
});
