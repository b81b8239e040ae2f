// What validation says of an object's metadata, and how often: on a change the real server checks metadata for every kind
// alike and then, in most kinds, once or twice more, and each finding is a cause of its own.
import type { KubeObject } from './object.ts';
import {
  pathProblems,
  plainFinalizerCauses,
  subdomainProblems,
  validateMetadata,
  validateMetadataUpdate,
} from './names.ts';
import type { Resource } from './resource.ts';
import { qualified, type Cause } from './status.ts';

/** A kind's own rounds: `m` checks the metadata as it is, `u` its change. */
type Rounds = '' | 'm' | 'u' | 'um' | 'mu' | 'mmu' | 'mmm';

const usual: Rounds = 'um';
const ofChange: Record<string, Rounds> = {
  events: 'u',
  limitranges: 'm',
  namespaces: 'mu',
  nodes: 'mu',
  persistentvolumes: 'mmm',
  replicationcontrollers: 'mu',
  resourcequotas: 'u',
  services: 'u',
  'clusterrolebindings.rbac.authorization.k8s.io': 'mmu',
  'clusterroles.rbac.authorization.k8s.io': 'mmu',
  'cronjobs.batch': 'u',
  'customresourcedefinitions.apiextensions.k8s.io': 'u',
  'daemonsets.apps': 'u',
  'deployments.apps': 'u',
  'endpointslices.discovery.k8s.io': 'm',
  'ipaddresses.networking.k8s.io': 'mu',
  'jobs.batch': 'mu',
  'leases.coordination.k8s.io': 'u',
  'mutatingwebhookconfigurations.admissionregistration.k8s.io': 'm',
  'networkpolicies.networking.k8s.io': 'mu',
  'poddisruptionbudgets.policy': '',
  'replicasets.apps': 'u',
  'rolebindings.rbac.authorization.k8s.io': 'mmu',
  'roles.rbac.authorization.k8s.io': 'mmu',
  'servicecidrs.networking.k8s.io': 'u',
  'statefulsets.apps': 'mu',
  'validatingadmissionpolicies.admissionregistration.k8s.io': 'm',
  'validatingadmissionpolicybindings.admissionregistration.k8s.io': 'm',
  'validatingwebhookconfigurations.admissionregistration.k8s.io': 'm',
};

export interface MetadataSubject {
  resource: Resource;
  object: KubeObject;
  old: KubeObject | undefined;
  subresource: string;
}

export function metadataCauses({ resource, object, old, subresource }: MetadataSubject): Cause[] {
  const nameProblems = resource.rules.nameProblems ?? subdomainProblems;
  // Extensions' kinds follow the general rules of metadata only.
  const isPlain = resource.isCustom || resource.group === 'apiextensions.k8s.io';
  const finalizers = isPlain ? [] : plainFinalizerCauses(object);
  const whole = (): Cause[] => [...validateMetadata(object, nameProblems), ...finalizers];
  if (!old) return whole();
  const changes = validateMetadataUpdate(object, old);
  const own: Rounds = resource.isCustom || subresource !== '' ? 'u' : (ofChange[qualified(resource)] ?? usual);
  return [
    ...validateMetadata(object, pathProblems),
    ...changes,
    ...[...own].flatMap((round) => (round === 'm' ? whole() : [...changes, ...finalizers])),
  ];
}
