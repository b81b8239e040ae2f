// The simulated cluster on the embedded API server: what `npm start` runs.
import { randomBytes } from 'node:crypto';
import { apiServer, memory } from '@fairlead/apiserver';
import { expect, test } from 'vitest';
import { realClock } from './clock.ts';
import { cluster } from './index.ts';
import type { DaemonSet, Deployment, EndpointSlice, KubeObject, Pod, StatefulSet } from './kube/objects.ts';
import { isReady } from './workloads/pod-state.ts';

const token = 'cluster';

async function world(podCidr: string) {
  const reports: string[] = [];
  const lines: string[] = [];
  const server = await apiServer({
    storage: memory(),
    clock: realClock,
    random: (n) => randomBytes(n),
    name: 'embedded',
    tokens: [{ token, user: 'cluster', groups: ['system:masters'] }],
    loopbackEndpoints: true,
    report: (line) => reports.push(line),
  });
  const send = async (method: string, path: string, body?: object) => {
    const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
    const headers = { authorization: `Bearer ${token}`, 'content-type': type };
    const answer = await server.answer(
      new Request(`http://api${path}`, { method, headers, ...(body && { body: JSON.stringify(body) }) }),
    );
    const answered = (await answer.json()) as KubeObject & { items?: unknown[]; message?: string };
    expect(answer.status, answered.message).toBeLessThan(300);
    return answered;
  };
  const start = () =>
    cluster({
      server: 'http://api',
      token,
      fetch: server.answer,
      name: 'sim',
      podCidr,
      log: (line) => lines.push(line),
    });
  return { server, send, start, reports, lines };
}

/** Looks at the list, and again after each event until it finds what it looks for. */
async function until<T extends KubeObject, R>(
  w: Awaited<ReturnType<typeof world>>,
  path: string,
  find: (items: T[]) => R | undefined | false,
): Promise<R> {
  const query = (more: string) => `${path}${path.includes('?') ? '&' : '?'}${more}`;
  for (;;) {
    const list = await w.send('GET', path);
    const found = find(list.items as T[]);
    if (found) return found;
    const stop = new AbortController();
    const headers = { authorization: `Bearer ${token}` };
    const url = `http://api${query(`watch=1&resourceVersion=${list.metadata.resourceVersion}`)}`;
    const events = (await w.server.answer(new Request(url, { headers, signal: stop.signal }))).body!.getReader();
    await events.read();
    stop.abort();
  }
}

const template = (app: string) => ({
  metadata: { labels: { app } },
  spec: {
    terminationGracePeriodSeconds: 1,
    containers: [{ name: 'main', image: 'app:1', ports: [{ name: 'http', containerPort: 8080 }] }],
  },
});

const workload = (kind: string, name: string, spec: object = {}) => ({
  apiVersion: 'apps/v1',
  kind,
  metadata: { name },
  spec: { selector: { matchLabels: { app: name } }, template: template(name), ...spec },
});

/** The text of a pod's log, up to and with `mark`. */
async function logUpTo(w: Awaited<ReturnType<typeof world>>, { metadata }: Pod, mark: string): Promise<string> {
  const stop = new AbortController();
  const answer = await w.server.answer(
    new Request(`http://api/api/v1/namespaces/${metadata.namespace}/pods/${metadata.name}/log?follow=true`, {
      headers: { authorization: `Bearer ${token}` },
      signal: stop.signal,
    }),
  );
  const reader = answer.body!.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  while (!text.includes(mark)) {
    const next = await reader.read();
    if (next.done) throw new Error(`the log ended before ${mark}: ${text}`);
    text += next.value;
  }
  await reader.cancel();
  stop.abort();
  return text;
}

const shop = '/apis/apps/v1/namespaces/shop';

test('workloads run, are updated, survive a restart with their addresses, and go with their namespace', async () => {
  const w = await world('127.92.0.0/20');
  let one = w.start();
  await one.start();
  await w.send('POST', '/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } });
  const ports = [{ name: 'http', port: 80, targetPort: 'http' }];
  await w.send('POST', '/api/v1/namespaces/shop/services', {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'web' },
    spec: { selector: { app: 'web' }, ports },
  });
  await w.send('POST', `${shop}/deployments`, workload('Deployment', 'web', { replicas: 3 }));
  await w.send('POST', `${shop}/statefulsets`, workload('StatefulSet', 'db', { replicas: 2, serviceName: 'db' }));
  await w.send('POST', `${shop}/daemonsets`, workload('DaemonSet', 'agent'));

  await until<Deployment, boolean>(w, `${shop}/deployments`, ([web]) => web?.status?.availableReplicas === 3);
  await until<StatefulSet, boolean>(w, `${shop}/statefulsets`, ([db]) => db?.status?.readyReplicas === 2);
  await until<DaemonSet, boolean>(w, `${shop}/daemonsets`, ([agent]) => agent?.status?.numberReady === 3);
  const slices = '/apis/discovery.k8s.io/v1/namespaces/shop/endpointslices';
  const ready = (items: EndpointSlice[]) =>
    items.flatMap((slice) => slice.endpoints ?? []).filter((endpoint) => endpoint.conditions.ready);
  const endpoints = await until<EndpointSlice, ReturnType<typeof ready>>(
    w,
    slices,
    (items) => ready(items).length === 3 && ready(items),
  );
  for (const { addresses, targetRef } of endpoints) {
    expect((await fetch(`http://${addresses[0]}:8080/`)).headers.get('x-pod')).toBe(targetRef?.name);
  }

  const next = {
    spec: {
      template: {
        spec: { containers: [{ name: 'main', image: 'app:2', ports: [{ name: 'http', containerPort: 8080 }] }] },
      },
    },
  };
  await w.send('PATCH', `${shop}/deployments/web`, next);
  const pods = '/api/v1/namespaces/shop/pods?labelSelector=app%3Dweb';
  const isUpdated = (items: Pod[]) =>
    items.length === 3 && items.every((pod) => isReady(pod) && pod.spec.containers[0]!.image === 'app:2') && items;
  const before = await until<Pod, Pod[]>(w, pods, isUpdated);

  await one.stop();
  one = w.start();
  await one.start();
  const where = (items: Pod[]) => items.map((pod) => `${pod.metadata.name} ${pod.status?.podIP}`).sort();
  const after = await until<Pod, Pod[]>(w, pods, isUpdated);
  expect(where(after)).toEqual(where(before));
  for (const pod of after)
    expect((await fetch(`http://${pod.status!.podIP}:8080/`)).headers.get('x-pod')).toBe(pod.metadata.name);
  expect(await logUpTo(w, after[0]!, 'GET / 200\n')).toBe(
    `listening on ${after[0]!.status!.podIP}:8080 (http)\nstarted\nGET / 200\n`,
  );

  await w.send('DELETE', '/api/v1/namespaces/shop');
  await until(w, '/api/v1/namespaces', (items) => !items.some((space) => space.metadata.name === 'shop'));
  await one.stop();
  await w.server.close();
  expect(w.reports).toEqual([]);
  expect(w.lines).toEqual([]);
});
