import { afterEach, expect, test } from 'vitest';
import type { Cluster } from '../cluster.ts';
import { cluster } from '../cluster.ts';
import type { TinyApi } from '../testing/tiny-api.ts';
import { fakeClock } from '../testing/fake-clock.ts';
import { tinyApi } from '../testing/tiny-api.ts';

const running: Cluster[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((one) => one.stop()));
});

/** A server with no controller manager, and a cluster that stands in for it. */
async function bare(): Promise<TinyApi & { clock: ReturnType<typeof fakeClock> }> {
  const clock = fakeClock();
  const api = tinyApi({ isBare: true, now: clock.now });
  const one = cluster({
    server: 'http://api',
    fetch: api.fetch,
    name: 'bare',
    podCidr: '127.91.8.0/24',
    nodes: 1,
    listen: false,
    collect: true,
    clock,
  });
  running.push(one);
  await one.start();
  return { ...api, clock };
}

async function send(api: TinyApi, method: string, path: string, body?: object) {
  const answer = await api.fetch(
    new Request(`http://api${path}`, { method, ...(body && { body: JSON.stringify(body) }) }),
  );
  return (await answer.json()) as { metadata: { uid: string; name: string } };
}

const apps = '/apis/apps/v1/namespaces/shop';

function deployment(replicas: number) {
  const template = { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'main' }] } };
  return { metadata: { name: 'web' }, spec: { replicas, selector: { matchLabels: { app: 'web' } }, template } };
}

async function runTwo(api: TinyApi) {
  await send(api, 'POST', `${apps}/deployments`, deployment(2));
  await api.until(
    () =>
      api.list('replicasets').length === 1 &&
      api
        .list<{ metadata: never; status?: { phase?: string } }>('pods')
        .filter((pod) => pod.status?.phase === 'Running').length === 2,
  );
}

test('what a deleted owner owned goes, down to the pods', async () => {
  const api = await bare();
  await runTwo(api);
  await send(api, 'DELETE', `${apps}/deployments/web`, { propagationPolicy: 'Background' });
  await api.until(() => api.list('replicasets').length === 0 && api.list('pods').length === 0);
});

test('deleted in the foreground, an owner is the last to go', async () => {
  const api = await bare();
  await runTwo(api);
  const left: string[] = [];
  void api.until(() => {
    if (!api.get('deployments', 'shop/web') && left.length === 0)
      left.push(`${api.list('replicasets').length} ${api.list('pods').length}`);
    return false;
  });
  await send(api, 'DELETE', `${apps}/deployments/web`, { propagationPolicy: 'Foreground' });
  await api.until(() => !api.get('deployments', 'shop/web'));
  expect(left).toEqual(['0 0']);
});

test('orphaned, the dependents stay and lose their owner, and a new owner takes them in', async () => {
  const api = await bare();
  await runTwo(api);
  const [set] = api.list('replicasets');
  await send(api, 'DELETE', `${apps}/deployments/web`, { propagationPolicy: 'Orphan' });
  await api.until(() => !api.get('deployments', 'shop/web'));
  expect(api.list('replicasets').map((one) => [one.metadata.uid, one.metadata.ownerReferences])).toEqual([
    [set!.metadata.uid, []],
  ]);
  const made = await send(api, 'POST', `${apps}/deployments`, deployment(2));
  await api.until(() => api.list('replicasets')[0]?.metadata.ownerReferences?.[0]?.uid === made.metadata.uid);
  expect([api.list('replicasets').length, api.list('pods').length]).toEqual([1, 2]);
});

test('an object with one living and one vanished owner only loses the reference', async () => {
  const api = await bare();
  const owner = await send(api, 'POST', '/api/v1/namespaces/shop/services', { metadata: { name: 'a' }, spec: {} });
  const reference = (name: string, uid: string) => ({ apiVersion: 'v1', kind: 'Service', name, uid });
  const ownerReferences = [reference('a', owner.metadata.uid), reference('b', 'never-was')];
  await send(api, 'POST', '/api/v1/namespaces/shop/endpoints', { metadata: { name: 'mine', ownerReferences } });
  const kept = await api.until(() => api.list('endpoints').find((one) => one.metadata.ownerReferences?.length === 1));
  expect(kept.metadata.ownerReferences![0]!.name).toBe('a');
});

test('a namespace gets its ServiceAccount, and goes when it has been emptied', async () => {
  const api = await bare();
  await send(api, 'POST', '/api/v1/namespaces', { metadata: { name: 'shop' }, spec: { finalizers: ['kubernetes'] } });
  await api.until(() => api.get('serviceaccounts', 'shop/default'));
  await runTwo(api);
  await send(api, 'DELETE', '/api/v1/namespaces/shop');
  // It looks again from time to time: pods take their time to end.
  while (api.get('namespaces', 'shop')) await api.clock.advance(500);
  expect(['pods', 'replicasets', 'deployments', 'serviceaccounts'].flatMap((plural) => api.list(plural))).toEqual([]);
});
