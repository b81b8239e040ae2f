// Tells users what happened to their objects, as Events that `kubectl describe` shows.
import type { Clock } from './clock.ts';
import { type Event, events } from './kinds.ts';
import type { Kube, KubeResult } from './kube.ts';
import type { KubeObject } from './object.ts';
import { seconds } from './time.ts';

export interface RecorderOptions {
  kube: Kube;
  clock: Clock;
  /** Who tells, such as `fairlead-agent`. */
  component: string;
}

export interface Told {
  type: 'Normal' | 'Warning';
  /** One word in upper camel case, such as `Placed`. */
  reason: string;
  /** At most 1,024 characters are kept. */
  message: string;
}

export interface Recorder {
  /** Says `told` of `regarding`. Said before, it is one Event whose count goes up. */
  event(regarding: KubeObject, told: Told): Promise<KubeResult<void>>;
}

const longestMessage = 1_024;
/** Events whose last state is remembered; beyond it a repeat costs one more request. */
const remembered = 1_000;

/**
 * The name of an Event is made from what it says and of which object, so that a repeat finds the first, also after a
 * restart and from another replica.
 *
 *   the Event is           | then
 *   -----------------------+----------------------------------------------
 *   not there              | create it
 *   there, seen before     | one patch: count, lastTimestamp
 *   there, new to us       | read it, then the patch
 *   expired meanwhile      | create it anew: servers forget after an hour
 */
export function recorder({ kube, clock, component }: RecorderOptions): Recorder {
  const counts = new Map<string, number>();
  // Of one Event, one write at a time: two at once would lose a count.
  const turns = new Map<string, Promise<unknown>>();

  const remember = (key: string, count: number) => {
    counts.delete(key);
    counts.set(key, count);
    const oldest = counts.size > remembered ? counts.keys().next().value : undefined;
    if (oldest !== undefined) counts.delete(oldest);
  };

  const repeat = async (event: Event, key: string, count: number): Promise<KubeResult<void>> => {
    const { name, namespace } = event.metadata;
    const body = { count, lastTimestamp: event.lastTimestamp };
    const patched = await kube.patch(events, { name, namespace }, { type: 'merge', body });
    if (patched.ok) remember(key, count);
    return patched.ok ? { ok: true, value: undefined } : patched;
  };

  const first = async (event: Event, key: string): Promise<KubeResult<void>> => {
    const created = await kube.create(events, event);
    if (created.ok) {
      remember(key, 1);
      return { ok: true, value: undefined };
    }
    if (created.problem.code !== 'exists') return created;
    const found = await kube.get(events, event.metadata);
    return found.ok ? repeat(event, key, (found.value.count ?? 1) + 1) : found;
  };

  const write = async (event: Event, key: string): Promise<KubeResult<void>> => {
    const count = counts.get(key);
    if (count === undefined) return first(event, key);
    const repeated = await repeat(event, key, count + 1);
    return !repeated.ok && repeated.problem.code === 'missing' ? first(event, key) : repeated;
  };

  return {
    async event(regarding, told) {
      const event = eventOf(regarding, told, { component, at: seconds(clock.now()) });
      const key = `${event.metadata.namespace}/${event.metadata.name}`;
      const before = turns.get(key);
      const turn = before ? before.then(() => write(event, key)) : write(event, key);
      turns.set(key, turn);
      const result = await turn;
      if (turns.get(key) === turn) turns.delete(key);
      return result;
    },
  };
}

function eventOf(
  regarding: KubeObject,
  { type, reason, message }: Told,
  who: { component: string; at: string },
): Event {
  const { apiVersion, kind } = regarding;
  const { name, namespace, uid, resourceVersion } = regarding.metadata;
  const about = { apiVersion, kind, name, ...(namespace ? { namespace } : {}), ...(uid ? { uid } : {}) };
  const kept = message.length > longestMessage ? `${message.slice(0, longestMessage - 1)}…` : message;
  const mark = fingerprint(JSON.stringify([about, who.component, type, reason, kept]));
  return {
    apiVersion: 'v1',
    kind: 'Event',
    // Events of objects without a namespace live in `default`, by the API's own rule.
    metadata: { name: `${name.slice(0, 200)}.${mark}`, namespace: namespace ?? 'default' },
    involvedObject: { ...about, ...(resourceVersion ? { resourceVersion } : {}) },
    type,
    reason,
    message: kept,
    source: { component: who.component },
    reportingComponent: who.component,
    reportingInstance: who.component,
    firstTimestamp: who.at,
    lastTimestamp: who.at,
    count: 1,
  };
}

/** FNV-1a in 64 bits, as hexadecimal: not for secrets, only to tell events apart. */
function fingerprint(text: string): string {
  let hash = 0xcbf29ce484222325n;
  for (const byte of new TextEncoder().encode(text)) hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n);
  return hash.toString(16).padStart(16, '0');
}
