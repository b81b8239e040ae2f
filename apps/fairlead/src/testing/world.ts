// The controllers of `run` between embedded API servers and devices in memory, on one clock. For tests.
import { setMaxListeners } from 'node:events';
import { crds, filled, lbtickets, loadbalancers, type Lbticket, type Loadbalancer } from '@fairlead/api';
import { apiServer, memory as storage } from '@fairlead/apiserver';
import { fail, ok, type Problem, type Provider } from '@fairlead/core';
import {
  customResourceDefinitions,
  endpointSlices,
  events,
  fetchSend,
  kube,
  namespaces,
  secrets,
  services,
  type EndpointSlice,
  type Kube,
  type Secret,
} from '@fairlead/kube';
import { connectText } from '@fairlead/kube/node';
import { memory, type Memory } from '@fairlead/providers';
import { fakeClock, type FakeClock } from '@fairlead/testkit';
import { onTestFinished } from 'vitest';
import { addressMap } from '../address-map.ts';
import { runControllers, type ControllersOptions } from '../controllers.ts';
import type { Log } from '../log.ts';

const start = Date.parse('2026-01-01T00:00:00Z');
export const ownNamespace = 'fairlead-system';

export interface Server {
  name: string;
  /** A client of the test's own, past all faults. */
  kube: Kube;
  /** What becomes of the controllers' requests: refused by the network, never answered, or answered. */
  way: 'open' | 'cut' | 'hangs';
  /** The token that it takes from controllers. */
  token: string;
  answer(request: Request): Promise<Response>;
}

/** One API server; `url` of its kubeconfig is `http://<host>`, where several hosts may lead to one server. */
export async function server(clock: FakeClock, name: string): Promise<Server> {
  // No two servers draw the same: they are told apart by what they drew.
  let seed = [...name].reduce((sum, letter) => (sum * 31 + letter.charCodeAt(0)) % 1_000_003, 7);
  const random = (bytes: number) =>
    Uint8Array.from({ length: bytes }, () => (seed = (seed * 48_271) % 2_147_483_647) & 0xff);
  const tokens = ['root', 'one', 'two'].map((token) => ({ token, user: token, groups: ['system:masters'] }));
  const problems: string[] = [];
  const made = await apiServer({
    storage: storage(),
    clock,
    random,
    name,
    tokens,
    report: (line) => problems.push(line),
  });
  onTestFinished(async () => {
    await made.close();
    if (problems.length > 0) throw new Error(problems.join('\n'));
  });
  const send = fetchSend((request) => made.answer(request));
  return {
    name,
    kube: client(clock, name, send),
    way: 'open',
    token: 'one',
    answer: (request) => made.answer(request),
  };
}

function client(clock: FakeClock, name: string, send: ReturnType<typeof fetchSend>, signal?: AbortSignal): Kube {
  const headers = async () => ({ ok: true, value: { authorization: 'Bearer root' } }) as const;
  const auth = { headers, refused: () => false };
  return kube({ server: `http://${name}`, send, auth, clock, random: () => 0.5, report: () => undefined, signal });
}

/** As a controller reaches it: through the network, with a token that may be out of date. */
export const network = (to: () => Server) =>
  fetchSend(async (request) => {
    const { way, token, answer } = to();
    if (way === 'cut') throw new Error('connect ECONNREFUSED');
    if (way === 'hangs') return new Promise<Response>((_, reject) => onAbort(request.signal, reject));
    const sent = request.headers.get('authorization');
    if (sent !== 'Bearer root' && sent !== `Bearer ${token}`)
      return Response.json(
        { kind: 'Status', reason: 'Unauthorized', message: 'Unauthorized', code: 401 },
        { status: 401 },
      );
    return answer(request);
  });

const onAbort = (signal: AbortSignal, reject: (why: Error) => void): void =>
  signal.addEventListener('abort', () => reject(new Error('aborted')), { once: true });

export const kubeconfigOf = (host: string, token = 'one'): string =>
  JSON.stringify({
    'current-context': 'c',
    contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
    clusters: [{ name: 'c', cluster: { server: `http://${host}` } }],
    users: [{ name: 'u', user: { token } }],
  });

/** A Secret in CIS-C's form. */
const clustersSecret = (name: string, texts: Record<string, string>): Secret => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name, namespace: ownNamespace, labels: { 'fairlead.io/clusters': 'true' } },
  data: Object.fromEntries(Object.entries(texts).map(([key, text]) => [key, Buffer.from(text).toString('base64')])),
});

/** A device in memory, which may be out of reach or take no password. */
export interface TestDevice {
  provider: Memory;
  problem: Problem | undefined;
}

export interface World {
  clock: FakeClock;
  management: Server;
  servers: Map<string, Server>;
  devices: Map<string, TestDevice>;
  log: string[];
  /** A client for a kubeconfig. */
  open: ControllersOptions['open'];
  /** Controllers begin to work; ended by what it gives, or with the test. */
  begin(more?: Begin): () => Promise<void>;
  /** The same, until `signal` aborts. */
  run(more: Begin, signal: AbortSignal): Promise<void>;
  /** A client of the management cluster over such a way. */
  client(net: Net): Kube;
  secret(name: string, texts: Record<string, string>): Promise<void>;
  loadbalancer(name: string): Promise<Loadbalancer>;
  ticket(name: string): Promise<Lbticket>;
  /** `Reason: message` of the Events about an object of this name. */
  events(name: string): Promise<string[]>;
}

export async function world(names: readonly string[]): Promise<World> {
  const clock = fakeClock(start);
  const management = await server(clock, 'management');
  const servers = new Map<string, Server>([['management', management]]);
  for (const name of names) servers.set(name, await server(clock, name));
  for (const crd of crds()) await made(management.kube.create(customResourceDefinitions, crd as never));
  await clock.advance(1000);
  for (const { kube: one } of servers.values())
    for (const name of ['project', 'shop', ownNamespace]) await made(one.create(namespaces, namespace(name)));
  const devices = new Map<string, TestDevice>();
  const log: string[] = [];
  const open: World['open'] = (text, from, signal) =>
    connectText({ text, from, signal, clock, random: () => 0.5, sender: senderTo(servers) });
  const parts = { clock, servers, devices, log };
  const ways = {
    begin: beginner(parts),
    run: (more: Begin, signal: AbortSignal) => controllers(parts, more, signal),
    client: (net: Net) =>
      client(
        clock,
        'management',
        network(() => seenBy(management, net)),
      ),
  };
  return { ...parts, management, open, ...ways, ...readings(management.kube) };
}

const namespace = (name: string) => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });

/** What a controller of its own is given. */
export interface Begin extends Partial<ControllersOptions> {
  /** Its way to the API servers, past theirs: it alone may be cut off. */
  net?: Net;
}

export interface Net {
  way: Server['way'];
  /** Writes that reached a server, as `PATCH /api/v1/…`. */
  wrote?(line: string): void;
}

type Parts = Pick<World, 'clock' | 'servers' | 'devices' | 'log'>;

function lines(log: string[]): Log {
  return {
    debug: () => undefined,
    info: (line) => log.push(line),
    warn: (line) => log.push(line),
    error: (line) => log.push(line),
    bug: (error, where) => log.push(`bug: ${where}: ${error instanceof Error ? error.stack : String(error)}`),
  };
}

/** Works until `signal` aborts. */
function controllers({ clock, servers, devices, log }: Parts, { net, ...more }: Begin, signal: AbortSignal) {
  const map = addressMap([]);
  if (!map.ok) throw new Error(map.problem.message);
  const send = network(() => seenBy(found(servers, 'management'), net));
  const options: ControllersOptions = {
    management: client(clock, 'management', send, signal),
    clusters: new Map(),
    namespace: ownNamespace,
    open: (text, from, ends) =>
      connectText({ text, from, signal: ends, clock, random: () => 0.5, sender: senderTo(servers, net) }),
    device: ({ url }) => ({ provider: deviceAt(devices, url), close: async () => undefined }),
    map: map.value,
    clock,
    random: () => 0.5,
    owner: 'fairlead',
    policy: 'sync',
    log: lines(log),
    ...more,
  };
  return runControllers(options, signal);
}

function seenBy(one: Server, net: Net | undefined): Server {
  const answer = async (request: Request): Promise<Response> => {
    if (request.method !== 'GET') net?.wrote?.(`${request.method} ${new URL(request.url).pathname}`);
    return one.answer(request);
  };
  return { ...one, answer, way: net && net.way !== 'open' ? net.way : one.way };
}

function beginner(parts: Parts) {
  return (more: Begin = {}) => {
    const stop = new AbortController();
    setMaxListeners(0, stop.signal);
    const done = controllers(parts, more, stop.signal);
    const end = async () => {
      stop.abort();
      await parts.clock.advance(0);
      await done;
    };
    onTestFinished(async () => {
      await end();
      const bugs = parts.log.filter((line) => line.startsWith('bug'));
      if (bugs.length > 0) throw new Error(bugs.join('\n'));
    });
    return end;
  };
}

/** `http://a.b`: the server `a`, whatever comes after the dot. */
const senderTo = (servers: World['servers'], net?: Net) => (url: string) => ({
  send: network(() => seenBy(found(servers, new URL(url).hostname.split('.')[0] ?? ''), net)),
  close: async () => undefined,
});

function found(servers: World['servers'], name: string): Server {
  const one = servers.get(name);
  if (!one) throw new Error(`getaddrinfo ENOTFOUND ${name}`);
  return one;
}

/** The device at `url`, made when it is first asked for. Its forms are its own, as those of `device` are. */
function deviceAt(devices: World['devices'], url: string): Provider {
  const device: TestDevice = devices.get(url) ?? { provider: memory(), problem: undefined };
  devices.set(url, device);
  const { provider } = device;
  const failing = () => {
    const { problem } = device;
    return problem && fail(problem.code, problem.message);
  };
  return {
    ...provider,
    check: async () => failing() ?? ok(undefined),
    owned: async (...all: Parameters<Memory['owned']>) => failing() ?? provider.owned(...all),
    read: async (...all: Parameters<Memory['read']>) => failing() ?? provider.read(...all),
    apply: async (...all: Parameters<Memory['apply']>) => failing() ?? provider.apply(...all),
  } as Provider;
}

function readings(management: Kube): Pick<World, 'secret' | 'loadbalancer' | 'ticket' | 'events'> {
  return {
    async secret(name, texts) {
      const wanted = clustersSecret(name, texts);
      const present = await management.get(secrets, wanted.metadata);
      if (!present.ok) await made(management.create(secrets, wanted));
      else
        await made(
          management.replace(secrets, { ...wanted, metadata: { ...present.value.metadata, ...wanted.metadata } }),
        );
    },
    loadbalancer: (name) => made(management.get(loadbalancers, { name })),
    ticket: (name) => made(management.get(lbtickets, { name, namespace: 'project' })),
    async events(name) {
      const { items } = await made(management.list(events));
      return items
        .filter((event) => event.involvedObject.name === name)
        .sort((a, b) => Number(a.metadata.resourceVersion) - Number(b.metadata.resourceVersion))
        .map((event) => `${event.reason}: ${event.message}`);
    },
  };
}

/** The value, or a throw: in a test an answer that is no value is a failure. */
export async function made<T>(
  answer: Promise<{ ok: true; value: T } | { ok: false; problem: { message: string } }>,
): Promise<T> {
  const result = await answer;
  if (!result.ok) throw new Error(result.problem.message);
  return result.value;
}

/** A Loadbalancer over `cluster`, with a device and networks of its own. */
export const loadbalancerOf = (name: string, cluster: string, number: number): Loadbalancer =>
  filled(loadbalancers, {
    apiVersion: 'ebcpaas.lb/v1',
    kind: 'Loadbalancer',
    metadata: { name },
    spec: {
      ltm: { url: `http://100.1.1.${number}/api`, cidr: `10.0.${number}.0/24` },
      ve: { addr: `200.1.1.${number}`, user: 'admin', passwd: 'admin', cidr: `20.${number}.0.0/16` },
      cluster,
      nsselector: { fairlead: name },
    },
  } as unknown as Loadbalancer);

export const ticketOf = (name: string, loadbalancer: string, service = name): Lbticket =>
  filled(lbtickets, {
    apiVersion: 'ebcpaas.io/v1',
    kind: 'Lbticket',
    metadata: { name, namespace: 'project' },
    spec: {
      loadbalancer,
      namespace: 'shop',
      listners: [
        { name: 'web', port: 80, protocal: 'http', session: 'none', services: [{ service, port: 80, weight: 100 }] },
      ],
    },
  } as unknown as Lbticket);

/** A Service with pods at these addresses. */
export async function serve(kubeOf: Kube, name: string, addresses: string[]): Promise<void> {
  const metadata = { name, namespace: 'shop' };
  const how = { fieldManager: 'test', force: true };
  const spec = { selector: { app: name }, ports: [{ port: 80, targetPort: 8080 }] };
  await made(kubeOf.apply(services, { apiVersion: 'v1', kind: 'Service', metadata, spec }, how));
  const slice: EndpointSlice = {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { ...metadata, labels: { 'kubernetes.io/service-name': name } },
    addressType: 'IPv4',
    endpoints: addresses.map((address) => ({ addresses: [address], conditions: { ready: true } })),
    ports: [{ port: 8080, protocol: 'TCP' }],
  };
  await made(kubeOf.apply(endpointSlices, slice, how));
}
