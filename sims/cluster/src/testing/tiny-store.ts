// What the tiny API server of the tests keeps: objects, the history of their changes, and who watches.
import type { KubeObject } from '../kube/objects.ts';

export type Stored = KubeObject & { spec?: Record<string, unknown>; status?: unknown };

export type TinyStore = ReturnType<typeof tinyStore>;

export interface Removal {
  graceSeconds?: number | undefined;
  propagation?: string | undefined;
}

export function tinyStore(now: () => number, isBare: boolean) {
  const objects = new Map<string, Map<string, Stored>>();
  const history: { plural: string; version: number; line: string }[] = [];
  const watchers = new Set<{ plural: string; send(line: string): void }>();
  const waiting = new Set<() => void>();
  let version = 0;

  const of = (plural: string) => {
    if (!objects.has(plural)) objects.set(plural, new Map());
    return objects.get(plural)!;
  };
  const tell = (plural: string, type: string, object: Stored) => {
    const line = `${JSON.stringify({ type, object })}\n`;
    history.push({ plural, version, line });
    for (const watcher of watchers) if (watcher.plural === plural) watcher.send(line);
    for (const check of waiting) check();
  };
  const put = (plural: string, object: Stored) => {
    const isNew = !of(plural).has(keyOf(object));
    version += 1;
    const stored = { ...object, metadata: { ...object.metadata, resourceVersion: String(version) } };
    of(plural).set(keyOf(stored), stored);
    tell(plural, isNew ? 'ADDED' : 'MODIFIED', stored);
    return stored;
  };
  const drop = (plural: string, object: Stored) => {
    of(plural).delete(keyOf(object));
    version += 1;
    tell(plural, 'DELETED', { ...object, metadata: { ...object.metadata, resourceVersion: String(version) } });
    for (const [kind, held] of isBare ? [] : objects) {
      for (const one of held.values()) if (isOwned(one, object)) remove(kind, one);
    }
  };
  /** A bound pod gets its grace and an object its finalizers; everything else goes at once, and what it owns with it. */
  const remove = (plural: string, object: Stored, { graceSeconds, propagation = '' }: Removal = {}) => {
    const isGraceful = plural === 'pods' && object.spec?.['nodeName'] !== undefined;
    const grace = isGraceful ? (graceSeconds ?? Number(object.spec?.['terminationGracePeriodSeconds'] ?? 30)) : 0;
    const added = { Foreground: ['foregroundDeletion'], Orphan: ['orphan'] }[propagation] ?? [];
    const finalizers = [...new Set([...(object.metadata.finalizers ?? []), ...(isBare ? added : [])])];
    const isHeld = finalizers.length > 0 || (isBare && plural === 'namespaces');
    if (grace === 0 && !isHeld) return drop(plural, object);
    const deletionTimestamp = object.metadata.deletionTimestamp ?? new Date(now() + grace * 1000).toISOString();
    const metadata = { ...object.metadata, finalizers, deletionTimestamp, deletionGracePeriodSeconds: grace };
    put(plural, { ...object, metadata });
  };

  return {
    of,
    put,
    remove,
    drop,
    next: () => version + 1,
    version: () => version,
    /** Sends what happened since `from`, then what happens, until the answered function is called. */
    watch(plural: string, from: number, send: (line: string) => void): () => void {
      for (const old of history) if (old.plural === plural && old.version > from) send(old.line);
      const watcher = { plural, send };
      watchers.add(watcher);
      return () => void watchers.delete(watcher);
    },
    until: untilTold(waiting),
  };
}

/** Resolves with what `find` finds, as soon as a write makes it find something. */
function untilTold(waiting: Set<() => void>) {
  return <T>(find: () => T | undefined | false): Promise<T> =>
    new Promise((done) => {
      const check = () => {
        const found = find();
        if (!found) return;
        waiting.delete(check);
        done(found);
      };
      waiting.add(check);
      check();
    });
}

export function keyOf({ metadata }: KubeObject): string {
  return metadata.namespace ? `${metadata.namespace}/${metadata.name}` : metadata.name;
}

function isOwned(object: Stored, owner: Stored): boolean {
  return object.metadata.ownerReferences?.some((one) => one.uid === owner.metadata.uid) ?? false;
}
