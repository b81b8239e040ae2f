// Applies examples/quickstart: a folder for each cluster, the target clusters first.
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { applyManifests, readManifests } from '../manifests.ts';
import { managementName, targetNames, type Environment } from './environment.ts';
import type { Progress } from './progress.ts';

/** Refusals throw: the quickstart is ours, and it has to be taken. */
export async function applyQuickstart(environment: Environment, told: Pick<Progress, 'done'>): Promise<void> {
  for (const name of [...targetNames, managementName]) {
    const folder = join(examples(), 'quickstart', name);
    const kube = name === managementName ? environment.management : environment.clusters.get(name);
    if (!kube || !existsSync(folder)) continue;
    const manifests = readManifests([folder]);
    const applied = manifests.ok ? await applyManifests(kube, manifests.value, 'kubectl') : manifests;
    if (!applied.ok) throw new Error(applied.problem.message);
    const names = applied.value.map((object) => `${object.kind.toLowerCase()}/${object.metadata.name}`);
    told.done(`applied to ${name}: ${names.join(', ')}`);
  }
}

/** Beside `dist/`, or above the sources when they run as they are. */
function examples(): string {
  const here = dirname(fileURLToPath(import.meta.url));
  const root = here.endsWith('dist') ? dirname(here) : join(here, '..', '..', '..', '..');
  return join(root, 'examples');
}
