// Deleting: at once, after a grace period, or once finalizers are off; one object or a whole selection.
import { admitted, approved } from './admission/admit.ts';
import { readOptions } from './body.ts';
import { deleteOptionsOf, type DeleteOptions } from './options.ts';
import { timeText, isTree, type KubeObject } from './object.ts';
import { objectIn, selectionOf } from './read.ts';
import { keyOf } from './resource.ts';
import { decode } from './store.ts';
import { conflict, forbidden, notFound, ok, refuse, type Result } from './status.ts';
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

/** Deletes the object the call names. */
export async function remove(
  place: Place,
  options: DeleteOptions,
  name = place.call.target.name,
  namespace = place.call.target.namespace,
): Promise<Result<Removed>> {
  const { cluster, call, resource } = place;
  const key = keyOf(resource, namespace, name);
  return cluster.store.locked(key, async () => {
    const entry = cluster.store.get(key);
    if (!entry) return refuse(notFound(nameOf(place), name));
    const old = objectIn(entry, place);
    const expected = checkPreconditions(place, old, options.preconditions);
    if (!expected.ok) return expected;
    if (isKept(place, name)) return refuse(forbidden(nameOf(place), name, 'this namespace may not be deleted'));
    const asked = { operation: 'DELETE', resource, name, namespace, oldObject: old } as const;
    const isTrial = options.dryRun === true;
    const admission = await admitted(cluster, call, { ...asked, isDryRun: isTrial });
    if (!admission.ok) return admission;
    const approval = await approved(cluster, call, { ...asked, isDryRun: isTrial });
    if (!approval.ok) return approval;
    const next = marked(place, decode(entry.text), options);
    if (!next) {
      if (!options.dryRun) await cluster.store.remove(key, decode(entry.text));
      return ok({ object: old, isGone: true });
    }
    if (!options.dryRun && next.isChanged) await cluster.store.put(key, next.object);
    return ok({ object: next.object, isGone: false });
  });
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

/*
   finalizers | grace | the delete
   -----------+-------+------------------------------------------------------------
   none       | 0     | removes it (undefined is returned)
   none       | > 0   | marks it; whoever runs it deletes again, with grace 0
   some       | any   | marks it; it goes when the last finalizer is taken off
*/
function marked(
  place: Place,
  object: KubeObject,
  options: DeleteOptions,
): { object: KubeObject; isChanged: boolean } | undefined {
  const { metadata } = object;
  const rules = place.resource.rules;
  const finalizer = collectorFinalizers[options.propagationPolicy ?? ''];
  const others = (metadata.finalizers ?? []).filter((one) => !Object.values(collectorFinalizers).includes(one));
  const isAnew = !metadata.deletionTimestamp;
  const kept =
    options.propagationPolicy === undefined
      ? (metadata.finalizers ?? [])
      : [...others, ...(finalizer ? [finalizer] : [])];
  const finalizers = isAnew ? [...new Set([...kept, ...(rules.holds ?? [])])] : kept;
  const natural = rules.grace?.(object) ?? 0;
  const asked = natural === 0 ? 0 : (options.gracePeriodSeconds ?? natural);
  const grace = isAnew
    ? asked
    : Math.min(asked, metadata.deletionGracePeriodSeconds ?? asked, options.gracePeriodSeconds ?? Infinity);
  if (finalizers.length === 0 && grace === 0 && !isHeld(object)) return undefined;
  const isShorter = !isAnew && grace < (metadata.deletionGracePeriodSeconds ?? 0);
  const hasNewFinalizers = finalizers.length !== (metadata.finalizers ?? []).length;
  if (!isAnew && !isShorter && !hasNewFinalizers) return { object, isChanged: false };
  if (finalizers.length > 0) metadata.finalizers = finalizers;
  if (isAnew || isShorter) {
    metadata.deletionTimestamp = timeText(place.cluster.clock.now() + grace * 1000);
    metadata.deletionGracePeriodSeconds = grace;
  }
  if (isAnew && metadata.generation !== undefined) metadata.generation++;
  if (object.kind === 'Namespace' && object.apiVersion === 'v1')
    object.status = { ...(isTree(object.status) ? object.status : {}), phase: 'Terminating' };
  return { object, isChanged: true };
}

/** Deletes every object of the call's selection; the list of what was deleted, as text. */
export async function removeAll(place: Place, options: DeleteOptions): Promise<Result<string[]>> {
  const { cluster, resource } = place;
  const selection = selectionOf(place);
  if (!selection.ok) return selection;
  const deleted: string[] = [];
  for (const entry of cluster.store.table(keyOf(resource)).range(selection.value.prefix)) {
    if (!selection.value.matches(entry)) continue;
    const object = objectIn(entry, place);
    const result = await remove(place, options, object.metadata.name, object.metadata.namespace);
    // Someone else may have removed it in the meantime: that is what was asked for.
    if (!result.ok && result.status.code !== 404) return result;
    deleted.push(JSON.stringify(object));
  }
  return ok(deleted);
}
