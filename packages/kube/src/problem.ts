// Where what a server said, or did not say, becomes a problem. The one such place.
import type { KubeProblem, KubeResult } from './kube.ts';

/** The `Status` object of the API, as far as it is read here. */
export interface Status {
  code?: number;
  reason?: string;
  message?: string;
  details?: { retryAfterSeconds?: number; causes?: { reason?: string; message?: string }[] };
}

/** For messages: which request this was about. */
export interface Asked {
  method: string;
  path: string;
}

const tooLarge = 'ResourceVersionTooLarge';

const codes: Record<number, KubeProblem['code']> = {
  401: 'denied',
  403: 'denied',
  404: 'missing',
  408: 'busy',
  409: 'conflict',
  410: 'gone',
  429: 'busy',
  502: 'unreachable',
  504: 'unreachable',
};

/**
 *   status       | reason              | code
 *   -------------+---------------------+------------
 *   401 403      |                     | denied
 *   404          |                     | missing
 *   409          | AlreadyExists       | exists
 *   409          | any other           | conflict
 *   410          |                     | gone
 *   any          | Expired             | gone
 *   408 429      |                     | busy
 *   502 504      |                     | unreachable   a proxy's word that the server did not answer
 *   other 5xx    |                     | busy
 *   other        |                     | invalid
 */
export function codeOf(status: number, reason?: string): KubeProblem['code'] {
  if (reason === 'Expired') return 'gone';
  if (status === 409 && reason === 'AlreadyExists') return 'exists';
  return codes[status] ?? (status >= 500 ? 'busy' : 'invalid');
}

/** An answer other than 2xx. `now`: milliseconds since the epoch, for a Retry-After that is a date. */
export function refusal(
  asked: Asked,
  answer: { status: number; retryAfter: string | null; text: string },
  now: number,
) {
  const status = parseStatus(answer.text);
  const problem = statusProblem(asked, { ...status, code: answer.status });
  const retryAfter = answer.retryAfter === null ? undefined : milliseconds(answer.retryAfter, now);
  return retryAfter === undefined ? problem : { ...problem, retryAfter };
}

/**
 * A `Status` object, from an answer or from an ERROR event of a watch. A resourceVersion that is ahead of the server,
 * because that was restored from a backup, is as gone as one that is too old.
 */
export function statusProblem(asked: Asked, status: Status): KubeProblem {
  const { code = 500, reason, message, details } = status;
  const isAhead = details?.causes?.some((cause) => cause.reason === tooLarge) ?? false;
  const words = [`${code}${reason ? ` ${reason}` : ''}`, ...(message ? [message] : [])].join(': ');
  return {
    code: isAhead ? 'gone' : codeOf(code, reason),
    message: `${asked.method} ${asked.path}: ${words}`,
    status: code,
    ...(reason ? { reason } : {}),
    ...(details?.retryAfterSeconds === undefined ? {} : { retryAfter: details.retryAfterSeconds * 1000 }),
  };
}

/** No answer, or half of one. `error` is what the transport threw. */
export const unreachable = (asked: Asked, error: unknown): KubeProblem => ({
  code: 'unreachable',
  message: `${asked.method} ${asked.path}: ${reasonOf(error)}`,
});

/** An answer that is not what the API promises, as from a proxy's sign-in page. */
export const nonsense = (asked: Asked, what: string): { ok: false; problem: KubeProblem } => ({
  ok: false,
  problem: { code: 'unreachable', message: `${asked.method} ${asked.path}: the answer is not ${what}` },
});

/** A wish that cannot even be asked for. `message` says what is wrong with it, and where. */
export const invalid = (message: string): { ok: false; problem: KubeProblem } => ({
  ok: false,
  problem: { code: 'invalid', message },
});

/** No credentials to show. `message` says where they should have come from. */
export const denied = (message: string): { ok: false; problem: KubeProblem } => ({
  ok: false,
  problem: { code: 'denied', message },
});

/** JSON, or a problem that shows how the text begins. */
export function parseJson(asked: Asked, text: string): KubeResult<unknown> {
  try {
    return { ok: true, value: JSON.parse(text) as unknown };
  } catch {
    return nonsense(asked, `JSON: ${text.slice(0, 100)}`);
  }
}

function parseStatus(text: string): Status {
  const parsed = text.startsWith('{') ? parseJson({ method: '', path: '' }, text) : undefined;
  if (parsed?.ok && (parsed.value as { kind?: unknown }).kind === 'Status') return parsed.value as Status;
  return text.trim() === '' ? {} : { message: text.trim().slice(0, 300) };
}

// What `fetch` throws says nothing; its cause does ("connect ECONNREFUSED 127.0.0.1:6443").
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause === undefined ? '' : `: ${reasonOf(error.cause)}`;
  // An AggregateError, as from a name with several addresses, has an empty message and its reasons inside.
  const inner =
    error instanceof AggregateError && !error.message ? error.errors.map(reasonOf).join(', ') : error.message;
  return `${inner}${cause}`;
}

function milliseconds(retryAfter: string, now: number): number | undefined {
  if (/^\d+$/.test(retryAfter.trim())) return Number(retryAfter) * 1000;
  const at = Date.parse(retryAfter);
  return Number.isNaN(at) ? undefined : Math.max(0, at - now);
}
