// The controllers that live in the server: definitions, namespaces and garbage, one queue, one turn at a time.
import { aggregateRoles, roleKey } from './access/aggregate.ts';
import type { Cluster } from './cluster.ts';
import { definitionKey, settleDefinition } from './definitions.ts';
import { collect, owners, type Owners } from './garbage.ts';
import { namespaceKey, settleNamespace } from './namespaces.ts';
import type { KubeObject } from './object.ts';
import type { Own } from './own.ts';
import { keyOf } from './resource.ts';
import type { StoreEvent } from './store.ts';

export interface Background {
  /** Resolves when nothing is left to do, for now. */
  idle(): Promise<void>;
  close(): Promise<void>;
}

const definitions = keyOf(definitionKey);
const namespaces = keyOf(namespaceKey);
const roles = keyOf(roleKey);
const services = '/registry/core/services/';

/** Milliseconds until what admission keeps in a deleted namespace is tried again: its reason may be in no object of ours. */
const untilNextTry = 5_000;

/** Follows every change of the store. `report` is told of turns that failed; they are tried again with the next change. */
export function background(cluster: Cluster, own: Own, report: (message: string) => void): Background {
  const index = owners();
  const queue = new Set<string>();
  /** Definitions that wait for the last of their objects to go. */
  const leaving = new Set<string>();
  const kept = keptNamespaces(cluster, (name) => add(`namespace ${name}`));
  let running: Promise<void> | undefined;
  let isClosed = false;

  const add = (turn: string): void => {
    if (isClosed) return;
    queue.add(turn);
    running ??= run();
  };

  cluster.store.listen((type, key, object) => {
    for (const turn of turnsFor(type, key, object)) add(turn);
  });

  function turnsFor(type: StoreEvent['type'], key: string, object: KubeObject): string[] {
    const turns = index.note(type, key, object).map((one) => `garbage ${one}`);
    if (key.startsWith(definitions)) turns.push(`definition ${noted(type, key.slice(definitions.length), object)}`);
    if (key.startsWith(namespaces)) turns.push(`namespace ${key.slice(namespaces.length)}`);
    const { namespace } = object.metadata;
    // What is changed may be let go now.
    if (namespace && (type === 'DELETED' || kept.has(namespace))) turns.push(`namespace ${namespace}`);
    if (type === 'DELETED') {
      const definition = cluster.registry.findKind(object.apiVersion.split('/')[0] ?? '', object.kind);
      const name = `${definition?.resource}.${definition?.group}`;
      if (definition?.isCustom && leaving.has(name)) turns.push(`definition ${name}`);
    }
    if (key.startsWith(roles)) turns.push('roles all');
    if (key.startsWith(services)) noteAddresses(type, object);
    return turns;
  }

  function noted(type: StoreEvent['type'], name: string, { metadata }: KubeObject): string {
    if (type !== 'DELETED' && metadata.deletionTimestamp) leaving.add(name);
    else leaving.delete(name);
    return name;
  }

  /** Addresses of services there were before this start are held again; those of deleted services are free. */
  function noteAddresses(type: StoreEvent['type'], object: KubeObject): void {
    if (type === 'DELETED') cluster.addresses.release(object);
    else cluster.addresses.give(object, object);
  }

  async function run(): Promise<void> {
    // Let the write that caused this be answered first.
    await Promise.resolve();
    for (const turn of queue) {
      if (isClosed) break;
      queue.delete(turn);
      await attempt({ cluster, own, index, report, kept }, turn);
    }
    running = undefined;
  }

  return {
    async idle() {
      for (let now = running; now; now = running) await now;
    },
    async close() {
      isClosed = true;
      kept.close();
      await running;
    },
  };
}

interface Kept {
  has(name: string): boolean;
  /** Told how much of a namespace may not be deleted now. */
  settled(name: string, refusals: number): void;
  close(): void;
}

/** Deleted namespaces with something in them that admission keeps. `again`: told which to look at once more. */
function keptNamespaces({ clock }: Cluster, again: (name: string) => void): Kept {
  const names = new Set<string>();
  const stop = new AbortController();

  async function later(name: string): Promise<void> {
    await clock.sleep(untilNextTry, stop.signal);
    if (names.delete(name)) again(name);
  }

  return {
    has: (name) => names.has(name),
    settled(name, refusals) {
      const isWaiting = names.has(name);
      if (refusals === 0) names.delete(name);
      else names.add(name);
      if (refusals > 0 && !isWaiting) void later(name);
    },
    close: () => stop.abort(),
  };
}

interface Parts {
  cluster: Cluster;
  own: Own;
  index: Owners;
  report(message: string): void;
  kept: Kept;
}

async function attempt({ cluster, own, index, report, kept }: Parts, turn: string): Promise<void> {
  const space = turn.indexOf(' ');
  const [sort, name] = [turn.slice(0, space), turn.slice(space + 1)];
  try {
    if (sort === 'garbage') await collect({ cluster, own, index }, name);
    else if (sort === 'roles') await aggregateRoles(cluster, own);
    else if (sort === 'namespace') kept.settled(name, await settleNamespace(cluster, own, name));
    else await settleDefinition(cluster, own, name);
  } catch (error) {
    // The one place where a turn's failure ends: it must not take the other turns down.
    report(`${turn}: ${error instanceof Error ? error.message : String(error)}`);
  }
}
