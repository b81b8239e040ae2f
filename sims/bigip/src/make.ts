// What the tests build with: a device with its REST, servers that say their name, clients, and declarations.

import { createServer, request, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { bigip, type Bigip, type BigipOptions } from './bigip.ts';
import type { Clock } from './clock.ts';
import type { Json } from './rest/body.ts';

/** A device that is asked as admin. Answers are parsed; `json` is undefined when there was no body. */
export interface Asked {
  sim: Bigip;
  ask(
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<{ status: number; json: Json }>;
  declare(adc: Json, query?: string): Promise<{ status: number; json: Json }>;
}

const basic = `Basic ${Buffer.from('admin:admin').toString('base64')}`;

export function makeDevice(options: BigipOptions = {}): Asked {
  const sim = bigip(options);
  const ask: Asked['ask'] = async (method, path, body, headers = {}) => {
    const init = {
      method,
      headers: { authorization: basic, ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    };
    const response = await sim.fetch(`http://device${path}`, init);
    const text = await response.text();
    return { status: response.status, json: text.startsWith('{') ? (JSON.parse(text) as Json) : {} };
  };
  return { sim, ask, declare: (adc, query = '') => ask('POST', `/mgmt/shared/appsvcs/declare${query}`, adc) };
}

/** An ADC with one tenant and one application in it. */
export function makeAdc(
  items: Json,
  { tenant = 'T1', application = 'app' }: { tenant?: string; application?: string } = {},
): Json {
  return {
    class: 'ADC',
    schemaVersion: '3.50.0',
    id: 'test',
    [tenant]: { class: 'Tenant', [application]: { class: 'Application', template: 'generic', ...items } },
  };
}

export function makeHttp(address: string, more: Json = {}): Json {
  return {
    class: 'Service_HTTP',
    virtualAddresses: [address],
    virtualPort: 18_080,
    persistenceMethods: [],
    pool: 'web_pool',
    ...more,
  };
}

export function makePool(servers: { port: number; host?: string }[], more: Json = {}): Json {
  const members = servers.map(({ host = '127.0.0.1', port }) => ({
    servicePort: port,
    serverAddresses: [host],
    shareNodes: false,
  }));
  return { class: 'Pool', members, ...more };
}

export interface Backend {
  name: string;
  port: number;
  requests: { method: string; url: string; headers: IncomingHttpHeaders; rawHeaders: string[]; body: string }[];
  connections: number;
  close(): Promise<void>;
}

/** A web server on loopback that answers with its name and keeps what it was asked. */
export async function makeBackend(name: string, port = 0, host = '127.0.0.1'): Promise<Backend> {
  const backend: Backend = { name, port, requests: [], connections: 0, close: () => Promise.resolve() };
  const server = createServer((incoming, outgoing) => {
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.on('end', () => {
      const { method = '', url = '', headers, rawHeaders } = incoming;
      backend.requests.push({ method, url, headers, rawHeaders, body: Buffer.concat(chunks).toString() });
      outgoing.setHeader('X-Backend', name);
      outgoing.end(name);
    });
  });
  server.on('connection', () => (backend.connections += 1));
  await new Promise<void>((resolve) => server.listen(port, host, resolve));
  backend.port = (server.address() as AddressInfo).port;
  backend.close = () =>
    new Promise((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return backend;
}

export interface Answer {
  status: number;
  text: string;
  headers: IncomingHttpHeaders;
}

export interface Asking {
  path?: string;
  method?: string;
  headers?: Record<string, string | string[]>;
  body?: string;
  /** The client's own address. */
  from?: string;
}

/** One request on a connection of its own. Rejects with the connection's error when it is reset. */
export function get(
  at: { host: string; port: number },
  { path = '/', method = 'GET', headers = {}, body, from }: Asking = {},
): Promise<Answer> {
  return new Promise((resolve, fail) => {
    const local = from === undefined ? {} : { localAddress: from };
    const asked = request({ ...at, path, method, headers, agent: false, ...local }, (incoming) => {
      let text = '';
      incoming.setEncoding('utf8').on('data', (part: string) => (text += part));
      incoming.on('end', () => resolve({ status: incoming.statusCode ?? 0, text, headers: incoming.headers }));
      incoming.on('error', fail);
    });
    asked.on('error', fail);
    asked.end(body);
  });
}

/** Where a virtual server is bound. */
export function boundAt(sim: Bigip, name: string): { host: string; port: number } {
  const found = sim.virtuals().find((virtual) => virtual.name === name);
  if (!found?.bound) throw new Error(`${name} is not bound: ${found?.problem ?? 'there is no such virtual server'}`);
  return found.bound;
}

/** Time that moves only when told. */
export function makeClock(): Clock & { advance(ms: number): Promise<void> } {
  let now = 1_700_000_000_000;
  const sleepers = new Set<{ until: number; wake: () => void }>();
  return {
    now: () => now,
    sleep: (ms, signal) =>
      new Promise((resolve) => {
        if (ms <= 0 || signal?.aborted) return resolve();
        const sleeper = { until: now + ms, wake: resolve };
        sleepers.add(sleeper);
        signal?.addEventListener('abort', () => {
          sleepers.delete(sleeper);
          resolve();
        });
      }),
    async advance(ms) {
      const end = now + ms;
      for (;;) {
        // What was just woken goes to sleep again before the next is looked for.
        await new Promise(setImmediate);
        const next = [...sleepers].filter(({ until }) => until <= end).sort((a, b) => a.until - b.until)[0];
        if (!next) break;
        now = Math.max(now, next.until);
        sleepers.delete(next);
        next.wake();
      }
      now = end;
    },
  };
}
