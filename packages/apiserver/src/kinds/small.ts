// The rules of kinds whose rules are few: config maps, secrets, namespaces, nodes, events, slices, leases.
import { isIPv4, isIPv6 } from 'node:net';
import { duplicate, forbiddenField, invalidValue, required, tooMany } from '../field-error.ts';
import { isEqual, listOf, textOf, treeOf, type KubeObject } from '../object.ts';
import { labelProblems, subdomainProblems } from '../names.ts';
import { part, type Rules } from '../resource.ts';
import { formatProblem } from '../schema/format.ts';
import type { Cause } from '../status.ts';

const keyPattern = /^[-._a-zA-Z0-9]+$/;
const keyHint =
  "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')";
const mostBytes = 1024 * 1024;

function dataCauses(object: KubeObject, fields: string[]): Cause[] {
  const causes: Cause[] = [];
  let bytes = 0;
  for (const field of fields) {
    for (const [key, value] of Object.entries(part(object, field))) {
      if (!keyPattern.test(key) || key === '.' || key.startsWith('..'))
        causes.push(invalidValue(`${field}[${key}]`, key, keyHint));
      bytes += textOf(value).length;
    }
  }
  if (bytes > mostBytes)
    causes.push({
      reason: 'FieldValueTooLong',
      message: `Too long: may not be more than ${mostBytes} bytes`,
      field: '',
    });
  return causes;
}

function immutableCauses(object: KubeObject, old: KubeObject | undefined, fields: string[]): Cause[] {
  if (old?.immutable !== true) return [];
  const causes =
    object.immutable === true ? [] : [forbiddenField('immutable', 'field is immutable when `immutable` is set')];
  for (const field of fields) {
    if (!isEqual(object[field], old[field]))
      causes.push(forbiddenField(field, 'field is immutable when `immutable` is set'));
  }
  return causes;
}

export const configMap: Rules = {
  nameProblems: subdomainProblems,
  validate(object, old) {
    const both = Object.keys(part(object, 'binaryData')).filter((key) => Object.hasOwn(part(object, 'data'), key));
    return [
      ...dataCauses(object, ['data', 'binaryData']),
      ...both.map((key) => invalidValue(`data[${key}]`, key, 'duplicate of key present in binaryData')),
      ...base64Causes(object, 'binaryData'),
      ...immutableCauses(object, old, ['data', 'binaryData']),
    ];
  },
};

const base64Causes = (object: KubeObject, field: string): Cause[] =>
  Object.entries(part(object, field))
    .filter(([, value]) => formatProblem(textOf(value), 'byte'))
    .map(([key, value]) => invalidValue(`${field}[${key}]`, value, 'must be base64'));

const secretKeys: Record<string, string[]> = {
  'kubernetes.io/tls': ['tls.crt', 'tls.key'],
  'kubernetes.io/dockerconfigjson': ['.dockerconfigjson'],
  'kubernetes.io/ssh-auth': ['ssh-privatekey'],
};

export const secret: Rules = {
  nameProblems: subdomainProblems,
  fill(object) {
    // stringData is for writing only: it becomes data, over what data says.
    const texts = Object.entries(part(object, 'stringData'));
    if (texts.length > 0) {
      const coded = texts.map(([key, value]) => [key, Buffer.from(textOf(value)).toString('base64')]);
      object.data = { ...part(object, 'data'), ...Object.fromEntries(coded) };
    }
    delete object.stringData;
  },
  validate(object, old) {
    const causes = [
      ...dataCauses(object, ['data']),
      ...base64Causes(object, 'data'),
      ...immutableCauses(object, old, ['data']),
    ];
    if (old && old.type !== object.type) causes.push(invalidValue('type', object.type, 'field is immutable'));
    for (const key of secretKeys[textOf(object.type)] ?? []) {
      if (!Object.hasOwn(part(object, 'data'), key)) causes.push(required(`data[${key}]`));
    }
    return causes;
  },
  fields: { type: (object) => textOf(object.type) },
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
  fields: { 'status.phase': (object) => textOf(part(object, 'status').phase) },
};

export const node: Rules = {
  nameProblems: subdomainProblems,
  fields: { 'spec.unschedulable': (object) => String(part(object, 'spec').unschedulable === true) },
};

const eventFields = (reference: string): NonNullable<Rules['fields']> => {
  const of = (field: string) => (object: KubeObject) => textOf(part(object, reference)[field]);
  return Object.fromEntries([
    ...['kind', 'namespace', 'name', 'uid', 'apiVersion', 'resourceVersion', 'fieldPath'].map((field) => [
      `${reference}.${field}`,
      of(field),
    ]),
    ['reason', (object: KubeObject) => textOf(object.reason)],
    ['type', (object: KubeObject) => textOf(object.type)],
    ['reportingComponent', (object: KubeObject) => textOf(object.reportingComponent)],
    ['source', (object: KubeObject) => textOf(part(object, 'source').component ?? object.reportingComponent)],
  ]);
};

export const event: Rules = {
  nameProblems: subdomainProblems,
  validate(object, old) {
    const about = part(object, 'involvedObject');
    const wanted = textOf(about.namespace) || 'default';
    if (old || object.metadata.namespace === wanted) return [];
    return [invalidValue('involvedObject.namespace', about.namespace ?? '', 'does not match event.namespace')];
  },
  fields: eventFields('involvedObject'),
};

export const newEvent: Rules = { nameProblems: subdomainProblems, fields: eventFields('regarding') };

const mostEndpoints = 1000;

export const endpointSlice: Rules = {
  nameProblems: subdomainProblems,
  hasGeneration: true,
  validate(object, old) {
    const causes: Cause[] = [];
    const endpoints = listOf(object.endpoints).map(treeOf);
    if (!object.addressType) causes.push(required('addressType'));
    else if (old && old.addressType !== object.addressType)
      causes.push(invalidValue('addressType', object.addressType, 'field is immutable'));
    if (endpoints.length > mostEndpoints) causes.push(tooMany('endpoints', endpoints.length, mostEndpoints));
    endpoints.forEach((endpoint, i) =>
      causes.push(...endpointCauses(listOf(endpoint.addresses), object.addressType, i)),
    );
    const names = new Set<string>();
    listOf(object.ports).forEach((item, i) => {
      const name = textOf(treeOf(item).name);
      if (names.has(name)) causes.push(duplicate(`ports[${i}].name`, name));
      names.add(name);
    });
    return causes;
  },
};

function endpointCauses(addresses: unknown[], type: unknown, i: number): Cause[] {
  if (addresses.length === 0) return [required(`endpoints[${i}].addresses`, 'must contain at least 1 address')];
  const fits = (address: string) =>
    type === 'IPv4' ? isIPv4(address) : type === 'IPv6' ? isIPv6(address) : subdomainProblems(address).length === 0;
  return addresses
    .map((address, j) => ({ text: textOf(address), path: `endpoints[${i}].addresses[${j}]` }))
    .filter(({ text }) => !fits(text))
    .map(({ text, path }) =>
      invalidValue(path, text, type === 'IPv6' ? 'must be a valid IPv6 address' : 'must be a valid IPv4 address'),
    );
}

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
export const generational: Rules = { nameProblems: subdomainProblems, hasGeneration: true };
