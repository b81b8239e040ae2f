// A custom kind's versions: one is stored, and each is read with the fields and defaults of its own schema. Between
// them stands nothing (strategy None), or the definition's webhook.
import type { Cluster } from './cluster.ts';
import { convertByHook } from './conversion-webhook.ts';
import { apiVersionOf, copyOf, type KubeObject } from './object.ts';
import { storageVersionOf, type Resource, type Twin, type Version } from './resource.ts';
import { fillDefaults, prune } from './schema/prune.ts';
import { ok, type Result } from './status.ts';
import { decode, encode, type Entry } from './store.ts';

export interface Converting {
  cluster: Cluster;
  resource: Resource;
  version: Version;
}

/** `object` as it is read in `version` where nothing converts it: changed in place, and given back. */
export function inVersion(object: KubeObject, resource: Resource, version: Version): KubeObject {
  const apiVersion = apiVersionOf(resource.group, version.name);
  const isThere = object.apiVersion === apiVersion;
  object.apiVersion = apiVersion;
  if (!resource.isCustom || isThere) return object;
  prune(object, version.schema);
  fillDefaults(object, version.schema);
  return object;
}

/** `object` as it is read in `version`, by the webhook where there is one. */
export async function converted(
  { cluster, resource, version }: Converting,
  object: KubeObject,
): Promise<Result<KubeObject>> {
  if (resource.twin)
    return ok(object.apiVersion === apiVersionOf(resource.group, version.name) ? object : resource.twin.told(object));
  if (!resource.conversion || object.apiVersion === apiVersionOf(resource.group, version.name))
    return ok(inVersion(object, resource, version));
  const result = await convertByHook(cluster, resource, [object], version.name);
  if (!result.ok) return result;
  const next = result.value[0] ?? object;
  prune(next, version.schema);
  return ok(next);
}

/** `object`, written in `version`, as it is stored: a copy where that is another version. */
export async function asStored(converting: Converting, object: KubeObject): Promise<Result<KubeObject>> {
  const { resource, version } = converting;
  if (resource.twin) return ok(resource.twin.kept(object));
  if (version.name === resource.storageVersion) return ok(object);
  if (resource.conversion) return converted({ ...converting, version: storageVersionOf(resource) }, object);
  const stored = copyOf(object);
  stored.apiVersion = apiVersionOf(resource.group, resource.storageVersion);
  if (resource.isCustom) fillDefaults(stored, storageVersionOf(resource).schema);
  return ok(stored);
}

/** Whether what is read may be other than what is kept. */
export const isConverted = ({ conversion, twin }: Resource): boolean => conversion !== undefined || twin !== undefined;

const toldEntries = new WeakMap<Entry, Entry>();

/** Entries never change, so each is told once however many lists and watches take it. */
function toldEntry(entry: Entry, twin: Twin | undefined): Entry {
  const known = toldEntries.get(entry);
  if (known || !twin) return known ?? entry;
  const told = { ...entry, text: encode(twin.told(decode(entry.text))) };
  toldEntries.set(entry, told);
  return told;
}

const heads = new WeakMap<Resource, Map<string, string>>();

/** How every text of a kind begins: encode() writes kind and apiVersion first. */
export function headOf(resource: Resource, version: string): string {
  let known = heads.get(resource);
  if (!known) heads.set(resource, (known = new Map()));
  let head = known.get(version);
  if (head === undefined) {
    head = `{"kind":${JSON.stringify(resource.kind)},"apiVersion":${JSON.stringify(apiVersionOf(resource.group, version))},`;
    known.set(version, head);
  }
  return head;
}

/** What webhooks made of stored objects, by version; gone with the object, and with the definition as it was. */
const kept = new WeakMap<Resource, WeakMap<Entry, Map<string, Promise<Result<Entry>>>>>();

/** Objects of a review, and bytes of them: a webhook is not asked about a long list at once. */
const most = { objects: 500, bytes: 1024 * 1024 };

/** `entries` under the version asked for; only those a webhook has to convert are not the stored ones. */
export async function entriesIn(converting: Converting, entries: readonly Entry[]): Promise<Result<readonly Entry[]>> {
  const { resource, version } = converting;
  if (resource.twin) return ok(entries.map((entry) => toldEntry(entry, resource.twin)));
  if (!resource.conversion) return ok(entries);
  const head = headOf(resource, version.name);
  const known = keptOf(resource);
  const wanted = [...new Set(entries)].filter(
    (entry) => !entry.text.startsWith(head) && !known.get(entry)?.has(version.name),
  );
  for (const part of partsOf(wanted)) {
    const result = await convertPart(converting, part);
    if (!result.ok) return result;
  }
  const out: Entry[] = [];
  for (const entry of entries) {
    const result = entry.text.startsWith(head) ? undefined : await known.get(entry)?.get(version.name);
    if (result && !result.ok) return result;
    out.push(result?.value ?? entry);
  }
  return ok(out);
}

export async function entryIn(converting: Converting, entry: Entry): Promise<Result<Entry>> {
  if (!isConverted(converting.resource)) return ok(entry);
  const result = await entriesIn(converting, [entry]);
  return result.ok ? ok(result.value[0] ?? entry) : result;
}

function keptOf(resource: Resource): WeakMap<Entry, Map<string, Promise<Result<Entry>>>> {
  let known = kept.get(resource);
  if (!known) kept.set(resource, (known = new WeakMap()));
  return known;
}

function partsOf(entries: Entry[]): Entry[][] {
  const parts: Entry[][] = [];
  let size = Infinity;
  for (const entry of entries) {
    const last = parts.at(-1);
    if (!last || last.length === most.objects || size + entry.text.length > most.bytes) {
      parts.push([entry]);
      size = entry.text.length;
    } else {
      last.push(entry);
      size += entry.text.length;
    }
  }
  return parts;
}

/** Whoever asks for the same in the meantime waits for this answer; a failure is not kept. */
async function convertPart({ cluster, resource, version }: Converting, part: Entry[]): Promise<Result<void>> {
  const known = keptOf(resource);
  const working = convertByHook(
    cluster,
    resource,
    part.map((entry) => decode(entry.text)),
    version.name,
  );
  part.forEach((entry, i) => {
    const byVersion = known.get(entry) ?? new Map<string, Promise<Result<Entry>>>();
    known.set(entry, byVersion);
    const own = working.then((result) => {
      const object = result.ok ? result.value[i] : undefined;
      if (object) return ok(entryOf(entry, object, version));
      byVersion.delete(version.name);
      return result.ok ? ok(entry) : result;
    });
    // What `working` throws is thrown below, to whoever asked first.
    own.catch(() => byVersion.delete(version.name));
    byVersion.set(version.name, own);
  });
  const result = await working;
  return result.ok ? ok(undefined) : result;
}

function entryOf(entry: Entry, object: KubeObject, version: Version): Entry {
  prune(object, version.schema);
  return { key: entry.key, revision: entry.revision, text: encode(object), labels: object.metadata.labels ?? {} };
}
