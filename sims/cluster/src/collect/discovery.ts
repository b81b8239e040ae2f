// Which kinds a server has, from its discovery documents.
import type { Client, Result } from '../kube/client.ts';
import type { Kind } from '../kube/kinds.ts';

interface ResourceList {
  resources: { name: string; kind: string; namespaced: boolean; verbs: string[] }[];
}

interface GroupList {
  groups: { name: string; preferredVersion: { groupVersion: string } }[];
}

export interface Served extends Kind {
  verbs: readonly string[];
}

/** Every kind at its group's preferred version, subresources left out. Objects of these kinds are known by their metadata only. */
export async function discover({ send }: Client): Promise<Result<Served[]>> {
  const groups = await send('GET', '/apis');
  if (!groups.ok) return groups;
  const versions = ['v1', ...(groups.value as GroupList).groups.map((one) => one.preferredVersion.groupVersion)];
  const found: Served[] = [];
  for (const apiVersion of versions) {
    const list = await send('GET', apiVersion === 'v1' ? '/api/v1' : `/apis/${apiVersion}`);
    // A group whose server is away (an aggregated API) must not stop the collection of all others.
    if (!list.ok && list.problem.status === 503) continue;
    if (!list.ok) return list;
    for (const { name, kind, namespaced, verbs } of (list.value as ResourceList).resources) {
      if (!name.includes('/')) found.push({ apiVersion, kind, plural: name, namespaced, verbs, isPartial: true });
    }
  }
  return { ok: true, value: found };
}

/** `group/Kind`, the version left out: an owner reference may name another version. */
export function groupKind(apiVersion: string, kind: string): string {
  return `${apiVersion.includes('/') ? apiVersion.slice(0, apiVersion.indexOf('/')) : ''}/${kind}`;
}
