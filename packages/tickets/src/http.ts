// The approver behind an HTTP API (spec/tickets.md §6).
//   POST {url}/applications → 201 {id}    GET {url}/applications/{id} → {status, message}    DELETE … → 204
import { fail, ok, type Clock, type Problem, type ProblemCode, type Result } from '@fairlead/core';
import type { Answer, Approver, PolicyAt } from './approver.ts';
import { isRecord, parsedObject } from './json.ts';

export interface HttpApproverOptions {
  fetch: (request: Request) => Promise<Response>;
  clock: Clock;
  /** The bearer token for `at.tokenSecretRef`, read anew for each call, so that a new one counts without a restart. Undefined: none is needed. */
  token: (at: PolicyAt) => Promise<Result<string | undefined>>;
}

/** No answer after this long is no answer. Milliseconds. */
const patience = 10_000;
/** What the status of a ticket has room for. */
const longestId = 256;

export function http(options: HttpApproverOptions): Approver {
  const call = caller(options);
  return {
    async file(at, { ticket, cluster, namespace, veip, ltmip, claimer }, key) {
      const body = { ticket, cluster, namespace, veip, ltmip, ports: 'all', claimer };
      const answer = await call(at, { method: 'POST', path: '/applications', body, key });
      if (!answer.ok) return answer;
      const { id } = answer.value.body;
      return typeof id === 'string' && id !== '' && id.length <= longestId
        ? ok(id)
        : nonsense(answer.value, `an id of at most ${longestId} characters`);
    },
    async ask(at, id) {
      const answer = await call(at, { method: 'GET', path: `/applications/${encodeURIComponent(id)}` });
      if (!answer.ok) return answer;
      const { status, message } = answer.value.body;
      if (!isStatus(status)) return nonsense(answer.value, 'a status of pending, opened or rejected');
      return ok({ status, message: typeof message === 'string' ? message : '' });
    },
    async withdraw(at, id) {
      const answer = await call(at, { method: 'DELETE', path: `/applications/${encodeURIComponent(id)}` });
      return answer.ok || answer.problem.code === 'missing' ? ok(undefined) : answer;
    },
  };
}

interface Call {
  method: 'GET' | 'POST' | 'DELETE';
  path: string;
  body?: object;
  /** Idempotency-Key. */
  key?: string;
}

interface Answered {
  /** `POST https://…/applications: 201`. */
  what: string;
  body: Record<string, unknown>;
}

/** `isUnheard`: it refused what it was asked, or was not reached at all. */
type Called = { ok: true; value: Answered } | { ok: false; problem: Problem; isUnheard: boolean };

const unheard = (failed: { problem: Problem }): Called => ({ ok: false, problem: failed.problem, isUnheard: true });
const lost = (failed: { problem: Problem }): Called => ({ ok: false, problem: failed.problem, isUnheard: false });

/** The one place where what the network does becomes a problem. */
function caller({ fetch, clock, token }: HttpApproverOptions) {
  return async (at: PolicyAt, { method, path, body, key }: Call): Promise<Called> => {
    const url = `${(at.url ?? '').replace(/\/+$/, '')}${path}`;
    const bearer = await token(at);
    // Whatever is wrong with the token: that the approver has no such application would be something else.
    if (!bearer.ok) return unheard(fail('denied', bearer.problem.message, bearer.problem.path));
    const headers = {
      accept: 'application/json',
      ...(body ? { 'content-type': 'application/json' } : {}),
      ...(key ? { 'idempotency-key': key } : {}),
      ...(bearer.value ? { authorization: `Bearer ${bearer.value}` } : {}),
    };
    const timeout = new AbortController();
    const late = clock.sleep(patience, timeout.signal).then(() => 'late' as const);
    try {
      const sent = { method, headers, signal: timeout.signal, ...(body ? { body: JSON.stringify(body) } : {}) };
      const response = await Promise.race([fetch(new Request(url, sent)), late]);
      if (response === 'late') return lost(fail('unreachable', `${method} ${url}: no answer in ${patience / 1000} s`));
      const text = await Promise.race([response.text(), late]);
      const what = `${method} ${url}: ${response.status}`;
      if (response.ok) return ok({ what, body: parsedObject(text === '' ? '{}' : text) });
      const refused = fail(codeOf(response.status), `${what} ${text.slice(0, 200)}`);
      return refusals.has(refused.problem.code) ? unheard(refused) : lost(refused);
    } catch (error) {
      // What fetch throws is a connection that failed, or a URL that is none; both are for the platform admin to see.
      const broken = fail('unreachable', `${method} ${url}: ${error instanceof Error ? error.message : String(error)}`);
      return isUnsent(error) ? unheard(broken) : lost(broken);
    } finally {
      timeout.abort();
    }
  };
}

const codes: Record<number, ProblemCode> = {
  400: 'invalid',
  401: 'denied',
  403: 'denied',
  404: 'missing',
  409: 'conflict',
  422: 'invalid',
};

const refusals: ReadonlySet<ProblemCode> = new Set(['invalid', 'denied', 'missing']);

/** What Node.js says when there was nobody to send anything to (https://nodejs.org/api/errors.html). */
const unsent: readonly unknown[] = ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'ERR_INVALID_URL']; // prettier-ignore

const isUnsent = (error: unknown): boolean =>
  error instanceof Error && isRecord(error.cause) && unsent.includes(error.cause['code']);

/** What is in neither table, as 429 and 5xx, may be gone at the next try. */
const codeOf = (status: number): ProblemCode => codes[status] ?? 'busy';

const isStatus = (status: unknown): status is Answer['status'] =>
  status === 'pending' || status === 'opened' || status === 'rejected';

const nonsense = ({ what }: Answered, wanted: string) =>
  fail('busy', `${what}: the answer has to hold ${wanted}; is this the approver's API?`);
