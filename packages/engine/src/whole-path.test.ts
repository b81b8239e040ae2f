// The whole path with real parts: an API server and its watches, ConfigMaps and EndpointSlices, AS3, and a BIG-IP that refuses.
import { apiServer, memory } from '@fairlead/apiserver';
import { compile, decode, declaration } from '@fairlead/as3';
import type { LoadBalancer, Member } from '@fairlead/core';
import {
  configMaps,
  endpointSlices,
  fetchSend,
  kube,
  namespaces,
  recorder,
  services,
  store,
  type ConfigMap,
  type EndpointSlice,
  type Kind,
  type Kube,
  type KubeObject,
  type KubeResult,
} from '@fairlead/kube';
import { bigip } from '@fairlead/providers';
import { bigip as sim, realClock } from '@fairlead/sim-bigip';
import { as3Validation } from '@fairlead/testkit';
import { configmapSource, endpointSliceIndexes, serviceIndexes } from '@fairlead/sources';
import { expect, onTestFinished, test } from 'vitest';
import { engine } from './engine.ts';
import { statuses } from './status.ts';

const clock = realClock();
const name = { namespace: 'default', name: 'fairlead-demo' };

async function value<T>(answer: Promise<KubeResult<T>>): Promise<T> {
  const got = await answer;
  if (!got.ok) throw new Error(got.problem.message);
  return got.value;
}

/** A cluster, as a function, with stores over it. */
async function cluster(signal: AbortSignal) {
  let seed = 0;
  const random = (bytes: number): Uint8Array =>
    Uint8Array.from({ length: bytes }, () => (seed = (seed * 31 + 7) % 251));
  const tokens = [{ token: 't', user: 'admin', groups: ['system:masters'] }];
  const server = await apiServer({
    storage: memory(),
    clock,
    name: 'c1',
    random,
    tokens,
    // The pods of this story are listeners on this machine.
    loopbackEndpoints: true,
    report: (line) => expect.fail(line),
  });
  const auth = {
    headers: async () => ({ ok: true, value: { authorization: 'Bearer t' } }) as const,
    refused: () => false,
  };
  const client = kube({ server: 'http://c1.test', send: fetchSend(server.answer), clock, random: () => 0, auth });
  const stores = {
    configmaps: store(client, configMaps),
    services: store(client, services, { indexes: serviceIndexes }),
    endpointslices: store(client, endpointSlices, { indexes: endpointSliceIndexes }),
    namespaces: store(client, namespaces),
  };
  const running = Object.values(stores).map((one) => one.run(signal));
  return { client, stores, close: async () => (await Promise.all(running), server.close()) };
}

async function world() {
  const stop = new AbortController();
  const device = sim(as3Validation());
  await device.ready;
  const { client, stores, close } = await cluster(stop.signal);
  const source = configmapSource({ cluster: 'c1', loadbalancer: 'demo', stores, selects: () => true, decode });
  const events = recorder({ kube: client, clock, component: 'fairlead-agent' });
  const told: Promise<KubeResult<void>>[] = [];
  const reports = statuses({
    clock,
    random: () => 0,
    clusters: () => ({
      kube: client,
      configmaps: stores.configmaps,
      event: ({ apiVersion = '', kind = '', uid = '' }, remark) =>
        void told.push(events.event({ apiVersion, kind, metadata: { ...name, uid } }, remark)),
    }),
  });
  const provider = bigip({ url: 'https://bigip.test', fetch: device.fetch, clock, user: 'admin', password: 'admin' });
  const running = engine({
    clock,
    random: () => 0,
    owner: 'us',
    provider,
    sources: [source],
    report: reports.report,
    debounce: { scope: 5 },
  });
  const ended = Promise.all([running.start(stop.signal), reports.run(stop.signal)]);
  onTestFinished(async () => {
    stop.abort();
    source.close();
    await ended;
    await Promise.all(told);
    await close();
    await device.close();
  });
  return { device, client, stores, ...driving(client, stores.configmaps) };
}

/** Writes to the cluster, and waits for what comes back. */
function driving(
  client: Kube,
  configmaps: { get(at: typeof name): ConfigMap | undefined; listen(heard: () => void): () => void },
) {
  const apply = <T extends KubeObject>(kind: Kind<T>, object: T): Promise<T> =>
    value(client.apply(kind, object, { fieldManager: 'test', force: true }));
  const status = (): { revision: string; applications: Record<string, unknown> } | undefined => {
    const text = configmaps.get(name)?.metadata.annotations?.['fairlead.io/status'];
    return text === undefined ? undefined : (JSON.parse(text) as ReturnType<typeof status>);
  };
  return {
    apply,
    status,
    configure: (template: string, revision: string) => apply(configMaps, configMap(template, revision)),
    /** Resolves when the ConfigMap was told of `revision`. */
    told: (revision: string) =>
      new Promise<ReturnType<typeof status>>((done) => {
        const look = (): void => {
          if (status()?.revision !== revision) return;
          stop();
          done(status());
        };
        const stop = configmaps.listen(look);
        look();
      }),
  };
}

const configMap = (template: string, revision: string): ConfigMap => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: {
    ...name,
    labels: { f5type: 'virtual-server', as3: 'true' },
    annotations: {
      'fairlead.io/loadbalancer': 'demo',
      'fairlead.io/revision': revision,
      'fairlead.io/pools': JSON.stringify({ 'web_app/web_pool': { service: 'web', port: 80 } }),
    },
  },
  data: { template },
});

const web = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 'web', namespace: 'default' },
  spec: { ports: [{ port: 80, targetPort: 8080 }] },
};

const slice = (...addresses: string[]): EndpointSlice => ({
  apiVersion: 'discovery.k8s.io/v1',
  kind: 'EndpointSlice',
  metadata: { name: 'web-1', namespace: 'default', labels: { 'kubernetes.io/service-name': 'web' } },
  addressType: 'IPv4',
  ports: [{ name: '', port: 8080, protocol: 'TCP' }],
  endpoints: addresses.map((address) => ({
    addresses: [address],
    conditions: { ready: true, serving: true, terminating: false },
  })),
});

/** The template that the tickets' controller would write for one listener on `address`. */
function template(address: string, port = 30_080): string {
  const lb: LoadBalancer = {
    key: 'c1_tenant/web_app',
    scope: 'c1_tenant',
    origin: { cluster: 'c1', kind: 'ConfigMap', ...name, uid: '', created: 0, revision: '' },
    listeners: [
      {
        name: 'web_vs',
        address,
        port,
        protocol: 'tcp',
        persistence: 'none',
        routes: [],
        pools: [{ pool: 'web_pool', weight: 1 }],
      },
    ],
    pools: [
      {
        name: 'web_pool',
        service: { namespace: 'default', name: 'web', port: 80 },
        monitor: { type: 'icmp' },
        balance: 'round-robin',
      },
    ],
  };
  const application = compile(lb);
  if (!application.ok) throw new Error(application.problem.message);
  return JSON.stringify(declaration({ c1_tenant: { web_app: application.value } }));
}

const pool = '/c1_tenant/web_app/web_pool';
const pod = (n: number): Pick<Member, 'address'>['address'] => `127.77.52.${n}`;

test('from ConfigMap and pods to the device, by member writes alone while pods come and go, and away again', async () => {
  const { device, client, apply, configure, told } = await world();
  const has = (...pods: number[]) =>
    device.until(() =>
      [1, 2, 3].every((n) => (device.member(pool, `${pod(n)}:8080`) !== undefined) === pods.includes(n)),
    );
  await apply(services, web);
  await apply(endpointSlices, slice(pod(1)));
  await configure(template('10.77.51.7'), 'r1');
  expect(await told('r1')).toEqual({ revision: 'r1', applications: { web_app: { ok: true } } });
  expect(device.virtuals().map(({ name, address, port }) => `${name} ${address} ${port}`)).toEqual([
    expect.stringContaining('10.77.51.7 30080'),
  ]);
  await has(1);
  const { declarations } = device.counters;

  await apply(endpointSlices, slice(pod(1), pod(2), pod(3)));
  await has(1, 2, 3);
  await apply(endpointSlices, slice(pod(3)));
  await has(3);
  expect(device.counters.declarations).toBe(declarations);

  await configure(template('10.77.51.8'), 'r2');
  await told('r2');
  await has(3);
  await value(client.remove(configMaps, name));
  await device.until(() => device.virtuals().length === 0);
});

test('an edit that cannot be read leaves the device as it is, and the next good one goes on', async () => {
  const { device, apply, configure, told } = await world();
  await apply(services, web);
  await configure(template('10.77.51.17'), 'r1');
  await told('r1');
  const before = structuredClone(device.tenants);
  await configure('{ "class": "ADC", ', 'r2');
  expect(await told('r2')).toMatchObject({ problem: { code: 'invalid' } });
  expect(device.tenants).toEqual(before);
  await apply(endpointSlices, slice(pod(1)));
  await device.until(() => device.member(pool, `${pod(1)}:8080`) !== undefined);
  await configure(template('10.77.51.18'), 'r3');
  expect(await told('r3')).toEqual({ revision: 'r3', applications: { web_app: { ok: true } } });
});

test('an emptied template takes everything away, and is confirmed under its revision', async () => {
  const { device, configure, told } = await world();
  await configure(template('10.77.51.27'), 'r1');
  expect(await told('r1')).toMatchObject({ applications: { web_app: { ok: true } } });
  await configure(JSON.stringify(declaration({ c1_tenant: {} })), 'r2');
  expect(await told('r2')).toEqual({ revision: 'r2', applications: {} });
  expect(device.tenants).toEqual({});
});
