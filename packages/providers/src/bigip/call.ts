// One request to a BIG-IP. The only place where what a device answers, or does not, becomes a problem.
import { fail, ok, type Clock, type ProblemCode, type Result } from '@fairlead/core';
import { isJson, listOf, textOf, type Json } from './json.ts';

export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

export interface CallOptions {
  /** Such as `https://192.0.2.1`. */
  url: string;
  fetch: Fetch;
  clock: Clock;
  /** Milliseconds until an answer must be there. Default 30,000. */
  timeout?: number | undefined;
}

export interface CallRequest {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** With its query, from `/mgmt` on. */
  path: string;
  body?: unknown;
  headers?: Record<string, string> | undefined;
  /** Milliseconds; instead of the options'. */
  timeout?: number | undefined;
}

export interface Answer {
  status: number;
  /** Empty when the answer has no body. */
  body: Json;
}

export type Call = (request: CallRequest, signal: AbortSignal) => Promise<Result<Answer>>;

const patience = 30_000;

export function caller({ url, fetch, clock, timeout = patience }: CallOptions): Call {
  return async (request, signal) => {
    const limit = request.timeout ?? timeout;
    const late = new AbortController();
    const answered = new AbortController();
    void clock.sleep(limit, answered.signal).then(() => late.abort());
    const received = await receive(fetch, `${url}${request.path}`, request, AbortSignal.any([signal, late.signal]));
    answered.abort();
    const what = `${request.method} ${request.path}`;
    if (received.ok) return answerOf(what, received.value.status, received.value.text);
    if (signal.aborted) return fail('unreachable', `${what}: stopped`);
    if (late.signal.aborted && received.problem.code === 'unreachable')
      return fail('unreachable', `${what}: no answer within ${limit / 1000} s`);
    return fail('unreachable', `${what}: ${received.problem.message}`);
  };
}

async function receive(
  fetch: Fetch,
  url: string,
  { method, body, headers }: CallRequest,
  signal: AbortSignal,
): Promise<Result<{ status: number; text: string }>> {
  try {
    const init: RequestInit = { method, headers: { 'content-type': 'application/json', ...headers }, signal };
    const response = await fetch(url, body === undefined ? init : { ...init, body: JSON.stringify(body) });
    return ok({ status: response.status, text: await response.text() });
  } catch (error) {
    // fetch rejects only where there is no answer: no connection, a broken one, an abort.
    return fail('unreachable', causeOf(error));
  }
}

/** `fetch failed` says nothing; the reason is in its cause. */
const causeOf = (error: unknown): string => {
  const { cause } = error instanceof Error ? error : { cause: undefined };
  return cause instanceof Error ? cause.message : String(error);
};

/**
 *   status                  | body                          | problem
 *   ------------------------+-------------------------------+------------
 *   2xx                     | JSON or none                  |
 *   2xx                     | anything else                 | busy: a page of a server that is not up yet
 *   400, 405, 413, 422      |                               | invalid, with AS3's own errors
 *   401, 403                |                               | denied
 *   404                     | says "not registered"         | busy: the service behind the path restarts
 *   404                     | none, or no JSON              | unreachable: some other server answers here
 *   404                     | anything else                 | missing
 *   409                     |                               | exists
 *   422                     | speaks of optimisticLockKey   | conflict: someone else wrote the tenant
 *   429, 5xx                | JSON, or an HTML page         | busy
 *   others                  |                               | invalid
 */
function answerOf(what: string, status: number, text: string): Result<Answer> {
  const body = parse(text);
  if (status >= 200 && status < 300) {
    return body.ok ? ok({ status, body: body.value }) : fail('busy', `${what}: ${status}, but the answer is not JSON`);
  }
  if (status === 404 && (!body.ok || text.trim() === ''))
    return fail('unreachable', `${what}: 404, and not as a BIG-IP says it; is this the address of its management?`);
  const said = body.ok ? wordsOf(body.value) : 'an answer that is not JSON';
  return fail(codeOf(status, said), `${what}: ${status} ${said}`);
}

/** What kind of failure a status is, of an answer or of one result inside it. Table above. */
export function codeOf(status: number, said: string): ProblemCode {
  if (status === 401 || status === 403) return 'denied';
  if (status === 404) return said.includes('not registered') ? 'busy' : 'missing';
  if (status === 409) return 'exists';
  if (status === 429 || status >= 500) return 'busy';
  return /optimistic ?lock/i.test(said) ? 'conflict' : 'invalid';
}

/** A device's own words: its message, and AS3's errors by path or by tenant. */
export function wordsOf(body: Json): string {
  const results = listOf(body['results']).map((result) =>
    [result['tenant'], result['message'], result['response']].filter(textOf).join(': '),
  );
  const errors = Array.isArray(body['errors']) ? body['errors'].map(String) : [];
  return [textOf(body['message']) ?? '', ...errors, ...results]
    .filter((part) => part !== '')
    .join('; ')
    .replaceAll(pem, '(PEM text)')
    .slice(0, longest);
}

/** A device may quote what it refuses, and a key has no place in a problem: whole, or cut off at either end. */
const pem = /-----BEGIN [A-Z ]+-----[\s\S]*?(-----END [A-Z ]+-----|$)/g;

/** A schema error may list each property of a declaration. */
const longest = 1_000;

function parse(text: string): Result<Json> {
  if (text.trim() === '') return ok({});
  try {
    const value = JSON.parse(text) as unknown;
    return isJson(value) ? ok(value) : ok({ items: value });
  } catch (error) {
    return fail('busy', String(error));
  }
}
