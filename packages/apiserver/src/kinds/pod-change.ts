// What may still change of a pod that is there.
import { forbiddenField, invalidValue, required } from '../field-error.ts';
import { copyOf, isEqual, isTree, listOf, textOf, treeOf, without, type Tree } from '../object.ts';
import type { Cause } from '../status.ts';
import { formDiff, specDiff } from './pod-diff.ts';

/*
   field                              | may
   -----------------------------------+-------------------------------------------------------
   containers, initContainers         | have other images, not be more or fewer
   activeDeadlineSeconds              | be set, and become shorter
   tolerations                        | be more; those there only for another time
   schedulingGates                    | be fewer
   ephemeralContainers                | be more, by the subresource only
   anything else                      | not change
*/

export function changeCauses(spec: Tree, old: Tree): Cause[] {
  const causes: Cause[] = [];
  for (const list of ['containers', 'initContainers']) {
    const containers = listOf(spec[list]);
    if (containers.length !== listOf(old[list]).length)
      return [...causes, forbiddenField(`spec.${list}`, 'pod updates may not add or remove containers')];
    containers.forEach((item, i) =>
      causes.push(...imageCauses(textOf(treeOf(item).image), `spec.${list}[${i}].image`)),
    );
  }
  const deadline = deadlineCause(spec.activeDeadlineSeconds, old.activeDeadlineSeconds);
  if (deadline) return [...causes, deadline];
  causes.push(...tolerationCauses(spec, old), ...gateCauses(spec, old));
  const changed = masked(spec, old);
  if (!isEqual(changed, old)) causes.push(forbiddenField('spec', `${fixed}\n${specDiff(old, changed)}`));
  return causes;
}

const fixed =
  'pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)';

function imageCauses(image: string, path: string): Cause[] {
  if (image === '') return [required(path)];
  return image === image.trim() ? [] : [invalidValue(path, image, 'must not have leading or trailing whitespace')];
}

function deadlineCause(deadline: unknown, old: unknown): Cause | undefined {
  const path = 'spec.activeDeadlineSeconds';
  if (typeof deadline !== 'number')
    return typeof old === 'number'
      ? invalidValue(path, null, 'must not update from a positive integer to nil value')
      : undefined;
  if (deadline < 0 || deadline > 2_147_483_647)
    return invalidValue(path, deadline, 'must be between 0 and 2147483647, inclusive');
  return typeof old === 'number' && old < deadline
    ? invalidValue(path, deadline, 'must be less than or equal to previous value')
    : undefined;
}

function tolerationCauses(spec: Tree, old: Tree): Cause[] {
  const lasting = (one: unknown): Tree => without(treeOf(one), 'tolerationSeconds');
  const found = listOf(spec.tolerations).map(lasting);
  const isKept = listOf(old.tolerations).every((before) => found.some((one) => isEqual(one, lasting(before))));
  if (isKept) return [];
  return [forbiddenField('spec.tolerations', 'existing toleration can not be modified except its tolerationSeconds')];
}

function gateCauses(spec: Tree, old: Tree): Cause[] {
  const nameOf = (gate: unknown): string => textOf(treeOf(gate).name);
  const before = new Set(listOf(old.schedulingGates).map(nameOf));
  const added = listOf(spec.schedulingGates)
    .map(nameOf)
    .find((name) => !before.has(name));
  if (added === undefined) return [];
  const why = `only deletion is allowed, but found new scheduling gate '${added}'`;
  return [forbiddenField('spec.schedulingGates', why)];
}

/** The new spec with the old one's values where a change is judged by itself, or is no concern of ours. */
function masked(spec: Tree, old: Tree): Tree {
  const copy = copyOf(spec);
  for (const list of ['containers', 'initContainers']) {
    listOf(copy[list]).forEach((item, i) => {
      const before = treeOf(listOf(old[list])[i]);
      if (isTree(item) && before.image !== undefined) item.image = before.image;
    });
  }
  for (const field of ['activeDeadlineSeconds', 'tolerations', 'schedulingGates']) {
    if (old[field] === undefined) delete copy[field];
    else copy[field] = old[field];
  }
  return copy;
}

/** By its subresource a pod gets more ephemeral containers; those it has stay as they are. */
export function ephemeralChangeCauses(spec: Tree, old: Tree): Cause[] {
  const path = 'spec.ephemeralContainers';
  const found = new Map(listOf(spec.ephemeralContainers).map((item) => [textOf(treeOf(item).name), item]));
  const before = listOf(old.ephemeralContainers).map(treeOf);
  const causes = before.flatMap((one) => {
    const now = found.get(textOf(one.name));
    const named = JSON.stringify(one.name);
    if (now === undefined) return [forbiddenField(path, `existing ephemeral containers ${named} may not be removed\n`)];
    return isEqual(now, one)
      ? []
      : [
          forbiddenField(
            path,
            `existing ephemeral containers ${named} may not be changed\n${formDiff(one, treeOf(now), 'EphemeralContainer')}`,
          ),
        ];
  });
  return causes;
}
