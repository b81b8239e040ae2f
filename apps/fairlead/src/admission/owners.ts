// Secrets that admission made belong to their Loadbalancer, and go when it goes. Admission cannot say so itself: the
// Loadbalancer has no uid yet when its Secret is written.
import { sealedNames, type Loadbalancer } from '@fairlead/api';
import type { Clock } from '@fairlead/core';
import { secrets, type Kube, type LiveStore, type Secret } from '@fairlead/kube';
import type { Log } from '../log.ts';
import { sealedFor, sealedLabel } from './seal.ts';

export interface OwnersOptions {
  management: Kube;
  loadbalancers: Pick<LiveStore<Loadbalancer>, 'all' | 'get' | 'listen' | 'synced'>;
  namespace: string;
  clock: Clock;
  log: Log;
}

/** How often Secrets are looked at that lost their owner, or whose Loadbalancer was refused after all: those are as old as that at least. */
const sweepEvery = 10 * 60_000;

/** Works until `signal` aborts. */
export async function ownSecrets(options: OwnersOptions, signal: AbortSignal): Promise<void> {
  const { loadbalancers, clock } = options;
  const owned = new Set<string>();
  let turn = Promise.resolve();
  const look = (): void => void (turn = turn.then(() => adoptAll(options, owned)));
  const stop = loadbalancers.listen(look);
  look();
  while (!signal.aborted) {
    await clock.sleep(sweepEvery, signal);
    if (signal.aborted || !loadbalancers.synced) continue;
    await sweep(options);
    // A Secret that somebody removed was made anew with the next password, and is nobody's.
    owned.clear();
    look();
  }
  stop();
  await turn;
}

/** `owned`: names of Secrets with the uid of their owner, which need no look. */
async function adoptAll(
  { management, loadbalancers, namespace, log }: OwnersOptions,
  owned: Set<string>,
): Promise<void> {
  for (const { metadata, spec } of loadbalancers.all()) {
    const names = sealedNames(metadata.name);
    const used = [
      spec.ve.credentialsSecretRef?.name === names.ve ? names.ve : undefined,
      spec.ltm.tokenSecretRef?.name === names.ltm ? names.ltm : undefined,
    ];
    for (const name of used) {
      if (name === undefined || owned.has(`${name} ${metadata.uid}`)) continue;
      const wrong = await adopt({ management, name, namespace, owner: metadata });
      if (wrong === undefined) owned.add(`${name} ${metadata.uid}`);
      else log.warn(`Secret ${namespace}/${name} gets no owner yet: ${wrong}`);
    }
  }
}

interface Adoption {
  management: Kube;
  name: string;
  namespace: string;
  owner: Loadbalancer['metadata'];
}

/** What went wrong. A Secret that is not there, or not of our making, is nobody's to adopt. */
async function adopt({ management, name, namespace, owner }: Adoption): Promise<string | undefined> {
  const got = await management.get(secrets, { name, namespace });
  if (!got.ok) return got.problem.status === 404 ? undefined : got.problem.message;
  const { metadata } = got.value;
  if (metadata.annotations?.[sealedFor] !== owner.name) return undefined;
  if (metadata.ownerReferences?.some(({ uid }) => uid === owner.uid)) return undefined;
  const ownerReferences = [
    { apiVersion: 'ebcpaas.lb/v1', kind: 'Loadbalancer', name: owner.name, uid: owner.uid ?? '' },
  ];
  const body = { metadata: { resourceVersion: metadata.resourceVersion, ownerReferences } };
  const patched = await management.patch(
    secrets,
    { name, namespace },
    { type: 'merge', body },
    { fieldManager: 'fairlead' },
  );
  return patched.ok ? undefined : patched.problem.message;
}

async function sweep(options: OwnersOptions): Promise<void> {
  const { management, loadbalancers, namespace, clock, log } = options;
  const labelSelector = Object.entries(sealedLabel)
    .map(([key, value]) => `${key}=${value}`)
    .join(',');
  const got = await management.list<Secret>(secrets, { namespace, labelSelector });
  if (!got.ok) return log.warn(`Secrets of refused Loadbalancers cannot be listed: ${got.problem.message}`);
  for (const { metadata } of got.value.items) {
    const age = clock.now() - Date.parse(metadata.creationTimestamp ?? '');
    const isWanted = loadbalancers.get({ name: metadata.annotations?.[sealedFor] ?? '' }) !== undefined;
    if (isWanted || age < sweepEvery || metadata.ownerReferences?.length) continue;
    const removed = await management.remove(secrets, { name: metadata.name, namespace }, { uid: metadata.uid });
    if (removed.ok) log.info(`Secret ${namespace}/${metadata.name} is gone: its Loadbalancer was never stored`);
    else log.warn(`Secret ${namespace}/${metadata.name} cannot be removed: ${removed.problem.message}`);
  }
}
