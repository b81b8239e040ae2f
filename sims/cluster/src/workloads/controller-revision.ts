// ControllerRevisions: the templates a StatefulSet or DaemonSet had, so that pods of an older one can be made again.
import type { Kit } from '../kit.ts';
import type { Problem } from '../kube/client.ts';
import type { Kind } from '../kube/kinds.ts';
import { kinds } from '../kube/kinds.ts';
import type { ControllerRevision, KubeObject, Pod, PodTemplate } from '../kube/objects.ts';
import { ownerReference } from './owners.ts';
import { canonical, templateHash } from './template.ts';

export const revisionLabel = 'controller-revision-hash';

export interface Owned {
  ownerKind: Kind;
  owner: KubeObject & { spec: { template: PodTemplate; revisionHistoryLimit?: number } };
}

export type Revisions =
  | {
      ok: true;
      /** Of the present template. */ update: ControllerRevision;
      /** Oldest first, the update's included. */ all: ControllerRevision[];
    }
  | { ok: false; problem: Problem };

/** The owner's revisions, the one for its present template made if there is none; going back to an old one makes it the newest. */
export async function revisions(kit: Kit, { ownerKind, owner }: Owned): Promise<Revisions> {
  const { uid } = owner.metadata;
  const known = kit.stores.controllerrevisions.by('controller', uid).sort((a, b) => a.revision - b.revision);
  const wanted = canonical(owner.spec.template);
  const present = known.findLast((one) => canonical(templateOf(one)) === wanted);
  const newest = known.at(-1);
  if (present && present === newest) return { ok: true, update: present, all: known };
  const revision = (newest?.revision ?? 0) + 1;
  const result = present
    ? await kit.client.patch(kinds.controllerRevision, present.metadata, { revision })
    : await makeRevision(kit, { ownerKind, owner }, revision);
  if (!result.ok) return result;
  return { ok: true, update: result.value, all: [...known.filter((one) => one !== present), result.value] };
}

/** A name may be taken, by a revision left of an owner of the same name: then another one is tried. */
async function makeRevision(kit: Kit, { ownerKind, owner }: Owned, revision: number) {
  const { template } = owner.spec;
  for (let attempt = 0; ; attempt += 1) {
    const hash = templateHash(template, attempt);
    const result = await kit.client.create<ControllerRevision>(kinds.controllerRevision, {
      metadata: {
        name: `${owner.metadata.name}-${hash}`,
        namespace: owner.metadata.namespace,
        labels: { ...template.metadata?.labels, [revisionLabel]: hash },
        ownerReferences: [ownerReference(ownerKind, owner)],
      },
      // The marker makes a later `kubectl rollout undo` replace the template rather than merge it.
      data: { spec: { template: { ...template, $patch: 'replace' } as PodTemplate } },
      revision,
    });
    if (result.ok || result.problem.status !== 409 || attempt === 5) return result;
  }
}

export function templateOf({ data }: ControllerRevision): PodTemplate {
  const { $patch: _, ...template } = data.spec.template as PodTemplate & { $patch?: string };
  return template;
}

/** The value pods of this revision have in their label. */
export function hashOf(revision: ControllerRevision): string {
  return revision.metadata.labels?.[revisionLabel] ?? revision.metadata.name;
}

/** Deletes revisions beyond the history limit that neither a pod nor the status names. */
export async function trimRevisions(
  kit: Kit,
  owner: Owned['owner'],
  all: ControllerRevision[],
  used: { pods: Pod[]; names: string[] },
): Promise<Problem | undefined> {
  const hashes = new Set(used.pods.map((pod) => pod.metadata.labels?.[revisionLabel]));
  const idle = all.filter((one) => !hashes.has(hashOf(one)) && !used.names.includes(one.metadata.name));
  for (const one of idle.slice(0, Math.max(0, idle.length - (owner.spec.revisionHistoryLimit ?? 10)))) {
    const result = await kit.client.remove(kinds.controllerRevision, one.metadata, { uid: one.metadata.uid });
    if (!result.ok) return result.problem;
  }
  return undefined;
}
