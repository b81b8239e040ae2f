// One watch request: from opening it to its end.
import type { Caller } from './call.ts';
import type { Clock } from './clock.ts';
import { type IdleGuard, idleGuard } from './idle-guard.ts';
import type { KubeProblem } from './kube.ts';
import { lineSplitter } from './lines.ts';
import type { KubeObject } from './object.ts';
import { parseJson, type Status, statusProblem, unreachable } from './problem.ts';
import type { KubeRequest } from './request.ts';

export interface WatchEvent<T extends KubeObject> {
  type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK';
  object: T;
}

/**
 * - `closed`: by the server, or by our own signal
 * - `silent`: nothing was heard for too long
 * - `gone`: the resourceVersion is too old; only a list helps
 * - `refused`: the server answered other than 2xx
 * - `broken`: half-way, or by an ERROR event
 */
export type StreamEnd = { how: 'closed' | 'silent' } | { how: 'gone' | 'refused' | 'broken'; problem: KubeProblem };

export interface StreamSource {
  caller: Caller;
  clock: Clock;
  request: KubeRequest;
  /** Milliseconds without a byte after which the connection is taken for dead. */
  idle: () => number;
  signal: AbortSignal;
}

export interface StreamReader<T extends KubeObject> {
  /** The server has agreed; events may follow. */
  opened(): void;
  event(event: WatchEvent<T>): void;
}

/** Reads until the end. Rejects only when `reader` throws, which is a bug. After an abort no event is told. */
export async function stream<T extends KubeObject>(source: StreamSource, reader: StreamReader<T>): Promise<StreamEnd> {
  const guard = idleGuard(source.clock, { idle: source.idle, parent: source.signal });
  try {
    const end = await follow(source, guard, reader);
    // Our own abort looks like a broken connection from inside.
    if (guard.expired) return { how: 'silent' };
    return source.signal.aborted ? { how: 'closed' } : end;
  } finally {
    guard.end();
  }
}

async function follow<T extends KubeObject>(
  source: StreamSource,
  guard: IdleGuard,
  reader: StreamReader<T>,
): Promise<StreamEnd> {
  const { caller, request } = source;
  const answer = await caller.open(request, guard.signal);
  if (!answer.ok) return { how: answer.problem.code === 'gone' ? 'gone' : 'refused', problem: answer.problem };
  guard.heard();
  reader.opened();
  const chunks = answer.value.body[Symbol.asyncIterator]();
  const lines = lineSplitter();
  for (;;) {
    const next = await chunks.next().catch((error: unknown) => ({ problem: unreachable(request, error) }));
    if ('problem' in next) return { how: 'broken', problem: next.problem };
    if (next.done) return { how: 'closed' };
    guard.heard();
    for (const line of lines(next.value)) {
      const end = guard.signal.aborted ? ({ how: 'closed' } as const) : readLine(line, request, reader);
      if (end) return end;
    }
  }
}

/** Tells the event in a line, or gives the end that it stands for. */
function readLine<T extends KubeObject>(
  line: string,
  request: KubeRequest,
  reader: StreamReader<T>,
): StreamEnd | undefined {
  const parsed = parseJson(request, line);
  if (!parsed.ok) return { how: 'broken', problem: parsed.problem };
  const { type, object } = (parsed.value ?? {}) as { type?: string; object?: Partial<KubeObject> };
  if (type === 'ERROR') {
    const problem = statusProblem(request, (object ?? {}) as Status);
    return { how: problem.code === 'gone' ? 'gone' : 'broken', problem };
  }
  if (isEventType(type) && typeof object?.metadata?.resourceVersion === 'string') {
    reader.event({ type, object: object as T });
    return undefined;
  }
  return { how: 'broken', problem: unreachable(request, `not a watch event: ${line.slice(0, 100)}`) };
}

const isEventType = (type: string | undefined): type is WatchEvent<KubeObject>['type'] =>
  type === 'ADDED' || type === 'MODIFIED' || type === 'DELETED' || type === 'BOOKMARK';
