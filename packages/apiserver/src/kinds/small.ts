// The rules of kinds whose rules are few: config maps, namespaces, leases, revisions.
import { invalidValue } from '../field-error.ts';
import { isEqual, textOf } from '../object.ts';
import { labelProblems, subdomainProblems } from '../names.ts';
import { part, type Rules } from '../resource.ts';
import type { Cause } from '../status.ts';
import { base64Causes, dataCauses, immutableCauses } from './contents.ts';
import { namespaceStatus } from './statuses.ts';

export const configMap: Rules = {
  nameProblems: subdomainProblems,
  validate(object, old) {
    const both = Object.keys(part(object, 'binaryData')).filter((key) => Object.hasOwn(part(object, 'data'), key));
    return [
      // Both together are too long, so neither is named.
      ...dataCauses(object, ['data', 'binaryData'], '[]'),
      ...both.map((key) => invalidValue(`data[${key}]`, key, 'duplicate of key present in binaryData')),
      ...base64Causes(object, 'binaryData'),
      ...immutableCauses(object, old, ['data', 'binaryData']),
    ];
  },
};

export const namespace: Rules = {
  nameProblems: labelProblems,
  fill(object) {
    object.metadata.labels = { ...object.metadata.labels, 'kubernetes.io/metadata.name': object.metadata.name ?? '' };
  },
  prepare(object, old) {
    if (old) return;
    object.spec = { finalizers: ['kubernetes'] };
    object.status = { phase: 'Active' };
  },
  validateStatus: namespaceStatus,
  fields: { 'status.phase': (object) => textOf(part(object, 'status').phase) },
};

export const lease: Rules = {
  nameProblems: subdomainProblems,
  validate(object) {
    const { leaseDurationSeconds: seconds, leaseTransitions: transitions } = part(object, 'spec');
    const causes: Cause[] = [];
    if (typeof seconds === 'number' && seconds <= 0)
      causes.push(invalidValue('spec.leaseDurationSeconds', seconds, 'must be greater than 0'));
    if (typeof transitions === 'number' && transitions < 0)
      causes.push(invalidValue('spec.leaseTransitions', transitions, 'must be greater than or equal to 0'));
    return causes;
  },
};

/** Data that a workload may be rolled back to: it is kept as it was. */
export const revision: Rules = {
  nameProblems: subdomainProblems,
  validate(object, old) {
    const number = Number(object.revision ?? 0);
    const causes = number < 0 ? [invalidValue('revision', number, 'must be greater than or equal to 0')] : [];
    if (old && !isEqual(old.data, object.data)) causes.push(invalidValue('data', object.data, 'field is immutable'));
    return causes;
  },
};

export const plain: Rules = { nameProblems: subdomainProblems };
