// Sends requests: credentials, time limits, and the retries that are safe.
import { backoff } from './backoff.ts';
import type { Clock } from './clock.ts';
import { idleGuard } from './idle-guard.ts';
import type { KubeProblem, KubeResult } from './kube.ts';
import { parseJson, refusal, unreachable } from './problem.ts';
import type { KubeRequest } from './request.ts';
import type { Send, SendResponse } from './send.ts';

/** Who we are, as headers. */
export interface Auth {
  /** The headers to send now; they may take a file or a program to get. */
  headers(): Promise<KubeResult<Record<string, string>>>;
  /** The server did not take `headers` (401): forget them if they are kept. Says whether new ones may differ. */
  refused(headers: Record<string, string>): boolean;
}

export interface CallerOptions {
  server: string;
  send: Send;
  auth?: Auth | undefined;
  clock: Clock;
  random: () => number;
  userAgent: string;
}

export interface Caller {
  /** The whole answer: parsed when it is JSON, text otherwise, undefined when empty. */
  call(request: KubeRequest, signal?: AbortSignal): Promise<KubeResult<unknown>>;
  /** An answer whose body is yet to be read. Never retries. */
  open(request: KubeRequest, signal: AbortSignal): Promise<KubeResult<SendResponse>>;
}

/** Milliseconds for one attempt. The API server itself gives up after 60 s. */
const patience = 60_000;
const attempts = 4;
const waits = { first: 200, longest: 5_000 };
/** Asked to wait longer than this, the caller is told rather than kept waiting. Milliseconds. */
const longestWait = 10_000;

/**
 *   what came                     | a repeatable request          | any other
 *   ------------------------------+-------------------------------+-------------
 *   401, other credentials at hand| once more with these          | the same: nothing was done
 *   429, 5xx, no answer           | up to 4 attempts, by back-off | told at once: it may have been done
 *   ... with Retry-After          | after that long, if within 10 s | told at once
 *   anything else                 | told at once                  | told at once
 */
export function caller(options: CallerOptions): Caller {
  const { clock, random } = options;
  return {
    async call(request, signal) {
      for (let attempt = 1; ; attempt++) {
        const answer = await whole(options, request, signal);
        if (answer.ok || attempt === attempts || signal?.aborted) return answer;
        const { code, retryAfter = 0 } = answer.problem;
        const worthIt = (code === 'busy' || code === 'unreachable') && retryAfter <= longestWait;
        if (!request.repeatable || !worthIt) return answer;
        await clock.sleep(Math.max(retryAfter, backoff(waits, attempt, random)), signal);
      }
    },
    open: (request, signal) => exchange(options, request, { signal, stream: true }),
  };
}

async function whole(options: CallerOptions, request: KubeRequest, parent?: AbortSignal): Promise<KubeResult<unknown>> {
  const guard = idleGuard(options.clock, { idle: () => patience, parent });
  const answer = await textOf(options, request, guard.signal);
  if (answer.ok) {
    guard.done();
    return answer;
  }
  guard.end();
  if (!guard.expired) return answer;
  return { ok: false, problem: unreachable(request, `no answer within ${patience / 1000} s`) };
}

async function textOf(options: CallerOptions, request: KubeRequest, signal: AbortSignal): Promise<KubeResult<unknown>> {
  const response = await exchange(options, request, { signal, stream: false });
  if (!response.ok) return response;
  const text = await settled(response.value.text(), request);
  if (!text.ok || text.value === '') return text.ok ? { ok: true, value: undefined } : text;
  const isJson = /\bjson\b/.test(response.value.headers.get('content-type') ?? '');
  return isJson ? parseJson(request, text.value) : text;
}

interface Way {
  signal: AbortSignal;
  stream: boolean;
}

/** One exchange, or two when the first met stale credentials. Only 2xx answers come back as values. */
async function exchange(options: CallerOptions, request: KubeRequest, way: Way): Promise<KubeResult<SendResponse>> {
  for (let again = false; ; again = true) {
    const who = options.auth ? await options.auth.headers() : ({ ok: true, value: {} } as const);
    if (!who.ok) return who;
    const response = await sent(options, request, { ...way, who: who.value });
    if (!response.ok) return response;
    const { status, headers } = response.value;
    if (status >= 200 && status < 300) return response;
    const text = await settled(response.value.text(), request);
    if (!text.ok) return text;
    if (status === 401 && !again && options.auth?.refused(who.value)) continue;
    const answer = { status, retryAfter: headers.get('retry-after'), text: text.value };
    return { ok: false, problem: refusal(request, answer, options.clock.now()) };
  }
}

function sent(options: CallerOptions, request: KubeRequest, way: Way & { who: Record<string, string> }) {
  const { method, path, query, body } = request;
  const { signal, stream, who } = way;
  const headers = { ...request.headers, 'user-agent': options.userAgent, ...who };
  const url = `${options.server.replace(/\/+$/, '')}${path}${query}`;
  return settled(options.send({ method, url, headers, body, signal, stream }), request);
}

/** What the transport rejects with is no bug: the network is the world's. */
const settled = <T>(promise: Promise<T>, request: KubeRequest): Promise<KubeResult<T>> =>
  promise.then(
    (value) => ({ ok: true, value }),
    (error: unknown): { ok: false; problem: KubeProblem } => ({ ok: false, problem: unreachable(request, error) }),
  );
