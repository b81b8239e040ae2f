// Garbage collection for a server that has no controller manager: what lost its owners goes, and the finalizers
// `foregroundDeletion` and `orphan` are carried out. Every kind the server has is watched, by its metadata.
import type { Controller, Kit } from '../kit.ts';
import type { Problem, Result } from '../kube/client.ts';
import type { Kind } from '../kube/kinds.ts';
import { keyOf, pathOf } from '../kube/kinds.ts';
import type { KubeObject, OwnerReference } from '../kube/objects.ts';
import { reflect } from '../kube/reflector.ts';
import { Store } from '../kube/store.ts';
import type { Next } from '../turns/queue.ts';
import { queue } from '../turns/queue.ts';
import type { Served } from './discovery.ts';
import { discover, groupKind } from './discovery.ts';

const foreground = 'foregroundDeletion';
const orphan = 'orphan';
const rediscoverEvery = 30_000;
const rememberedUids = 20_000;

interface Watched {
  kind: Kind;
  store: Store<KubeObject>;
  stopping: AbortController;
  done: Promise<void>;
}

export function garbage(kit: Kit): Controller {
  const watched = new Map<string, Watched>();
  const graph: Graph = {
    gone: new Set(),
    dependents: (uid) =>
      [...watched.values()].flatMap(({ kind, store }) => store.by('owner', uid).map((object) => ({ kind, object }))),
    find: (id) => {
      const [at = '', key = ''] = id.split(' ');
      const held = watched.get(at);
      const object = held?.store.get(key);
      return object && { kind: held!.kind, object };
    },
    kindOf: ({ apiVersion, kind }) => watched.get(groupKind(apiVersion, kind))?.kind,
  };
  const { timers, log } = kit;
  const items = queue({ name: 'garbage', timers, log, width: 16, turn: (id) => collect(kit, graph, id) });

  const rounds = queue({
    name: 'discovery',
    timers,
    log,
    async turn() {
      const found = await discover(kit.client);
      if (!found.ok) return { problem: found.problem };
      const wanted = new Map(
        found.value.filter(isCollectable).map((kind) => [groupKind(kind.apiVersion, kind.kind), kind]),
      );
      for (const [at, kind] of wanted)
        if (!watched.has(at)) watched.set(at, watch(kit, { kind, at, graph, again: items.add }));
      for (const [at, held] of watched) {
        if (wanted.has(at)) continue;
        held.stopping.abort();
        watched.delete(at);
      }
      return { after: rediscoverEvery };
    },
  });
  return {
    open() {
      items.open();
      rounds.open();
      rounds.add('all');
    },
    async close() {
      await Promise.all([rounds.close(), items.close()]);
      for (const { stopping } of watched.values()) stopping.abort();
      await Promise.all([...watched.values()].map((one) => one.done));
    },
  };
}

interface Wanted {
  kind: Served;
  at: string;
  graph: Graph;
  again(id: string): void;
}

function watch(kit: Kit, { kind, at, graph, again }: Wanted): Watched {
  const store = new Store<KubeObject>({
    owner: ({ metadata }) => (metadata.ownerReferences ?? []).map((one) => one.uid),
  });
  store.onChange(({ key, after, before }) => {
    if (after && isInteresting(after)) again(`${at} ${key}`);
    if (!after) remember(graph.gone, before!.metadata.uid);
    for (const one of after ? [] : graph.dependents(before!.metadata.uid)) again(idOf(one.kind, one.object));
    // An owner may be waiting for its last dependent to be gone, or to have let go of it.
    for (const owner of before?.metadata.ownerReferences ?? []) {
      const isKept = after?.metadata.ownerReferences?.some((one) => one.uid === owner.uid);
      if (!isKept) again(ownerId(owner, before!, graph.kindOf(owner)?.namespaced ?? true));
    }
  });
  const stopping = new AbortController();
  return { kind, store, stopping, done: reflect({ ...kit, kind, store }, stopping.signal, () => {}) };
}

function isCollectable({ verbs, kind }: Served): boolean {
  return kind !== 'Event' && ['list', 'watch', 'delete', 'patch'].every((verb) => verbs.includes(verb));
}

interface Item {
  kind: Kind;
  object: KubeObject;
}

interface Graph {
  /** Uids the server has told us are deleted; a uid never comes back. */
  gone: Set<string>;
  /** Objects that name this uid as an owner. */
  dependents(uid: string): Item[];
  find(id: string): Item | undefined;
  kindOf(owner: OwnerReference): Kind | undefined;
}

function idOf(kind: Kind, object: KubeObject): string {
  return `${groupKind(kind.apiVersion, kind.kind)} ${keyOf(object)}`;
}

/** Owners are in the namespace of what they own, or cluster-wide. */
function ownerId({ apiVersion, kind, name }: OwnerReference, { metadata }: KubeObject, isNamespaced: boolean): string {
  return `${groupKind(apiVersion, kind)} ${isNamespaced && metadata.namespace ? `${metadata.namespace}/` : ''}${name}`;
}

function isInteresting({ metadata }: KubeObject): boolean {
  return (
    (metadata.ownerReferences?.length ?? 0) > 0 ||
    (metadata.finalizers ?? []).some((one) => one === foreground || one === orphan)
  );
}

async function collect(kit: Kit, graph: Graph, id: string): Promise<Next> {
  const item = graph.find(id);
  if (!item) return { after: 'change' };
  const { deletionTimestamp, finalizers = [], ownerReferences = [] } = item.object.metadata;
  let problem: Problem | undefined;
  if (deletionTimestamp && finalizers.includes(orphan)) problem = await letGo(kit, graph, item);
  else if (deletionTimestamp && finalizers.includes(foreground)) problem = await dependentsFirst(kit, graph, item);
  else if (!deletionTimestamp && ownerReferences.length > 0) problem = await checkOwners(kit, graph, item);
  return problem ? { problem } : { after: 'change' };
}

/** Dependents lose their reference, then the owner its finalizer. */
async function letGo(kit: Kit, graph: Graph, item: Item): Promise<Problem | undefined> {
  const { uid } = item.object.metadata;
  for (const { kind, object } of graph.dependents(uid)) {
    const problem = await setOwners(
      kit,
      { kind, object },
      (object.metadata.ownerReferences ?? []).filter((one) => one.uid !== uid),
    );
    if (problem) return problem;
  }
  return dropFinalizer(kit, item, orphan);
}

/** The owner waits for the dependents that block it; what they own goes before them in the same way. */
async function dependentsFirst(kit: Kit, graph: Graph, item: Item): Promise<Problem | undefined> {
  const { uid } = item.object.metadata;
  const dependents = graph.dependents(uid);
  for (const { kind, object } of dependents) {
    if (object.metadata.deletionTimestamp) continue;
    const removed = await kit.client.remove(kind, object.metadata, {
      uid: object.metadata.uid,
      propagation: 'Foreground',
    });
    if (!removed.ok && removed.problem.status !== 409) return removed.problem;
  }
  const isBlocked = dependents.some(({ object }) =>
    object.metadata.ownerReferences?.some((one) => one.uid === uid && one.blockOwnerDeletion),
  );
  return isBlocked ? undefined : dropFinalizer(kit, item, foreground);
}

/**
 *  owners                                     | then
 *  -------------------------------------------+-----------------------------
 *  one lives, none is gone                    | leave
 *  one lives, others are gone                 | remove the references to those
 *  all gone, or waiting for their dependents  | delete
 */
async function checkOwners(kit: Kit, graph: Graph, item: Item): Promise<Problem | undefined> {
  const { metadata } = item.object;
  const owners = metadata.ownerReferences ?? [];
  const states: ('lives' | 'gone' | 'waiting')[] = [];
  for (const owner of owners) {
    const state = await stateOf(kit, graph, { owner, namespace: metadata.namespace });
    if (!state.ok) return state.problem;
    states.push(state.value);
  }
  if (!states.includes('lives')) {
    const removed = await kit.client.remove(item.kind, metadata, {
      uid: metadata.uid,
      propagation: states.includes('waiting') ? 'Foreground' : 'Background',
    });
    return removed.ok || removed.problem.status === 409 ? undefined : removed.problem;
  }
  if (!states.includes('gone')) return undefined;
  return setOwners(
    kit,
    item,
    owners.filter((_, i) => states[i] !== 'gone'),
  );
}

/** Asked of the server, unless it told us of the deletion: a store may be late, and a wrong deletion cannot be taken back. */
async function stateOf(
  kit: Kit,
  graph: Graph,
  { owner, namespace }: { owner: OwnerReference; namespace: string | undefined },
): Promise<Result<'lives' | 'gone' | 'waiting'>> {
  if (graph.gone.has(owner.uid)) return { ok: true, value: 'gone' };
  const kind = graph.kindOf(owner);
  // A kind that is not served now may be served again: without knowing, nothing is deleted.
  if (!kind) return { ok: true, value: 'lives' };
  const found = await kit.client.send('GET', pathOf(kind, { namespace, name: owner.name }));
  if (!found.ok) return found.problem.status === 404 ? { ok: true, value: 'gone' } : found;
  const { metadata } = found.value as KubeObject;
  if (metadata.uid !== owner.uid) return { ok: true, value: 'gone' };
  return {
    ok: true,
    value: metadata.deletionTimestamp && metadata.finalizers?.includes(foreground) ? 'waiting' : 'lives',
  };
}

function remember(gone: Set<string>, uid: string): void {
  gone.add(uid);
  if (gone.size > rememberedUids) gone.delete(gone.values().next().value!);
}

async function setOwners(
  { client }: Kit,
  { kind, object }: Item,
  ownerReferences: OwnerReference[],
): Promise<Problem | undefined> {
  const { uid, resourceVersion } = object.metadata;
  return outcome(await client.patch(kind, object.metadata, { metadata: { uid, resourceVersion, ownerReferences } }));
}

async function dropFinalizer({ client }: Kit, { kind, object }: Item, name: string): Promise<Problem | undefined> {
  const { uid, resourceVersion, finalizers = [] } = object.metadata;
  return outcome(
    await client.patch(kind, object.metadata, {
      metadata: { uid, resourceVersion, finalizers: finalizers.filter((one) => one !== name) },
    }),
  );
}

function outcome(result: Result<unknown>): Problem | undefined {
  return result.ok || result.problem.status === 404 ? undefined : result.problem;
}
