// What an API server keeps, as it keeps it: a walk looks at everything after each step, and asks for nothing by request.
import type { Storage } from '@fairlead/apiserver';
import type { Kind, KubeObject } from '@fairlead/kube';

export interface Kept {
  one<T extends KubeObject>(kind: Kind<T>, at: { name: string; namespace?: string }): T | undefined;
  /** In the order of a list. The same object as before as long as nobody writes it. */
  all<T extends KubeObject>(kind: Kind<T>): T[];
}

/** Objects under the part of their key after the resource. */
type Table = Map<string, { text: string; object?: unknown }>;

/** Beside a storage: what was written there can be read, parsed once. */
export function kept(storage: Storage): Kept & { storage: Storage } {
  const tables = new Map<string, Table>();
  const tableOf = (prefix: string): Table => {
    const found = tables.get(prefix) ?? new Map();
    tables.set(prefix, found);
    return found;
  };
  const parsed = <T>(entry: { text: string; object?: unknown }): T => (entry.object ??= JSON.parse(entry.text)) as T;
  return {
    storage: {
      ...storage,
      async write(changes, revision) {
        await storage.write(changes, revision);
        for (const { key, text } of changes) {
          const [, registry, group, resource, ...at] = key.split('/');
          const table = tableOf(`/${registry}/${group}/${resource}`);
          if (text === undefined) table.delete(at.join('/'));
          else table.set(at.join('/'), { text });
        }
      },
    },
    one<T extends KubeObject>(kind: Kind<T>, { name, namespace }: { name: string; namespace?: string }) {
      const entry = tableOf(prefixOf(kind)).get(namespace === undefined ? name : `${namespace}/${name}`);
      return entry && parsed<T>(entry);
    },
    all<T extends KubeObject>(kind: Kind<T>) {
      const entries = [...tableOf(prefixOf(kind))].sort(([a], [b]) => (a < b ? -1 : 1));
      return entries.map(([, entry]) => parsed<T>(entry));
    },
  };
}

const prefixOf = ({ group, plural }: Kind<KubeObject>): string => `/registry/${group || 'core'}/${plural}`;
