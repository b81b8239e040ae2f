// Kubernetes Events: what happened to an object, for people. Repeats are counted, and a flood is cut off
// (a cluster of ten thousand pods starting would otherwise spend half its requests on them).
import type { Clock } from '../clock.ts';
import { timestamp } from '../clock.ts';
import type { Client, Result } from './client.ts';
import { namespaceTerminating } from './client.ts';
import { kinds } from './kinds.ts';
import type { KubeEvent, KubeObject } from './objects.ts';

/** Tells of `object`: `type` is Normal or Warning, `reason` one CamelCase word, `message` a sentence. */
export type Recorder = (object: KubeObject, type: 'Normal' | 'Warning', reason: string, message: string) => void;

export interface RecorderOptions {
  client: Client;
  clock: Clock;
  log(line: string): void;
}

const longestBacklog = 200;
const rememberedEvents = 5_000;
const repeatEvery = 10_000;

interface Sent {
  name: string;
  count: number;
  first: number;
  last: number;
}

export function recorder({ client, clock, log }: RecorderOptions): Recorder {
  const sent = new Map<string, Sent>();
  const backlog: (() => Promise<Result<unknown>>)[] = [];
  let isSending = false;
  let dropped = 0;
  let made = 0;

  const drain = async () => {
    isSending = true;
    for (let next = backlog.shift(); next; next = backlog.shift()) {
      const result = await next();
      const isMoot = !result.ok && (result.problem.status === 404 || result.problem.reason === namespaceTerminating);
      if (!result.ok && !isMoot) log(`event not written: ${result.problem.message}`);
    }
    isSending = false;
    if (dropped > 0) log(`${dropped} events dropped: more than ${longestBacklog} were waiting`);
    dropped = 0;
  };
  const enqueue = (write: () => Promise<Result<unknown>>) => {
    if (backlog.length >= longestBacklog) return void (dropped += 1);
    backlog.push(write);
    if (!isSending) void drain();
  };

  return (object, type, reason, message) => {
    const { namespace = 'default', name, uid } = object.metadata;
    const key = `${uid} ${reason} ${message}`;
    const now = clock.now();
    const before = sent.get(key);
    if (before) {
      before.count += 1;
      if (now - before.last < repeatEvery) return;
      before.last = now;
      const patch = { count: before.count, lastTimestamp: timestamp(now) };
      return enqueue(() => client.patch(kinds.event, { namespace, name: before.name }, patch));
    }
    made += 1;
    // Unique as in Kubernetes, by a time in nanoseconds; those below the clock's resolution are counted.
    const eventName = `${name}.${(BigInt(now) * 1_000_000n + BigInt(made % 1_000_000)).toString(16)}`;
    sent.set(key, { name: eventName, count: 1, first: now, last: now });
    if (sent.size > rememberedEvents) sent.delete(sent.keys().next().value!);
    const involved = { apiVersion: object.apiVersion, kind: object.kind ?? '', name, uid };
    enqueue(() =>
      client.create<KubeEvent>(kinds.event, {
        metadata: { name: eventName, namespace },
        involvedObject: object.metadata.namespace ? { ...involved, namespace } : involved,
        type,
        reason,
        message,
        count: 1,
        source: { component: 'fairlead-sim-cluster' },
        firstTimestamp: timestamp(now),
        lastTimestamp: timestamp(now),
      }),
    );
  };
}
