// A server in memory for tests: time that stands still until moved, randomness that repeats, requests as one call.
import { apiServer, type ApiServer, type ApiServerOptions } from './api-server.ts';
import { listOf, treeOf, type KubeObject, type Tree } from './object.ts';
import { memory } from './storage/memory.ts';

export interface Reply {
  code: number;
  body: KubeObject;
  /** Status details' causes, as `field: message`. */
  causes: string[];
  headers: Headers;
}

export interface TestServer extends ApiServer {
  send(
    method: string,
    path: string,
    body?: unknown,
    options?: { type?: string; token?: string; accept?: string },
  ): Promise<Reply>;
  /** Opens a watch; `next(n)` waits for n events. */
  watch(
    path: string,
    accept?: string,
  ): Promise<{ next(count: number): Promise<{ type: string; object: KubeObject }[]>; stop(): void }>;
  reports: string[];
}

const types: Record<string, string> = { PATCH: 'application/merge-patch+json' };

export async function testServer(options: Partial<ApiServerOptions> = {}): Promise<TestServer> {
  const reports: string[] = [];
  let seed = 0;
  const server = await apiServer({
    storage: memory(),
    clock: {
      now: () => Date.parse('2026-01-02T03:04:05Z'),
      sleep: (_, signal) => new Promise((resolve) => signal?.addEventListener('abort', () => resolve())),
    },
    random: (bytes) =>
      Uint8Array.from({ length: bytes }, () => (seed = (seed * 1103515245 + 12345) % 2147483648) >> 16),
    name: 'test',
    tokens: [
      { token: 'admin', user: 'admin', groups: ['system:masters'] },
      { token: 'joe', user: 'joe', groups: ['people'] },
    ],
    report: (message) => reports.push(message),
    ...options,
  });
  const request = (method: string, path: string, init: RequestInit, token: string) =>
    new Request(`http://test${path}`, {
      method,
      ...init,
      headers: { authorization: `Bearer ${token}`, 'user-agent': 'tester/1', ...init.headers },
    });
  return {
    ...server,
    reports,
    async send(
      method,
      path,
      body,
      { type = types[method] ?? 'application/json', token = 'admin', accept = 'application/json' } = {},
    ) {
      const text = typeof body === 'string' ? body : JSON.stringify(body);
      const init =
        body === undefined ? { headers: { accept } } : { body: text, headers: { accept, 'content-type': type } };
      const response = await server.answer(request(method, path, init, token));
      await server.idle();
      const answer = await response.text();
      const parsed = (answer.startsWith('{') ? JSON.parse(answer) : { text: answer }) as KubeObject;
      const causes = listOf(treeOf(parsed.details).causes).map(
        (cause) => `${String(treeOf(cause).field)}: ${String(treeOf(cause).message)}`,
      );
      return { code: response.status, body: parsed, causes, headers: response.headers };
    },
    async watch(path, accept = 'application/json') {
      const stop = new AbortController();
      const response = await server.answer(request('GET', path, { headers: { accept }, signal: stop.signal }, 'admin'));
      if (!response.body) throw new Error('a watch has no body');
      return { next: events(response.body.getReader()), stop: () => stop.abort() };
    },
  };
}

/** Reads a watch's stream, n lines at a time. */
function events(reader: ReadableStreamDefaultReader<Uint8Array>) {
  let text = '';
  return async (count: number) => {
    const lines: string[] = [];
    while (lines.length < count) {
      const end = text.indexOf('\n');
      if (end >= 0) {
        lines.push(text.slice(0, end));
        text = text.slice(end + 1);
        continue;
      }
      const { done, value } = await reader.read();
      if (done) break;
      text += new TextDecoder().decode(value);
    }
    return lines.map((line) => JSON.parse(line) as { type: string; object: KubeObject });
  };
}

export const configMap = (name: string, data: Tree = {}, metadata: Tree = {}): Tree => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, ...metadata },
  data,
});

export const deployment = (name: string, spec: Tree = {}): Tree => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name },
  spec: {
    selector: { matchLabels: { app: name } },
    template: { metadata: { labels: { app: name } }, spec: { containers: [{ name: 'a', image: 'nginx:1' }] } },
    ...spec,
  },
});

/** A definition of `tickets.example.io` with the given schema of its spec. */
export const definition = (spec: Tree, version: Tree = {}): Tree => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'tickets.example.io' },
  spec: {
    group: 'example.io',
    scope: 'Namespaced',
    names: { plural: 'tickets', kind: 'Ticket', shortNames: ['tk'] },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: { spec, status: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
          },
        },
        ...version,
      },
    ],
  },
});

export const ticket = (name: string, spec: Tree, metadata: Tree = {}): Tree => ({
  apiVersion: 'example.io/v1',
  kind: 'Ticket',
  metadata: { name, ...metadata },
  spec,
});
