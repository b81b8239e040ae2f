// The watcher: keeps a sink up to date with one kind, through whatever a server or the way to it may do.
import { backoff } from './backoff.ts';
import type { Caller } from './call.ts';
import type { Clock } from './clock.ts';
import type { KubeProblem, Trouble } from './kube.ts';
import { list } from './list.ts';
import type { KubeObject } from './object.ts';
import { unreachable } from './problem.ts';
import { receiver, type Receiver, type Watched } from './receiver.ts';
import * as requests from './request.ts';
import { stream, type StreamEnd } from './stream.ts';

/** What all watchers of one client share. */
export interface WatchParts {
  caller: Caller;
  clock: Clock;
  random: () => number;
  report(trouble: Trouble): void;
  /** Whether to ask for the initial list as a stream; set to false once the server has shown that it cannot. */
  watchList: { supported: boolean };
}

const waits = { first: 250, longest: 30_000 };
/** A stream that lasted this long was sound, and failures count from one again. Milliseconds. */
const sound = 10_000;
/** Servers send a bookmark about once a minute; with none for this long the connection is taken for dead. Milliseconds. */
const idle = 150_000;
/** A server that knows nothing of WatchList never marks the end of the list: after this silence pages are asked for. Milliseconds. */
const idleInitial = 5_000;

/**
 * Five states. `relist` is `list` while the old copy stays: the sink hears nothing until the new list is whole.
 *
 *            ┌────────┐  whole   ┌─────────┐  closed  ┌──────────┐
 *   start ──>│  list  ├─────────>│  watch  ├─────────>│  resume  │ from the last resourceVersion,
 *            └────┬───┘    ┌────>└─┬─────┬─┘<─────────┴────┬─────┘ also that of a bookmark
 *            fails│   whole│  410  │     │broken    agreed  │broken
 *                 │   ┌────┴───┐   │     │                 │
 *                 │   │ relist │<──┘     │                 │
 *                 v   └────┬───┘         v                 v
 *            ┌─────────────┴───────────────────────────────────┐
 *            │ back-off            then where it was going to  │
 *            └─────────────────────────────────────────────────┘
 *
 *   the stream ended             | then
 *   -----------------------------+--------------------------------------------------------------
 *   closed or silent, after 10 s | resume at once
 *   closed sooner                | back-off, resume: a proxy that closes at once must not be stormed
 *   410, as status or event      | relist; at once the first time, by back-off when it repeats
 *   reset, 5xx, 429, ERROR event | back-off, no less than Retry-After, resume
 *   400 404 422 …                | back-off, relist: what we resume from may be what is refused
 */
export async function watch<T extends KubeObject>(
  parts: WatchParts,
  watched: Watched<T>,
  signal: AbortSignal,
): Promise<void> {
  const seen = receiver(watched, parts.report);
  let failures = 0;
  while (!signal.aborted) {
    const needsPages = seen.at === undefined && !parts.watchList.supported;
    const turn = needsPages ? await fill(parts, watched, seen, signal) : await follow(parts, watched, seen, signal);
    if (signal.aborted) return;
    if (turn.streamed >= sound) failures = 0;
    if (!turn.problem) continue;
    failures++;
    seen.trouble(turn.problem);
    if (turn.atOnce && failures === 1) continue;
    const wait = backoff(waits, failures, parts.random);
    await parts.clock.sleep(Math.max(wait, turn.problem.retryAfter ?? 0), signal);
  }
}

/** How one list, or one stream, went. */
interface Turn {
  /** Milliseconds for which changes were followed. */
  streamed: number;
  problem?: KubeProblem;
  /** The first time, waiting would gain nothing. */
  atOnce?: boolean;
}

async function fill<T extends KubeObject>(
  parts: WatchParts,
  { kind, options }: Watched<T>,
  seen: Receiver<T>,
  signal: AbortSignal,
): Promise<Turn> {
  const listed = await list(parts.caller, kind, options, signal);
  if (!listed.ok) return { streamed: 0, problem: listed.problem };
  // What arrives after the abort is nobody's any more.
  if (!signal.aborted) seen.whole(listed.value.items, listed.value.resourceVersion);
  return { streamed: 0 };
}

async function follow<T extends KubeObject>(
  parts: WatchParts,
  { kind, options }: Watched<T>,
  seen: Receiver<T>,
  signal: AbortSignal,
): Promise<Turn> {
  const { caller, clock, random, watchList } = parts;
  // Spread, so that a fleet of watchers does not come back in one moment.
  const timeoutSeconds = 300 + Math.floor(random() * 300);
  const built = requests.watch(kind, options, { resourceVersion: seen.at, timeoutSeconds });
  if (!built.ok) return { streamed: 0, problem: built.problem };
  const begun = clock.now();
  seen.opening();
  const source = { caller, clock, request: built.value, signal, idle: () => (seen.isInitial ? idleInitial : idle) };
  const end = await stream<T>(source, {
    opened: () => seen.isInitial || seen.trouble(undefined),
    event: seen.event,
  });
  if (seen.isInitial && isIgnorant(end)) {
    watchList.supported = false;
    return { streamed: 0 };
  }
  const streamed = seen.isInitial ? 0 : clock.now() - begun;
  if ('problem' in end) {
    if (!mayResume(end.problem)) seen.lost();
    return { streamed, problem: end.problem, atOnce: end.how === 'gone' };
  }
  if (streamed >= sound) return { streamed };
  return { streamed, problem: unreachable(built.value, `the watch ended after ${clock.now() - begun} ms`) };
}

/** Does this end of the initial list mean that the server cannot stream it? Old ones refuse the parameter, or ignore it. */
const isIgnorant = (end: StreamEnd): boolean =>
  end.how === 'silent' || (end.how === 'refused' && (end.problem.status === 400 || end.problem.status === 422));

const mayResume = ({ code }: KubeProblem): boolean => code === 'busy' || code === 'unreachable' || code === 'denied';
