// What runs in a simulated container: a small web application that says who answered, and a line for TCP.
//
//  request                               | answer
//  --------------------------------------+-----------------------------------------------------------------
//  any path                              | 200, or as the pod is annotated, JSON: service, pod, namespace, node, cluster, port, path
//  ?headers                              | the same with the request's headers
//  /status/503 or ?status=503            | that status
//  /delay/200 or ?delay=200              | the answer after so many ms (at most a minute)
//  /healthz                              | 200 while ready, else 503
//  POST /-/ready?value=false             | switches the pod's readiness, at once
import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';

/** Whose container it is, as seen from inside. */
export interface App {
  readonly pod: string;
  readonly namespace: string;
  readonly node: string;
  readonly cluster: string;
  /** The label `app`, else the name of the Service that selects the pod. */
  service(): string;
  isReady(): boolean;
  setReady(isReady: boolean): void;
  /** What it answers with when the request asks for nothing else. */
  status(): number;
  log(line: string): void;
}

export interface Served {
  app: App;
  port: number;
  isStopping(): boolean;
}

const longestDelay = 60_000;

export function greeting(app: App): string {
  return `pod=${app.pod} service=${app.service()} cluster=${app.cluster}\n`;
}

export function answer(served: Served, request: IncomingMessage, response: ServerResponse): void {
  const { app } = served;
  const url = new URL(request.url ?? '/', 'http://pod');
  const delay = Math.min(
    longestDelay,
    Number(numberAfter('/delay/', url.pathname) ?? url.searchParams.get('delay') ?? 0) || 0,
  );
  // The body is read to its end: a connection with unread bytes cannot be used again.
  request.resume();
  const send = () => {
    if (response.destroyed) return;
    if (served.isStopping()) response.shouldKeepAlive = false;
    const { status, body } = reply(served, request, url);
    const text = `${JSON.stringify(body)}\n`;
    response.writeHead(status, {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(text),
      'x-pod': app.pod,
      'x-service': app.service(),
    });
    response.end(request.method === 'HEAD' ? undefined : text);
    app.log(`${request.method} ${request.url} ${status}`);
  };
  if (delay > 0) void wait(delay, undefined, { ref: false }).then(send);
  else send();
}

function reply({ app, port }: Served, request: IncomingMessage, url: URL): { status: number; body: object } {
  const who = {
    service: app.service(),
    pod: app.pod,
    namespace: app.namespace,
    node: app.node,
    cluster: app.cluster,
    port,
  };
  if (url.pathname === '/-/ready') {
    if (request.method !== 'POST') return { status: 405, body: { error: 'POST /-/ready?value=true|false' } };
    const value = url.searchParams.get('value');
    if (value !== 'true' && value !== 'false') return { status: 400, body: { error: 'value must be true or false' } };
    app.setReady(value === 'true');
    return { status: 200, body: { ready: app.isReady() } };
  }
  if (url.pathname === '/healthz') return { status: app.isReady() ? 200 : 503, body: { ready: app.isReady() } };
  const asked = Number(numberAfter('/status/', url.pathname) ?? url.searchParams.get('status') ?? app.status());
  const status = Number.isInteger(asked) && asked >= 200 && asked <= 599 ? asked : 400;
  const headers = url.searchParams.has('headers') ? { headers: request.headers } : {};
  return { status, body: { ...who, path: url.pathname + url.search, ...headers } };
}

function numberAfter(prefix: string, path: string): string | undefined {
  const rest = path.startsWith(prefix) ? path.slice(prefix.length) : '';
  return /^\d+$/.test(rest) ? rest : undefined;
}
