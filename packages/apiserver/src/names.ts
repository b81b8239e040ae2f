// Names and labels: the RFC 1123 and 1035 forms, with the real server's explanations, and the checks of metadata.
import { forbiddenField, invalidValue, required } from './field-error.ts';
import { isEqual, isTree, type KubeObject, type Metadata, type OwnerReference } from './object.ts';
import type { Cause } from './status.ts';

const dnsLabel = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
const dnsSubdomain = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const dns1035 = /^[a-z]([-a-z0-9]*[a-z0-9])?$/;
const qualifiedPart = /^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/;
const labelValue = /^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$/;

const tooLong = (limit: number): string => `must be no more than ${limit} characters`;

export function subdomainProblems(name: string): string[] {
  const problems = name.length > 253 ? [tooLong(253)] : [];
  if (!dnsSubdomain.test(name)) {
    problems.push(
      "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
    );
  }
  return problems;
}

export function labelProblems(name: string): string[] {
  const problems = name.length > 63 ? [tooLong(63)] : [];
  if (!dnsLabel.test(name)) {
    // A subdomain that is no label has dots.
    if (dnsSubdomain.test(name)) return [...problems, 'must not contain dots'];
    problems.push(
      "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')",
    );
  }
  return problems;
}

export function dns1035Problems(name: string): string[] {
  const problems = name.length > 63 ? [tooLong(63)] : [];
  if (!dns1035.test(name)) {
    problems.push(
      "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')",
    );
  }
  return problems;
}

/** Names that only have to fit in a path: RBAC kinds. */
export function pathProblems(name: string): string[] {
  if (name === '.' || name === '..') return [`may not be '${name}'`];
  return ['/', '%'].filter((mark) => name.includes(mark)).map((mark) => `may not contain '${mark}'`);
}

export function qualifiedProblems(key: string): string[] {
  const parts = key.split('/');
  const name = parts.at(-1) ?? '';
  const problems: string[] = [];
  if (parts.length > 2)
    return [
      `a qualified name ${qualifiedHint} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`,
    ];
  if (parts.length === 2) {
    if (parts[0] === '') problems.push('prefix part must be non-empty');
    else problems.push(...subdomainProblems(parts[0] ?? '').map((why) => `prefix part ${why}`));
  }
  if (name === '') problems.push('name part must be non-empty');
  else if (name.length > 63) problems.push(`name part ${tooLong(63)}`);
  if (!qualifiedPart.test(name)) problems.push(`name part ${qualifiedHint}`);
  return problems;
}

const qualifiedHint =
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";

export function labelValueProblems(value: string): string[] {
  const problems = value.length > 63 ? [tooLong(63)] : [];
  if (!labelValue.test(value)) {
    problems.push(
      "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')",
    );
  }
  return problems;
}

export function validateLabels(labels: unknown, path: string): Cause[] {
  if (!isTree(labels)) return [];
  return Object.entries(labels).flatMap(([key, value]) => [
    ...qualifiedProblems(key).map((why) => invalidValue(path, key, why)),
    ...labelValueProblems(String(value)).map((why) => invalidValue(path, value, why)),
  ]);
}

const annotationBytes = 256 * 1024;

/** Metadata of any kind: its name by the kind's own rule, labels, annotations, owners, finalizers. */
export function validateMetadata(object: KubeObject, nameProblems: (name: string) => string[]): Cause[] {
  const { name, generateName, generation, finalizers } = object.metadata;
  const causes: Cause[] = [];
  if (!name) causes.push(required('metadata.name', 'name or generateName is required'));
  // Whatever comes after it, the prefix must be able to begin a name: a digit stands for what will be added.
  if (generateName)
    causes.push(
      ...nameProblems(`${generateName}0`).map((why) => invalidValue('metadata.generateName', generateName, why)),
    );
  if (name) causes.push(...nameProblems(name).map((why) => invalidValue('metadata.name', name, why)));
  if ((generation ?? 0) < 0)
    causes.push(invalidValue('metadata.generation', generation, 'must be greater than or equal to 0'));
  causes.push(...alwaysCauses(object.metadata));
  for (const finalizer of finalizers ?? []) causes.push(...finalizerCauses(finalizer));
  return causes;
}

/** What is checked of an object and of its change alike. */
const alwaysCauses = ({ labels, annotations, ownerReferences }: Metadata): Cause[] => [
  ...validateLabels(labels, 'metadata.labels'),
  ...annotationCauses(annotations, 'metadata.annotations'),
  ...ownersCauses(ownerReferences ?? []),
];

export function annotationCauses(annotations: unknown, path: string): Cause[] {
  const causes: Cause[] = [];
  let bytes = 0;
  for (const [key, value] of Object.entries(isTree(annotations) ? annotations : {})) {
    causes.push(...qualifiedProblems(key.toLowerCase()).map((why) => invalidValue(path, key, why)));
    bytes += key.length + String(value).length;
  }
  if (bytes > annotationBytes) {
    causes.push({
      reason: 'FieldValueTooLong',
      message: `Too long: may not be more than ${annotationBytes} bytes`,
      field: path,
    });
  }
  return causes;
}

function ownersCauses(owners: OwnerReference[]): Cause[] {
  const causes = owners.flatMap(ownerCauses);
  const [first, second] = owners.filter((owner) => owner.controller === true);
  if (first && second) {
    const found = `Found "true" in references for ${first.kind}/${first.name} and ${second.kind}/${second.name}`;
    const why = `Only one reference can have Controller set to true. ${found}`;
    causes.push(invalidValue('metadata.ownerReferences', owners, why));
  }
  return causes;
}

function ownerCauses(owner: OwnerReference): Cause[] {
  const path = 'metadata.ownerReferences';
  const causes: Cause[] = [];
  if (owner.kind === 'Event' && (owner.apiVersion === 'v1' || owner.apiVersion === 'events.k8s.io/v1')) {
    const about = owner.apiVersion === 'v1' ? '/v1' : owner.apiVersion;
    causes.push(invalidValue(path, owner, `${about}, Kind=Event is disallowed from being an owner`));
  }
  if (!owner.apiVersion)
    causes.push(invalidValue(`${path}.apiVersion`, owner.apiVersion ?? '', 'version must not be empty'));
  if (!owner.kind) causes.push(invalidValue(`${path}.kind`, '', 'must not be empty'));
  if (!owner.name) causes.push(invalidValue(`${path}.name`, '', 'must not be empty'));
  if (!owner.uid) causes.push(invalidValue(`${path}.uid`, '', 'must not be empty'));
  return causes;
}

const finalizerCauses = (finalizer: string): Cause[] =>
  qualifiedProblems(finalizer).map((why) => invalidValue('metadata.finalizers', finalizer, why));

const ownFinalizers = ['kubernetes', 'orphan', 'foregroundDeletion'];

/** Of Kubernetes' own kinds a finalizer names whoever is to take it off: a plain word could be anybody's. */
export const plainFinalizerCauses = ({ metadata }: KubeObject): Cause[] =>
  (metadata.finalizers ?? []).flatMap((finalizer, i) =>
    finalizer.includes('/') || ownFinalizers.includes(finalizer)
      ? []
      : [
          invalidValue(
            `metadata.finalizers[${i}]`,
            finalizer,
            'name is neither a standard finalizer name nor is it fully qualified',
          ),
        ],
  );

const immutable = [
  'name',
  'namespace',
  'uid',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
] as const satisfies (keyof Metadata)[];

/** What is wrong with a change of metadata. A deleted object's new finalizers are refused: they would hold it for ever. */
export function validateMetadataUpdate(object: KubeObject, old: KubeObject): Cause[] {
  const causes: Cause[] = [];
  if (old.metadata.deletionTimestamp) {
    const added = (object.metadata.finalizers ?? []).filter((one) => !old.metadata.finalizers?.includes(one));
    if (added.length > 0) {
      const names = added.map((one) => JSON.stringify(one)).join(', ');
      causes.push(
        forbiddenField(
          'metadata.finalizers',
          `no new finalizers can be added if the object is being deleted, found new finalizers []string{${names}}`,
        ),
      );
    }
  }
  for (const field of immutable) {
    if (!isEqual(object.metadata[field], old.metadata[field])) {
      causes.push(invalidValue(`metadata.${field}`, object.metadata[field], 'field is immutable'));
    }
  }
  return [...causes, ...alwaysCauses(object.metadata)];
}
