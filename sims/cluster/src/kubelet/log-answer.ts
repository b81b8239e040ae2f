// Sends a container's log as the kubelet does: what there is, and with follow what comes, no faster than it is read.
import type { ServerResponse } from 'node:http';
import { nanoTimestamp } from '../clock.ts';
import type { LogLine } from './container-log.ts';
import { ContainerLog } from './container-log.ts';
import type { ContainerRun } from './container-run.ts';
import type { LogQuery } from './log-query.ts';

export type Chosen = { ok: true; log: ContainerLog } | { ok: false; message: string };

/**
 *  asked for | container                             | answer
 *  ----------+---------------------------------------+------------------------------------
 *  previous  | ended before, while the simulator ran | the log of that life
 *  previous  | otherwise                             | refused: not found
 *  present   | runs, or has ended                    | its log
 *  present   | ended before the simulator started    | nothing: the log went with the simulator
 *  present   | waits after an end                    | the log of the life that ended
 *  present   | waits for its first start             | refused: waiting to start, and why
 */
export function chooseLog(one: ContainerRun, pod: string, isPrevious: boolean): Chosen {
  const { name } = one.spec;
  const log = isPrevious ? one.previousLog : one.presentLog;
  if (log) return { ok: true, log };
  if (isPrevious) return { ok: false, message: `previous terminated container "${name}" in pod "${pod}" not found` };
  if (one.state.terminated) return { ok: true, log: ContainerLog.ended() };
  const reason = one.state.waiting?.reason ?? 'ContainerCreating';
  return { ok: false, message: `container "${name}" in pod "${pod}" is waiting to start: ${reason}` };
}

/** Resolves when all is sent, or the client has gone. A client too slow for the log misses lines, and holds nothing up. */
export async function sendLog(log: ContainerLog, query: LogQuery, response: ServerResponse): Promise<void> {
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  response.writeHead(200, { 'content-type': 'text/plain' });
  // A log that is followed may have no line for long; that it is there is to be known now.
  response.flushHeaders();
  // The tail is counted first and its old lines left out then, as the kubelet does.
  let next = Math.max(0, log.next - query.tail);
  let left = query.limit;
  for (;;) {
    const bytes = textOf(log.from(next), query).subarray(0, left);
    next = log.next;
    left -= bytes.length;
    if (bytes.length > 0 && !response.write(bytes)) await drained(response, gone.signal);
    const isOver = !query.isFollowing || (log.isEnded && log.next === next);
    if (isOver || left <= 0 || gone.signal.aborted) break;
    await log.reached(next, gone.signal);
  }
  response.end();
}

function textOf(lines: LogLine[], { since, hasTimestamps }: LogQuery): Buffer {
  const shown = lines.filter(({ at }) => at >= since);
  return Buffer.from(shown.map(({ at, text }) => `${hasTimestamps ? `${nanoTimestamp(at)} ` : ''}${text}\n`).join(''));
}

function drained(response: ServerResponse, gone: AbortSignal): Promise<void> {
  if (gone.aborted) return Promise.resolve();
  return new Promise((done) => {
    const over = () => {
      response.off('drain', over);
      gone.removeEventListener('abort', over);
      done();
    };
    response.once('drain', over);
    gone.addEventListener('abort', over, { once: true });
  });
}
