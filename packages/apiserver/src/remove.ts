// Deleting: at once, after a grace period, or once finalizers are off; one object or a whole selection.
import { admitted, approved } from './admission/admit.ts';
import type { Attributes } from './admission/attributes.ts';
import { mayBeAsked } from './admission/webhook.ts';
import { readOptions } from './body.ts';
import { converted, entriesIn, entryIn } from './conversion.ts';
import { deleteOptionsOf, type DeleteOptions } from './options.ts';
import { timeText, isTree, type KubeObject } from './object.ts';
import { objectIn, selectionOf } from './read.ts';
import { keyOf, type Rules } from './resource.ts';
import { decode } from './store.ts';
import { conflict, forbidden, modified, notFound, ok, refuse, type Result } from './status.ts';
import { turn } from './turn.ts';
import { isHeld, nameOf, type Place } from './write.ts';

/** Options of a DELETE, from its body or its query. */
export async function deleteOptions({ call }: Place): Promise<Result<DeleteOptions>> {
  const options = await readOptions(call.request);
  return options.ok ? deleteOptionsOf(call, options.value) : options;
}

export interface Removed {
  object: KubeObject;
  /** False when the object only waits: for its grace period or its finalizers. */
  isGone: boolean;
}

export interface Removal {
  /** One of a collection; the object the call names unless given. */
  of?: { name: string; namespace: string };
  /** Admission was asked about what led to this delete, and is not asked about the delete. */
  isAdmitted?: boolean;
}

/** Deletes the object the call names. */
export async function remove(
  place: Place,
  options: DeleteOptions,
  { of, isAdmitted }: Removal = {},
): Promise<Result<Removed>> {
  const { cluster, call, resource } = place;
  const { name, namespace } = of ?? call.target;
  const key = keyOf(resource, namespace, name);
  const isFree = !isAdmitted && mayBeAsked(cluster, call, { operation: 'DELETE', resource });
  const removed = await turn<Result<Removed>>(cluster.store, key, isFree, async (entry, keep) => {
    if (!entry) return refuse(notFound(nameOf(place), name));
    const read = await entryIn(place, entry);
    if (!read.ok) return read;
    const old = objectIn(read.value, place);
    const expected = checkPreconditions(place, old, options.preconditions);
    if (!expected.ok) return expected;
    if (isKept(place, name)) return refuse(forbidden(nameOf(place), name, 'this namespace may not be deleted'));
    const isTrial = options.dryRun === true;
    const fate = fateOf(place, decode(entry.text), options);
    // A delete that says nothing new is not even asked of admission.
    if (fate.sort === 'pending') return ok({ object: old, isGone: false });
    // A delete of a collection is asked about once for each object, and names none.
    const asked = { operation: 'DELETE', resource, name: of ? '' : name, namespace, oldObject: old } as const;
    const told = { ...options, ...graceTold(place, old, options) };
    const agreed = isAdmitted ? ok(undefined) : await asks(place, { ...asked, options: told, isDryRun: isTrial });
    return agreed.ok ? keep(() => end(place, { key, old, fate, isTrial })) : agreed;
  });
  return removed ?? refuse(modified(nameOf(place), name));
}

async function asks({ cluster, call }: Place, asked: Attributes): Promise<Result<unknown>> {
  const admission = await admitted(cluster, call, asked);
  return admission.ok ? approved(cluster, call, asked) : admission;
}

/** Of kinds with a grace, admission is told which it will be. */
function graceTold({ resource }: Place, old: KubeObject, { gracePeriodSeconds }: DeleteOptions): DeleteOptions {
  const seconds = resource.rules.grace?.(old, gracePeriodSeconds);
  return seconds === undefined ? {} : { gracePeriodSeconds: seconds };
}

interface Ending {
  key: string;
  old: KubeObject;
  fate: Exclude<Fate, { sort: 'pending' }>;
  isTrial: boolean;
}

async function end(place: Place, { key, old, fate, isTrial }: Ending): Promise<Result<Removed>> {
  const { store } = place.cluster;
  const isGone = fate.sort === 'gone';
  if (isTrial && !fate.isChanged) return ok({ object: old, isGone });
  if (!isTrial && fate.isChanged) await store.put(key, fate.object);
  if (!isTrial && isGone) await store.remove(key, fate.object);
  const last = await converted(place, fate.object);
  return last.ok ? ok({ object: last.value, isGone }) : last;
}

/** Namespaces that would only be made again. */
const isKept = ({ resource }: Place, name: string): boolean =>
  resource.group === '' &&
  resource.resource === 'namespaces' &&
  ['default', 'kube-system', 'kube-public'].includes(name);

function checkPreconditions(
  place: Place,
  old: KubeObject,
  preconditions: DeleteOptions['preconditions'],
): Result<void> {
  const name = old.metadata.name ?? '';
  const { uid, resourceVersion } = preconditions ?? {};
  // The real server names the kind here, where it names the resource elsewhere.
  const about = { group: place.resource.group, resource: place.resource.kind };
  if (uid && uid !== old.metadata.uid) {
    return refuse(
      conflict(
        about,
        name,
        `the UID in the precondition (${uid}) does not match the UID in record (${old.metadata.uid ?? ''}). The object might have been deleted and then recreated`,
      ),
    );
  }
  if (resourceVersion && resourceVersion !== old.metadata.resourceVersion) {
    return refuse(
      conflict(
        about,
        name,
        `the ResourceVersion in the precondition (${resourceVersion}) does not match the ResourceVersion in record (${old.metadata.resourceVersion ?? ''}). The object might have been modified`,
      ),
    );
  }
  return ok(undefined);
}

const collectorFinalizers: Record<string, string> = { Orphan: 'orphan', Foreground: 'foregroundDeletion' };

type Fate = { sort: 'pending' } | { sort: 'marked' | 'gone'; object: KubeObject; isChanged: boolean };

/*
   finalizers | a graceful end     | the delete
   -----------+--------------------+------------------------------------------------------------
   none       | is not of the kind | removes it
   none       | of 0 seconds       | marks it, then removes it
   any        | under way          | changes nothing (pending), unless it asks for a shorter one
   any        | longer             | marks it; whoever runs it deletes again, with grace 0
   some       | is not of the kind | marks it; it goes when the last finalizer is taken off
*/
function fateOf(place: Place, object: KubeObject, options: DeleteOptions): Fate {
  const { metadata } = object;
  const { rules } = place.resource;
  const now = place.cluster.clock.now();
  const isAnew = metadata.deletionTimestamp === undefined;
  const graceful = rules.grace ? gracefully(object, rules.grace, options.gracePeriodSeconds, now) : 'none';
  if (graceful === 'pending') return { sort: 'pending' };
  const before = metadata.finalizers ?? [];
  const finalizers = finalizersOf(before, options.propagationPolicy, isAnew ? (rules.holds ?? []) : []);
  const isWaiting = finalizers.length > 0 || isHeld(object);
  if (graceful === 'none' && !isWaiting) return { sort: 'gone', object, isChanged: false };
  const hasNewFinalizers = finalizers.length !== before.length || finalizers.some((one) => !before.includes(one));
  if (finalizers.length > 0) metadata.finalizers = finalizers;
  else delete metadata.finalizers;
  if (graceful === 'none') markDeleted(object, now);
  const isOver = !isWaiting && metadata.deletionGracePeriodSeconds === 0;
  const isChanged = isAnew || graceful === 'marked' || hasNewFinalizers;
  return { sort: isOver ? 'gone' : 'marked', object, isChanged };
}

function finalizersOf(before: readonly string[], policy: string | undefined, holds: readonly string[]): string[] {
  const added = collectorFinalizers[policy ?? ''];
  const others = before.filter((one) => !Object.values(collectorFinalizers).includes(one));
  const kept = policy === undefined ? before : [...others, ...(added === undefined ? [] : [added])];
  return [...new Set([...kept, ...holds])];
}

/** Begins or shortens the end of an object that is given time for it. An end under way never becomes longer. */
function gracefully(
  object: KubeObject,
  grace: NonNullable<Rules['grace']>,
  asked: number | undefined,
  now: number,
): 'none' | 'pending' | 'marked' {
  const { metadata } = object;
  const { deletionTimestamp, deletionGracePeriodSeconds: left } = metadata;
  if (deletionTimestamp === undefined) {
    const seconds = grace(object, asked);
    mark(object, now + seconds * 1000, seconds);
    return 'marked';
  }
  if (!left) return 'none';
  if (asked === undefined || asked >= left) return 'pending';
  const until = Date.parse(deletionTimestamp) + (asked - left) * 1000;
  // Its time is over already, yet whoever runs it is to end it.
  const isLate = until < now && asked > 0;
  mark(object, Math.max(until, now), isLate ? 1 : asked);
  return 'marked';
}

/** Of a kind without a graceful end: it is over, and only held. */
function markDeleted(object: KubeObject, now: number): void {
  const until = object.metadata.deletionTimestamp;
  mark(object, until === undefined ? now : Math.min(Date.parse(until), now), 0);
  if (object.kind === 'Namespace' && object.apiVersion === 'v1')
    object.status = { ...(isTree(object.status) ? object.status : {}), phase: 'Terminating' };
}

function mark({ metadata }: KubeObject, until: number, seconds: number): void {
  if (metadata.deletionTimestamp === undefined && metadata.generation) metadata.generation++;
  metadata.deletionTimestamp = timeText(until);
  metadata.deletionGracePeriodSeconds = seconds;
}

/** Deletes every object of the call's selection; the list of what was deleted, as text. */
export async function removeAll(place: Place, options: DeleteOptions): Promise<Result<string[]>> {
  const { cluster, resource } = place;
  const selection = selectionOf(place);
  if (!selection.ok) return selection;
  const deleted: string[] = [];
  const read = await entriesIn(place, cluster.store.table(keyOf(resource)).range(selection.value.prefix));
  if (!read.ok) return read;
  for (const entry of read.value) {
    if (!selection.value.matches(entry)) continue;
    const object = objectIn(entry, place);
    const { name = '', namespace = '' } = object.metadata;
    const result = await remove(place, options, { of: { name, namespace } });
    // Someone else may have removed it in the meantime: that is what was asked for.
    if (!result.ok && result.status.code !== 404) return result;
    deleted.push(JSON.stringify(object));
  }
  return ok(deleted);
}
