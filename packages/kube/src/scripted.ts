// For tests: a server that gives the answers it was told, in order, and remembers what it was asked.
import type { Kube } from './kube.ts';
import type { ConfigMap } from './kinds.ts';
import { kube, type KubeOptions } from './client.ts';
import type { Clock } from './clock.ts';
import type { Send, SendRequest, SendResponse } from './send.ts';

export type Answer = SendResponse | Error | ((request: SendRequest) => SendResponse | Promise<SendResponse>);

export interface Scripted {
  send: Send;
  asked: SendRequest[];
  /** `GET /api/v1/pods?watch=true`, one per request. */
  readonly lines: string[];
  /** Adds answers to give. With none left, requests wait until one is added, as with a slow server. */
  next(...answers: Answer[]): void;
}

export function scripted(...first: Answer[]): Scripted {
  const asked: SendRequest[] = [];
  const answers: Answer[] = [...first];
  const waiting: ((answer: Answer) => void)[] = [];
  const next = (...more: Answer[]) => {
    for (const answer of more) {
      const waiter = waiting.shift();
      if (waiter) waiter(answer);
      else answers.push(answer);
    }
  };
  return {
    asked,
    next,
    get lines() {
      return asked.map(({ method, url }) => `${method} ${url.replace('http://test', '')}`);
    },
    async send(request) {
      asked.push(request);
      const ready = answers.shift();
      const answer = ready ?? (await arrival(waiting, request.signal));
      if (answer instanceof Error) throw answer;
      return typeof answer === 'function' ? answer(request) : answer;
    },
  };
}

function arrival(waiting: ((answer: Answer) => void)[], signal: AbortSignal | undefined): Promise<Answer> {
  return new Promise((resolve, reject) => {
    waiting.push(resolve);
    signal?.addEventListener('abort', () => {
      const at = waiting.indexOf(resolve);
      if (at >= 0) waiting.splice(at, 1);
      reject(new Error('aborted'));
    });
  });
}

/** A client of the server, at `http://test`. `random` is 0 unless given, so waits are the shortest there are. */
export const clientOf = (server: Scripted, clock: Clock, options: Partial<KubeOptions> = {}): Kube =>
  kube({ server: 'http://test', send: server.send, clock, random: () => 0, ...options });

const encoder = new TextEncoder();

export function json(value: unknown, status = 200, headers: Record<string, string> = {}): SendResponse {
  return text(JSON.stringify(value), status, { 'content-type': 'application/json', ...headers });
}

export function text(body: string, status = 200, headers: Record<string, string> = {}): SendResponse {
  return {
    status,
    headers: { get: (name) => headers[name.toLowerCase()] ?? null },
    body: chunks([encoder.encode(body)]),
    text: () => Promise.resolve(body),
  };
}

export const refused = (status: number, reason: string, headers: Record<string, string> = {}): SendResponse =>
  json({ kind: 'Status', apiVersion: 'v1', code: status, reason, message: `because ${reason}` }, status, headers);

export const listOf = (items: ConfigMap[], resourceVersion: string, next?: string): SendResponse =>
  json({ kind: 'ConfigMapList', metadata: { resourceVersion, ...(next ? { continue: next } : {}) }, items });

export const configMap = (name: string, resourceVersion: string, more: Partial<ConfigMap> = {}): ConfigMap => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'shop', uid: `uid-${name}`, resourceVersion },
  ...more,
});

async function* chunks(parts: Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* parts;
}

export interface Stream {
  answer: Answer;
  /** One event as a line. */
  event(type: string, object: unknown): void;
  bytes(part: Uint8Array): void;
  /** Ends the body as a server does that closes. */
  close(): void;
  /** Breaks it as a TCP reset does. */
  reset(): void;
}

/** The body of a watch, written to as the test goes. */
export function streamed(): Stream {
  const parts: (Uint8Array | 'close' | Error)[] = [];
  let wake = () => {};
  const put = (part: Uint8Array | 'close' | Error) => {
    parts.push(part);
    wake();
  };
  async function* body(signal: AbortSignal | undefined): AsyncGenerator<Uint8Array> {
    signal?.addEventListener('abort', () => put(new Error('aborted')));
    for (;;) {
      const part = parts.shift();
      if (part === 'close') return;
      if (part instanceof Error) throw part;
      if (part) yield part;
      else await new Promise<void>((resolve) => (wake = resolve));
    }
  }
  return {
    answer: ({ signal }) => ({ ...text(''), body: body(signal) }),
    event: (type, object) => put(encoder.encode(`${JSON.stringify({ type, object })}\n`)),
    bytes: put,
    close: () => put('close'),
    reset: () => put(new Error('read ECONNRESET')),
  };
}

/** The object of a BOOKMARK event. */
export const bookmark = (resourceVersion: string, annotations?: Record<string, string>) => ({
  metadata: { resourceVersion, annotations },
});

/** Annotations of the bookmark that ends an initial list. */
export const initialEnd = { 'k8s.io/initial-events-end': 'true' };

/** A short word for an object and its state. */
export const mark = (object: ConfigMap | undefined): string =>
  object ? `${object.metadata.name}@${object.metadata.resourceVersion}` : '';
