// Credentials that a user wrote in the clear go into Secrets before the object is stored (spec/tickets.md §2).
import {
  loadbalancers,
  refused,
  sealed,
  unkept,
  type Loadbalancer,
  type SealedSecret,
  type Verdict,
} from '@fairlead/api';
import type { Refusal } from '@fairlead/core';
import { secrets as secretKind, type Kube, type Secret } from '@fairlead/kube';
import type { Asked } from './judge.ts';
import { secretData, secretText } from '../secret-text.ts';

/** On a Secret that admission made: the name of its Loadbalancer. */
export const sealedFor = 'fairlead.io/credentials-of';
/** Tells them from other Secrets, for a list. */
export const sealedLabel = { 'app.kubernetes.io/managed-by': 'fairlead-admission' };

export interface SealParts {
  management: Kube;
  namespace: string;
}

/** The verdict with the object as it may be stored; refused when a Secret cannot be written. A dry run writes none. */
export async function seal(asked: Asked, verdict: Verdict, parts: SealParts): Promise<Verdict> {
  const { group, resource } = asked.resource;
  const isOurs = group === loadbalancers.group && resource === loadbalancers.plural && !asked.subresource;
  const isWrite = asked.operation === 'CREATE' || asked.operation === 'UPDATE';
  if (!verdict.allowed || !isOurs || !isWrite) return verdict;
  const sent = (verdict.object ?? asked.object) as Loadbalancer;
  const { object, secrets } = sealed(sent);
  if (object === sent) return verdict;
  const { name, generateName = '' } = sent.metadata;
  if (secrets.length > 0 && !name) return refused(loadbalancers, generateName, [unkept.nameless()]);
  for (const secret of asked.dryRun ? [] : secrets) {
    const problem = await keep(secret, { loadbalancer: name, isNew: asked.operation === 'CREATE', ...parts });
    if (problem) return refused(loadbalancers, name, [problem]);
  }
  return { ...verdict, object };
}

interface Keeping extends SealParts {
  loadbalancer: string;
  /** One of that name may have been removed a moment ago: what is left of its Secret is about to go with it. */
  isNew: boolean;
}

/** Why it is not kept; undefined when it is. */
async function keep(sealedSecret: SealedSecret, keeping: Keeping): Promise<Refusal | undefined> {
  const { name, data } = sealedSecret;
  const { management, namespace, loadbalancer, isNew } = keeping;
  const at = `${namespace}/${name}`;
  const present = await management.get(secretKind, { name, namespace });
  if (!present.ok && present.problem.status !== 404) return unkept.failed(at, sealedSecret, present.problem.message);
  const held = present.ok ? present.value : undefined;
  if (held && held.metadata.annotations?.[sealedFor] !== loadbalancer) return unkept.foreign(at, sealedSecret);
  if (held && !isNew && Object.entries(data).every(([key, text]) => secretText(held, key) === text)) return undefined;
  const secret: Secret = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {
      ...(held && !isNew ? held.metadata : { name, namespace }),
      ...(held ? { resourceVersion: held.metadata.resourceVersion } : {}),
      labels: sealedLabel,
      annotations: { [sealedFor]: loadbalancer },
    },
    type: 'Opaque',
    data: secretData(data),
  };
  const options = { fieldManager: 'fairlead-admission' };
  const written = await (held
    ? management.replace(secretKind, secret, options)
    : management.create(secretKind, secret, options));
  return written.ok ? undefined : unkept.failed(at, sealedSecret, written.problem.message);
}
