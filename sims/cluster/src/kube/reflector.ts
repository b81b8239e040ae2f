// Keeps a store equal to what the server has of one kind.
//
//          list ──────────> watch ──ended──> watch again from the last version seen
//           ^                 │
//           └──410 Gone───────┤
//           └──back-off <──── other failures (a watch is resumed, a list is repeated)
import type { Clock } from '../clock.ts';
import type { Client, Problem, WatchEvent } from './client.ts';
import type { Kind } from './kinds.ts';
import type { KubeObject } from './objects.ts';
import type { Store } from './store.ts';

export interface ReflectorOptions<T extends KubeObject> {
  kind: Kind<T>;
  store: Store<T>;
  client: Client;
  clock: Clock;
  /** Uniform in [0, 1): spreads retries. */
  random(): number;
  log(line: string): void;
}

const firstWait = 200;
const longestWait = 30_000;

/** Runs until `signal` aborts; `synced` is called once, when the first list is in the store. */
export async function reflect<T extends KubeObject>(
  options: ReflectorOptions<T>,
  signal: AbortSignal,
  synced: () => void,
): Promise<void> {
  const { kind, clock, random, log } = options;
  let version: string | undefined;
  let failures = 0;
  let isSynced = false;
  while (!signal.aborted) {
    const began = clock.now();
    const step: Step = version === undefined ? await list(options) : await follow(options, version, signal);
    if (signal.aborted) return;
    version = step.version;
    // A kind that is not served has no objects: nobody should wait for it for ever.
    if (!isSynced && (step.listed || step.problem?.status === 404)) {
      isSynced = true;
      synced();
    }
    if (step.problem && step.problem.status !== 410) {
      failures += 1;
      log(`${kind.plural}: ${step.problem.message}`);
      await clock.sleep(Math.min(longestWait, firstWait * 2 ** (failures - 1)) * (0.5 + random()), signal);
    } else if (!step.listed && !step.saw && clock.now() - began < 1000) {
      // A server that ends every watch at once must not be asked without pause.
      await clock.sleep(firstWait * (0.5 + random()), signal);
    } else failures = 0;
  }
}

interface Step {
  /** Where the next watch starts; absent when a list is due. */
  version?: string | undefined;
  problem?: Problem | undefined;
  saw?: boolean;
  listed?: boolean;
}

async function list<T extends KubeObject>({ kind, store, client }: ReflectorOptions<T>): Promise<Step> {
  const items: T[] = [];
  let next = '';
  for (;;) {
    const page = await client.list(kind, { limit: '500', ...(next && { continue: next }) });
    if (!page.ok) return { problem: page.problem };
    // Go writes an empty list as null.
    for (const item of page.value.items ?? [])
      items.push(Object.assign(item, { apiVersion: kind.apiVersion, kind: kind.kind }));
    next = page.value.metadata.continue ?? '';
    if (next === '') {
      store.replace(items, page.value.metadata.resourceVersion);
      return { version: page.value.metadata.resourceVersion, listed: true };
    }
  }
}

async function follow<T extends KubeObject>(
  options: ReflectorOptions<T>,
  from: string,
  signal: AbortSignal,
): Promise<Step> {
  const { kind, client } = options;
  const query = {
    resourceVersion: from,
    allowWatchBookmarks: 'true',
    timeoutSeconds: String(240 + Math.floor(options.random() * 120)),
  };
  const opened = await client.watch(kind, query, signal);
  if (!opened.ok) return { version: opened.problem.status === 410 ? undefined : from, problem: opened.problem };
  const seen: Step = { version: from };
  try {
    for await (const event of opened.value) {
      const problem = take(options.store, event);
      if (problem) return { version: problem.status === 410 ? undefined : seen.version, problem, saw: true };
      seen.version = event.object.metadata.resourceVersion;
      seen.saw = true;
    }
  } catch (error) {
    if (signal.aborted) return seen;
    const message = `watch ${kind.plural} broke off: ${error instanceof Error ? error.message : String(error)}`;
    return { ...seen, problem: { status: 0, reason: 'Unreachable', message } };
  }
  return seen;
}

function take<T extends KubeObject>(store: Store<T>, { type, object }: WatchEvent<T>): Problem | undefined {
  if (type === 'ADDED' || type === 'MODIFIED') store.put(object);
  else if (type === 'DELETED') store.remove(object);
  else if (type === 'ERROR') {
    const { code, reason, message } = object as unknown as { code?: number; reason?: string; message?: string };
    return { status: code ?? 500, reason: reason ?? 'Unknown', message: message ?? 'watch error' };
  }
  return undefined;
}
