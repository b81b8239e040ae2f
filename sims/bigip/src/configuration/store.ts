// The device's configuration: objects by kind and path, changed only by drafts that are taken whole or not at all.

import { kinds, type Identity, type Kind, type Objects } from './object.ts';

export type Change = { [K in Kind]: { kind: K; path: string; before?: Objects[K]; after?: Objects[K] } }[Kind];

type Table<K extends Kind> = Map<string, Objects[K]>;
type Tables = { [K in Kind]: Table<K> };

/** What a draft and the configuration itself can be asked. */
export interface View {
  get<K extends Kind>(kind: K, path: string): Objects[K] | undefined;
  list<K extends Kind>(kind: K): Objects[K][];
}

export class Configuration implements View {
  #tables: Tables = emptyTables();
  generation = 1;

  get<K extends Kind>(kind: K, path: string): Objects[K] | undefined {
    return this.#tables[kind].get(path);
  }

  list<K extends Kind>(kind: K): Objects[K][] {
    return [...this.#tables[kind].values()];
  }

  draft(): Draft {
    return new Draft(this);
  }

  /** Makes a draft's changes real; each changed object gets a new generation. Objects are replaced, never altered. */
  take(draft: Draft): Change[] {
    const changes = draft.changes();
    if (changes.length > 0) this.generation += 1;
    for (const change of changes) this.#put(change);
    return changes;
  }

  #put(change: Change): void {
    const table: Map<string, Identity> = this.#tables[change.kind];
    if (change.after) {
      change.after.generation = this.generation;
      table.set(change.path, change.after);
    } else table.delete(change.path);
  }

  /** All objects as text, for a restart. Built-in ones are made anew by the device and left out. */
  save(isBuiltIn: (kind: Kind, path: string) => boolean): object {
    const objects = kinds.map((kind) => [kind, this.list(kind).filter((item) => !isBuiltIn(kind, item.fullPath))]);
    return { generation: this.generation, objects: Object.fromEntries(objects) };
  }

  load(saved: { generation: number; objects: { [K in Kind]?: Objects[K][] } }): void {
    this.generation = saved.generation;
    for (const kind of kinds) {
      const table: Map<string, Identity> = this.#tables[kind];
      for (const item of saved.objects[kind] ?? []) table.set(item.fullPath, item);
    }
  }
}

/** Changes not yet made. Reads see them as if they were. */
export class Draft implements View {
  #from: Configuration;
  #changed = new Map<Kind, Map<string, Identity | undefined>>();
  /** `kind path` of objects deleted and made anew under their name. */
  readonly recreated = new Set<string>();

  constructor(from: Configuration) {
    this.#from = from;
  }

  get<K extends Kind>(kind: K, path: string): Objects[K] | undefined {
    const changed = this.#changed.get(kind);
    // The map of a kind holds objects of that kind only: `put` is the one way in.
    if (changed?.has(path)) return changed.get(path) as Objects[K] | undefined;
    return this.#from.get(kind, path);
  }

  list<K extends Kind>(kind: K): Objects[K][] {
    const changed = this.#changed.get(kind);
    if (!changed) return this.#from.list(kind);
    const kept = this.#from.list(kind).filter((item) => !changed.has(item.fullPath));
    const added = [...changed.values()].filter((item) => item !== undefined);
    return [...kept, ...(added as Objects[K][])];
  }

  put<K extends Kind>(kind: K, object: Objects[K]): void {
    const table = this.#of(kind);
    const isDeleted = table.has(object.fullPath) && table.get(object.fullPath) === undefined;
    if (isDeleted && this.#from.get(kind, object.fullPath)) this.recreated.add(`${kind} ${object.fullPath}`);
    table.set(object.fullPath, { ...object });
  }

  delete(kind: Kind, path: string): void {
    this.#of(kind).set(path, undefined);
  }

  /** In an order in which each step finds what it needs: deletes from the top down, then puts from the bottom up. */
  changes(): Change[] {
    const all = [...this.#changed].flatMap(([kind, table]) =>
      [...table].map(([path, after]) => ({ kind, path, before: this.#from.get(kind, path), after })),
    );
    const real = all.filter(({ before, after }) => before !== undefined || after !== undefined) as Change[];
    const rank = (change: Change): number => (change.after ? 1 : -1) * (kinds.indexOf(change.kind) + 1);
    return real.sort((a, b) => rank(a) - rank(b));
  }

  #of(kind: Kind): Map<string, Identity | undefined> {
    const table = this.#changed.get(kind) ?? new Map<string, Identity | undefined>();
    this.#changed.set(kind, table);
    return table;
  }
}

function emptyTables(): Tables {
  return {
    virtual: new Map(),
    'virtual-address': new Map(),
    pool: new Map(),
    node: new Map(),
    rule: new Map(),
    'data-group': new Map(),
    monitor: new Map(),
    persistence: new Map(),
    profile: new Map(),
    certificate: new Map(),
    folder: new Map(),
  };
}
