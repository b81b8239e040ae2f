// All enabled tickets of one Loadbalancer in one namespace → the ConfigMap that CIS, or our agent, reads there. Pure.
import { declaration } from '@fairlead/as3';
import type { Loadbalancer } from '@fairlead/api';
import { fail, isEqual, type Problem, type Result } from '@fairlead/core';
import type { ConfigMap } from '@fairlead/kube';
import { digest } from './digest.ts';
import { annotations, configMapName, tenantOf } from './names.ts';
import { isRecord, parsedObject, sortedKeys } from './json.ts';
import type { Part, ServicePortRef } from './part.ts';
import { recent } from './recent.ts';

export interface Contribution {
  /** `namespace/name` of the ticket. */
  ticket: string;
  /** Milliseconds since the epoch: of two that want one name, the older object has the better right. */
  created: number;
  part: Result<Part>;
}

export interface ConfigMapQuestion {
  loadbalancer: Loadbalancer;
  namespace: string;
  contributions: readonly Contribution[];
  existing: ConfigMap | undefined;
}

export interface ConfigMapAnswer {
  /** Our fields only, as they are applied. */
  object: ConfigMap;
  /** By ticket: why its newest edit is not in the ConfigMap. What it had there before stays. */
  problems: Map<string, Problem>;
}

/** What of the template is whose: kept on the ConfigMap, so that a bad edit can be answered with what worked before. */
export interface Entry {
  digest: string;
  /** Application → names of objects. */
  items: Record<string, string[]>;
}

/*
 *  the ticket's edit  | in the ConfigMap before | then
 *  -------------------+-------------------------+------------------------------------------
 *  compiles           | –                       | its objects are in
 *  does not compile   | yes                     | its old objects stay, and it is told why
 *  does not compile   | no                      | it is told why
 *  compiles, but a name in it is another's and differs: as if it did not compile
 */
export function configMap(question: ConfigMapQuestion): ConfigMapAnswer {
  const { loadbalancer, namespace, existing } = question;
  const tenant = tenantOf(loadbalancer, namespace);
  const before = readExisting(existing, tenant);
  const merge = merged();
  const problems = new Map<string, Problem>();
  const entries: Record<string, Entry> = {};
  for (const { ticket, part } of bySeniority(question.contributions, before)) {
    const problem = part.ok ? merge.add(ticket, part.value) : part.problem;
    if (!problem) {
      if (part.ok) entries[ticket] = entryOf(part.value);
      continue;
    }
    problems.set(ticket, problem);
    const held = heldPart(before, ticket);
    if (held && !merge.add(ticket, held)) entries[ticket] = entryOf(held);
  }
  const applications = sortedKeys(merge.items, (items) => ({
    ...sortedKeys(items, (item) => item),
    class: 'Application' as const,
    template: 'generic',
  }));
  const template = JSON.stringify(declaration({ [tenant]: applications }));
  const object: ConfigMap = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: {
      name: configMapName(loadbalancer.metadata.name),
      namespace,
      labels: { f5type: 'virtual-server', as3: 'true' },
      annotations: {
        [annotations.loadbalancer]: loadbalancer.metadata.name,
        [annotations.revision]: digest(template),
        [annotations.pools]: JSON.stringify(sortedKeys(merge.pools, (pool) => pool)),
        [annotations.tickets]: JSON.stringify(sortedKeys(entries, (entry) => entry)),
      },
    },
    data: { template },
  };
  return { object, problems };
}

/** Are our fields in `existing` as `object` has them? Then there is nothing to write. */
export function isApplied(object: ConfigMap, existing: ConfigMap | undefined): boolean {
  const within = (wanted: Record<string, string> = {}, found: Record<string, string> = {}) =>
    Object.entries(wanted).every(([key, value]) => found[key] === value);
  return (
    existing !== undefined &&
    within(object.metadata.labels, existing.metadata.labels) &&
    within(object.metadata.annotations, existing.metadata.annotations) &&
    within(object.data, existing.data)
  );
}

const entriesIn = recent((configMap: ConfigMap) =>
  records<Entry>(
    configMap.metadata.annotations?.[annotations.tickets],
    ({ digest, items }) =>
      typeof digest === 'string' && isRecord(items) && Object.values(items).every((names) => Array.isArray(names)),
  ),
);

/** What the ConfigMap says is whose; empty when it says nothing, or nonsense. */
export const readEntries = (configMap: ConfigMap | undefined): Record<string, Entry> =>
  configMap ? entriesIn(configMap) : {};

const poolsIn = recent((configMap: ConfigMap) =>
  records<ServicePortRef>(
    configMap.metadata.annotations?.[annotations.pools],
    ({ service }) => typeof service === 'string',
  ),
);

export const readPools = (configMap: ConfigMap | undefined): Record<string, ServicePortRef> =>
  configMap ? poolsIn(configMap) : {};

interface Before {
  entries: Record<string, Entry>;
  pools: Record<string, ServicePortRef>;
  /** The template, which is long: read only for who has to keep what it had. */
  items: () => Record<string, Record<string, unknown>>;
}

function readExisting(existing: ConfigMap | undefined, tenant: string): Before {
  let items: Record<string, Record<string, unknown>> | undefined;
  const read = () => (items ??= itemsIn(existing, tenant));
  return { entries: readEntries(existing), pools: readPools(existing), items: read };
}

function itemsIn(existing: ConfigMap | undefined, tenant: string): Record<string, Record<string, unknown>> {
  const { declaration } = parsedObject(existing?.data?.['template']);
  const applications = isRecord(declaration) ? declaration[tenant] : undefined;
  return isRecord(applications) ? Object.fromEntries(Object.entries(applications).filter(isRecordEntry)) : {};
}

/** The members of a JSON object that are as they should be: whatever else somebody wrote there, we write over it. */
function records<T>(
  text: string | undefined,
  isSound: (record: Record<string, unknown>) => boolean,
): Record<string, T> {
  const sound = Object.entries(parsedObject(text)).filter(([, value]) => isRecord(value) && isSound(value));
  return Object.fromEntries(sound) as Record<string, T>;
}

const isRecordEntry = (entry: [string, unknown]): entry is [string, Record<string, unknown>] => isRecord(entry[1]);

/** Those who are in it keep their names, then the older ones, then by name. */
const bySeniority = (contributions: readonly Contribution[], before: Before): Contribution[] =>
  contributions.toSorted(
    (a, b) =>
      Number(b.ticket in before.entries) - Number(a.ticket in before.entries) ||
      a.created - b.created ||
      (a.ticket < b.ticket ? -1 : 1),
  );

function merged() {
  const items: Record<string, Record<string, unknown>> = {};
  const pools: Record<string, ServicePortRef> = {};
  const holders = new Map<string, string>();
  return {
    items,
    pools,
    /** All of the part or nothing; equal objects are shared. */
    add(ticket: string, part: Part): Problem | undefined {
      for (const [path, object] of objectsOf(part)) {
        const [application = '', name = ''] = path.split('/');
        const present = items[application]?.[name];
        if (present === undefined || isEqual(present, object)) continue;
        const why = `${path} belongs to ticket ${holders.get(path)} and is not the same; use another Service, or another ticket name`;
        return fail('taken', why, 'spec.listners').problem;
      }
      for (const [path, object] of objectsOf(part)) {
        const [application = '', name = ''] = path.split('/');
        (items[application] ??= {})[name] = object;
        if (!holders.has(path)) holders.set(path, ticket);
      }
      Object.assign(pools, part.pools);
      return undefined;
    },
  };
}

const objectsOf = (part: Part): [path: string, object: unknown][] =>
  Object.entries(part.items).flatMap(([application, objects]) =>
    Object.entries(objects).map(([name, object]): [string, unknown] => [`${application}/${name}`, object]),
  );

const entryOf = (part: Part): Entry => ({
  digest: part.digest,
  items: sortedKeys(part.items, (objects) => Object.keys(objects).sort()),
});

/** By ticket: what the ConfigMap has of it. Reads the template once, and only when asked. */
export function heldIn(existing: ConfigMap | undefined, tenant: string): (ticket: string) => Part | undefined {
  const before = readExisting(existing, tenant);
  return (ticket) => heldPart(before, ticket);
}

/** What the ticket had in the ConfigMap, if all of it is still there. */
function heldPart(before: Before, ticket: string): Part | undefined {
  const entry = before.entries[ticket];
  if (!entry) return undefined;
  const held: Part = { items: {}, pools: {}, digest: entry.digest };
  for (const [application, names] of Object.entries(entry.items)) {
    for (const name of names) {
      const object = before.items()[application]?.[name];
      if (object === undefined) return undefined;
      (held.items[application] ??= {})[name] = object;
      const pool = before.pools[`${application}/${name}`];
      if (pool) held.pools[`${application}/${name}`] = pool;
    }
  }
  return held;
}
