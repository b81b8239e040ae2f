// ClusterRoles made of others: their rules are those of every role their selectors choose, kept up to date.
import type { Cluster } from '../cluster.ts';
import { isEqual, listOf, textOf, treeOf, type KubeObject, type Tree } from '../object.ts';
import type { Own } from '../own.ts';
import { keyOf, part } from '../resource.ts';
import { matchesSelector } from '../selector.ts';
import { decode } from '../store.ts';
import { rbacGroup } from './authorize.ts';

export const roleKey = { group: rbacGroup, resource: 'clusterroles', isNamespaced: false };

/** Brings every aggregated role up to date; one that is changed is seen again, so sums of sums settle too. */
export async function aggregateRoles(cluster: Cluster, own: Own): Promise<void> {
  const entries = cluster.store.table(keyOf(roleKey)).range(keyOf(roleKey));
  const roles = entries.map((entry) => decode(entry.text));
  for (const role of roles) {
    const selectors = listOf(part(role, 'aggregationRule').clusterRoleSelectors);
    if (selectors.length === 0) continue;
    const rules = sumOf(role, roles, selectors.map(treeOf));
    if (isEqual(rules, listOf(role.rules))) continue;
    await own.change(`${rbacGroup}/v1`, 'clusterroles', {
      name: textOf(role.metadata.name),
      change: (object) => void (object.rules = rules),
    });
  }
}

function sumOf(role: KubeObject, roles: KubeObject[], selectors: Tree[]): Tree[] {
  const chosen = selectors.flatMap((selector) =>
    roles.filter(
      (other) => other.metadata.name !== role.metadata.name && matchesSelector(selector, other.metadata.labels ?? {}),
    ),
  );
  const rules = chosen.flatMap((other) => listOf(other.rules).map(treeOf));
  return rules.filter((rule, i) => rules.findIndex((one) => isEqual(one, rule)) === i);
}
