// The clusters that Secrets register, and how each is found from here: what the `cluster` commands show and check.
import { loadbalancers, type Loadbalancer } from '@fairlead/api';
import type { Clock, Result } from '@fairlead/core';
import { secrets, type Kube, type KubeResult } from '@fairlead/kube';
import { clustersLabel, entriesOf, type Entry } from './entries.ts';
import { identityOf } from './identity.ts';
import type { Opened } from './link.ts';

export interface Desk {
  management: Kube;
  /** Namespace of the Secrets. */
  namespace: string;
  open(text: string, from: string): Promise<Result<Opened>>;
  clock: Clock;
}

export interface Registered {
  entries: Map<string, Entry>;
  refused: { entry: Entry; why: string }[];
  loadbalancers: Loadbalancer[];
}

/** A cluster as it answers now. */
export interface Met {
  entry: Entry;
  server: string;
  /** UID of kube-system, or why it cannot be read. */
  identity: Result<string>;
  /** The same API server under a name that comes before. */
  twin?: string | undefined;
}

export async function registered({ management, namespace }: Desk): Promise<KubeResult<Registered>> {
  const found = await management.list(secrets, { namespace, labelSelector: clustersLabel });
  if (!found.ok) return found;
  const balancers = await management.list(loadbalancers);
  if (!balancers.ok) return balancers;
  const { wanted, refused } = entriesOf([], found.value.items);
  return { ok: true, value: { entries: wanted, refused, loadbalancers: balancers.value.items } };
}

export const usersOf = (cluster: string, all: readonly Loadbalancer[]): string[] =>
  all.filter(({ spec }) => spec.cluster === cluster).map(({ metadata }) => metadata.name);

/** All at once; each has its own patience. */
export async function meetAll(desk: Desk, entries: Iterable<Entry>): Promise<Met[]> {
  const met = await Promise.all(
    [...entries].map((entry) => withClient(desk, entry, (kube) => meet(desk, entry, kube))),
  );
  const first = new Map<string, string>();
  return met.map((one) => {
    if (!one.identity.ok) return one;
    const twin = first.get(one.identity.value);
    if (twin === undefined) first.set(one.identity.value, one.entry.name);
    return { ...one, twin };
  });
}

async function meet({ clock }: Desk, entry: Entry, kube: Result<Kube>): Promise<Met> {
  if (!kube.ok) return { entry, server: '', identity: kube };
  return { entry, server: kube.value.server, identity: await identityOf(kube.value, clock) };
}

/** Opens the entry's client for as long as `work` takes. */
export async function withClient<T>(
  { open, management }: Desk,
  { text = '', from }: Entry,
  work: (kube: Result<Kube>) => Promise<T>,
): Promise<T> {
  if (text === '') return work({ ok: true, value: management });
  const opened = await open(text, from);
  const answer = await work(opened.ok ? { ok: true, value: opened.value.kube } : opened);
  if (opened.ok) void opened.value.close();
  return answer;
}
