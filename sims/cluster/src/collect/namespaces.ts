// For a server that has no controller manager: a namespace being deleted is emptied and then let go,
// and every other namespace has its ServiceAccount `default`, without which no pod is admitted.
import type { Controller, Kit } from '../kit.ts';
import type { Problem } from '../kube/client.ts';
import { kinds, pathOf } from '../kube/kinds.ts';
import type { Namespace } from '../kube/objects.ts';
import type { Next } from '../turns/queue.ts';
import { queue } from '../turns/queue.ts';
import { discover } from './discovery.ts';

/** Pods need their grace, and finalizers their controllers: how often to look whether the namespace is empty. */
const lookAgain = 500;

export function namespaces(kit: Kit): Controller {
  const { stores, timers, log } = kit;
  const turns = queue({ name: 'namespace', timers, log, turn: (key) => turn(kit, key) });
  stores.namespaces.onChange(({ key, after }) => {
    if (after) turns.add(key);
  });
  return turns;
}

async function turn(kit: Kit, name: string): Promise<Next> {
  const space = kit.stores.namespaces.get(name);
  if (!space) return { after: 'change' };
  return space.metadata.deletionTimestamp ? empty(kit, space) : account(kit, name);
}

async function account({ client }: Kit, namespace: string): Promise<Next> {
  const place = { namespace, name: 'default' };
  const found = await client.read(kinds.serviceAccount, place);
  if (found.ok) return { after: 'change' };
  const made = found.problem.status === 404 ? await client.create(kinds.serviceAccount, { metadata: place }) : found;
  return made.ok || made.problem.status === 409 ? { after: 'change' } : { problem: made.problem };
}

async function empty(kit: Kit, space: Namespace): Promise<Next> {
  if (!space.spec?.finalizers?.includes('kubernetes')) return { after: 'change' };
  const namespace = space.metadata.name;
  const found = await discover(kit.client);
  if (!found.ok) return { problem: found.problem };
  const scoped = found.value.filter(
    (kind) => kind.namespaced && kind.verbs.includes('list') && kind.verbs.includes('deletecollection'),
  );
  let isLeft = false;
  for (const kind of scoped) {
    const path = pathOf(kind, { namespace });
    const left = await kit.client.send('GET', `${path}?limit=1`);
    if (!left.ok) return { problem: left.problem };
    if (((left.value as { items: unknown[] | null }).items ?? []).length === 0) continue;
    isLeft = true;
    const removed = await kit.client.send('DELETE', path, {
      apiVersion: 'v1',
      kind: 'DeleteOptions',
      propagationPolicy: 'Background',
    });
    if (!removed.ok) return { problem: removed.problem };
  }
  if (isLeft) return { after: lookAgain };
  const problem = await letGo(kit, space);
  return problem ? { problem } : { after: 'change' };
}

async function letGo({ client }: Kit, space: Namespace): Promise<Problem | undefined> {
  const finalizers = space.spec!.finalizers!.filter((one) => one !== 'kubernetes');
  const result = await client.replace(kinds.namespace, { ...space, spec: { ...space.spec, finalizers } }, 'finalize');
  return result.ok || result.problem.status === 404 ? undefined : result.problem;
}
