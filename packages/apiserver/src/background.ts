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

/** Follows every change of the store. `report` is told of turns that failed; they are tried again with the next change. */
export function background(cluster: Cluster, own: Own, report: (message: string) => void): Background {
  const index = owners();
  const queue = new Set<string>();
  /** Definitions that wait for the last of their objects to go. */
  const leaving = new Set<string>();
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
    if (type === 'DELETED') {
      if (object.metadata.namespace) turns.push(`namespace ${object.metadata.namespace}`);
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
      await attempt({ cluster, own, index, report }, turn);
    }
    running = undefined;
  }

  return {
    async idle() {
      for (let now = running; now; now = running) await now;
    },
    async close() {
      isClosed = true;
      await running;
    },
  };
}

interface Parts {
  cluster: Cluster;
  own: Own;
  index: Owners;
  report(message: string): void;
}

async function attempt({ cluster, own, index, report }: Parts, turn: string): Promise<void> {
  const space = turn.indexOf(' ');
  const [sort, name] = [turn.slice(0, space), turn.slice(space + 1)];
  try {
    if (sort === 'garbage') await collect({ cluster, own, index }, name);
    else if (sort === 'roles') await aggregateRoles(cluster, own);
    else if (sort === 'namespace') await settleNamespace(cluster, own, name);
    else await settleDefinition(cluster, own, name);
  } catch (error) {
    // The one place where a turn's failure ends: it must not take the other turns down.
    report(`${turn}: ${error instanceof Error ? error.message : String(error)}`);
  }
}
