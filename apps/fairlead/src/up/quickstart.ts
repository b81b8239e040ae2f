// Applies a folder of examples: a folder for each cluster, the target clusters first.
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { KubeObject } from '@fairlead/kube';
import { applyManifests, readManifests } from '../manifests.ts';
import { managementName, targetNames, type Environment } from './environment.ts';
import type { Progress } from './progress.ts';

/** What was applied, by cluster. */
export type Applied = ReadonlyMap<string, readonly KubeObject[]>;

export const applyQuickstart = (environment: Environment, told: Pick<Progress, 'done'>): Promise<Applied> =>
  applyExample('quickstart', environment, told);

/** Refusals throw: the examples are ours, and they have to be taken. */
export async function applyExample(
  example: string,
  environment: Environment,
  told: Pick<Progress, 'done'>,
): Promise<Applied> {
  const all = new Map<string, readonly KubeObject[]>();
  for (const name of [...targetNames, managementName]) {
    const folder = join(examples(), example, name);
    const kube = name === managementName ? environment.management : environment.clusters.get(name);
    if (!kube || !existsSync(folder)) continue;
    const manifests = readManifests([folder]);
    const applied = manifests.ok ? await applyManifests(kube, manifests.value, 'kubectl') : manifests;
    if (!applied.ok) throw new Error(applied.problem.message);
    const names = applied.value.map((object) => `${object.kind.toLowerCase()}/${object.metadata.name}`);
    told.done(`applied to ${name}: ${names.join(', ')}`);
    all.set(name, applied.value);
  }
  return all;
}

/** Names of the applied objects of one kind in one cluster. */
export const namesOf = (applied: Applied, cluster: string, kind: string): Set<string> =>
  new Set((applied.get(cluster) ?? []).filter((object) => object.kind === kind).map(({ metadata }) => metadata.name));

/** Beside `dist/`, or above the sources when they run as they are. */
function examples(): string {
  const here = dirname(fileURLToPath(import.meta.url));
  const root = here.endsWith('dist') ? dirname(here) : join(here, '..', '..', '..', '..');
  return join(root, 'examples');
}
