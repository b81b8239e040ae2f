// Faults on order: what the next requests meet in place of, or on the way to, their answer.

import type { Clock } from './clock.ts';
import { frameworkError, json, notRegistered, unavailablePage } from './rest/reply.ts';

/*
 *  fault          | the request meets
 *  ---------------+--------------------------------------------------------------------------
 *  latency        | its answer, `ms` later
 *  slow-body      | its answer, the body in pieces over `ms`
 *  unauthorized   | 401
 *  unavailable    | 503 as JSON
 *  html           | 503 as an HTML page
 *  unregistered   | 404 "not registered": the REST service is starting
 *  reset          | a broken connection; nothing was done
 *  lost-answer    | a broken connection, after all was done
 *  half-applied   | an AS3 run of which the second half of the tenants failed (207, or 422 for one)
 */
export type FaultKind =
  | 'latency'
  | 'slow-body'
  | 'unauthorized'
  | 'unavailable'
  | 'html'
  | 'unregistered'
  | 'reset'
  | 'lost-answer'
  | 'half-applied';

export interface Fault {
  kind: FaultKind;
  /** Only requests whose `METHOD /path` matches meet it; others pass by and leave it waiting. */
  only?: RegExp;
  /** For latency and slow-body, ms. */
  ms?: number;
  /** It stays for this many ms after its first meeting; without it, it is met once. */
  lasts?: number;
}

export class Faults {
  #clock: Clock;
  #waiting: { fault: Fault; until?: number }[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  add(...faults: Fault[]): void {
    this.#waiting.push(...faults.map((fault) => ({ fault })));
  }

  clear(): void {
    this.#waiting = [];
  }

  /** The fault that this request meets. */
  meet(request: Request): Fault | undefined {
    const line = `${request.method} ${new URL(request.url).pathname}`;
    this.#waiting = this.#waiting.filter(({ until }) => until === undefined || until > this.#clock.now());
    const found = this.#waiting.find(({ fault }) => fault.only === undefined || fault.only.test(line));
    if (!found) return undefined;
    if (found.fault.lasts === undefined) this.#waiting.splice(this.#waiting.indexOf(found), 1);
    else found.until ??= this.#clock.now() + found.fault.lasts;
    return found.fault;
  }
}

/** Thrown in place of an answer: the port breaks the connection, and `fetch` rejects as it does for a broken one. */
export class BrokenConnection extends TypeError {
  constructor() {
    super('fetch failed', { cause: Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' }) });
  }
}

/** Answers with the fault, or with the real answer as the fault leaves it. */
export async function meetFault(
  fault: Fault,
  request: Request,
  { clock, real }: { clock: Clock; real: () => Promise<Response> },
): Promise<Response> {
  switch (fault.kind) {
    case 'unauthorized':
      return frameworkError(401, 'Authorization required', request);
    case 'unavailable':
      return json(503, {
        code: 503,
        message: 'There is an active asynchronous task executing.',
        errorStack: [],
        apiError: 32_964_609,
      });
    case 'html':
      return unavailablePage();
    case 'unregistered':
      return notRegistered(request);
    case 'reset':
      throw new BrokenConnection();
    case 'lost-answer':
      await real();
      throw new BrokenConnection();
    case 'latency':
      await clock.sleep(fault.ms ?? 1000);
      return real();
    case 'slow-body':
      return slowed(await real(), clock, fault.ms ?? 1000);
    case 'half-applied':
      return real();
  }
}

/** The same answer, its body in ten pieces. */
async function slowed(answer: Response, clock: Clock, ms: number): Promise<Response> {
  const bytes = new Uint8Array(await answer.arrayBuffer());
  const size = Math.max(1, Math.ceil(bytes.length / 10));
  let at = 0;
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      await clock.sleep(ms / 10);
      controller.enqueue(bytes.slice(at, at + size));
      at += size;
      if (at >= bytes.length) controller.close();
    },
  });
  return new Response(bytes.length > 0 ? body : null, { status: answer.status, headers: answer.headers });
}
