// The approver: applications in memory, the API in front of them, and faults on order.
import { server, type Listening } from './listen.ts';
import { page } from './page.ts';

export type Status = 'pending' | 'opened' | 'rejected';

export interface Application {
  id: string;
  /** Idempotency-Key; undefined when none was sent. */
  key: string | undefined;
  status: Status;
  message: string;
  /** What was filed. */
  body: Record<string, unknown>;
}

export type Fault =
  /** 500, and nothing is done. */
  | { kind: 'outage' }
  /** Done, and the connection breaks before the answer. */
  | { kind: 'lost' }
  /** Done, and answered after so many milliseconds. */
  | { kind: 'slow'; ms: number }
  /** Delivered twice by the network; the second answer arrives. */
  | { kind: 'twice' };

export interface ApproverOptions {
  /** Bearer token; undefined: nobody is asked for one. */
  token?: string | undefined;
  /** What new applications are at once. Default `pending`. */
  decision?: Status | undefined;
  /** Milliseconds before each answer. */
  latency?: number | undefined;
  /** Resolves after so many milliseconds; the machine's timers when absent. */
  sleep?: ((ms: number) => Promise<void>) | undefined;
}

export interface Approver {
  /** The API and the page, as a function. Rejects as a broken connection would. */
  fetch(request: Request): Promise<Response>;
  listen(at: { host: string; port: number }): Promise<{ url: string }>;
  close(): Promise<void>;
  /** Filed and not revoked, in order. */
  applications(): readonly Application[];
  /** All that was ever filed, revoked ones too: of one edit there should be one. */
  readonly filed: number;
  /** `POST /applications 201`, as they were answered. */
  readonly calls: readonly string[];
  /** False when there is no such application. */
  decide(id: string, status: Status, message?: string): boolean;
  /** Takes it away, as the approver's own people may: whose it was is not told. */
  revoke(id: string): void;
  /** Decides all that are pending, and those still to come. */
  decideAll(status: Status, message?: string): void;
  /** Of the next request; several are had in order. */
  failNext(...faults: Fault[]): void;
  setToken(token: string | undefined): void;
}

export function approver(options: ApproverOptions = {}): Approver {
  const { latency = 0, sleep = (ms: number) => new Promise<void>((wake) => setTimeout(wake, ms)) } = options;
  const filed = register(options.decision ?? 'pending');
  const faults: Fault[] = [];
  const calls: string[] = [];
  let { token } = options;
  let listening: Listening | undefined;

  const answer = (asked: Asked): Answer =>
    token !== undefined && asked.token !== token
      ? { code: 401, body: { error: 'a Bearer token is needed' } }
      : route(filed, asked);
  const api = async (request: Request): Promise<Response> => {
    const asked = await read(request);
    const fault = faults.shift();
    const answered: Answer = fault?.kind === 'outage' ? { code: 500, body: { error: 'out of order' } } : answer(asked);
    const last = fault?.kind === 'twice' ? answer(asked) : answered;
    calls.push(`${asked.method} ${asked.path} ${last.code}`);
    const wait = latency + (fault?.kind === 'slow' ? fault.ms : 0);
    if (wait > 0) await sleep(wait);
    if (fault?.kind === 'lost') throw new TypeError('the connection broke before the answer');
    return last.body === undefined
      ? new Response(null, { status: last.code })
      : Response.json(last.body, { status: last.code });
  };
  const fetch = async (request: Request): Promise<Response> => (await page(request, filed)) ?? api(request);
  return {
    fetch,
    async listen(at) {
      listening = await server(fetch, at);
      return { url: listening.url };
    },
    close: async () => listening?.close(),
    applications: filed.applications,
    get filed() {
      return filed.count;
    },
    calls,
    decide: filed.decide,
    decideAll: filed.decideAll,
    revoke: filed.revoke,
    failNext: (...more) => void faults.push(...more),
    setToken: (next) => void (token = next),
  };
}

/** The applications that are filed and not revoked, and what is decided of them. */
interface Register extends Pick<Approver, 'applications' | 'decide' | 'decideAll' | 'revoke'> {
  /** All that were ever filed. */
  readonly count: number;
  /** The id. Of one key there is one application, ever. */
  file(key: string | undefined, body: Record<string, unknown>): string;
  find(id: string): Application | undefined;
}

function register(decision: Status): Register {
  const open = new Map<string, Application>();
  const keys = new Map<string, string>();
  let coming = { status: decision, message: '' };
  let count = 0;
  return {
    get count() {
      return count;
    },
    applications: () => [...open.values()],
    file(key, body) {
      const known = key === undefined ? undefined : keys.get(key);
      if (known !== undefined) return known;
      count += 1;
      const id = `app-${count}`;
      open.set(id, { id, key, ...coming, body });
      if (key !== undefined) keys.set(key, id);
      return id;
    },
    find: (id) => open.get(id),
    revoke: (id) => void open.delete(id),
    decide(id, status, message = '') {
      const application = open.get(id);
      if (application) Object.assign(application, { status, message });
      return application !== undefined;
    },
    decideAll(status, message = '') {
      coming = { status, message };
      for (const application of open.values()) if (application.status === 'pending') Object.assign(application, coming);
    },
  };
}

/** What the API does and says, to those who may ask. */
function route(filed: Register, { method, path, key, body }: Asked): Answer {
  const [, kind = '', id, rest] = path.split('/');
  if (kind !== 'applications' || rest !== undefined) return { code: 404, body: { error: `no ${path}` } };
  if (id === undefined && method === 'POST')
    return body ? file(filed, key, body) : { code: 400, body: { error: 'the body is no JSON object' } };
  if (id !== undefined && (method === 'GET' || method === 'DELETE')) return one(filed, method, decodeURIComponent(id));
  return { code: 405, body: { error: `${method} is not for ${path}` } };
}

function file(filed: Register, key: string | undefined, body: Record<string, unknown>): Answer {
  const lacking = ['ticket', 'veip', 'ltmip'].filter((field) => typeof body[field] !== 'string' || body[field] === '');
  if (lacking.length > 0) return { code: 422, body: { error: `an application needs ${lacking.join(', ')}` } };
  return { code: 201, body: { id: filed.file(key, body) } };
}

function one(filed: Register, method: 'GET' | 'DELETE', id: string): Answer {
  const application = filed.find(id);
  if (!application) return { code: 404, body: { error: `no application ${id}` } };
  if (method === 'GET') return { code: 200, body: { status: application.status, message: application.message } };
  filed.revoke(id);
  return { code: 204 };
}

interface Answer {
  code: number;
  body?: object;
}

interface Asked {
  method: string;
  path: string;
  token: string | undefined;
  key: string | undefined;
  /** Undefined for what is no JSON object. */
  body: Record<string, unknown> | undefined;
}

async function read(request: Request): Promise<Asked> {
  const text = await request.text();
  return {
    method: request.method,
    path: new URL(request.url).pathname.replace(/^.*(?=\/applications)/, ''),
    token: /^Bearer (.+)$/.exec(request.headers.get('authorization') ?? '')?.[1],
    key: request.headers.get('idempotency-key') ?? undefined,
    body: parsed(text),
  };
}

function parsed(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    // That it is no JSON is the answer.
    return undefined;
  }
}
