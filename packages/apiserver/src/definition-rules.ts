// The rules of CustomResourceDefinition: what one is given, and what is refused in it.
import { namesProblems } from './definition-names.ts';
import { clientCauses, reviewVersionCauses } from './kinds/hook-client.ts';
import { sharedProblems, versionsProblems } from './definition-versions.ts';
import { forbiddenField, invalidValue, required, unsupported } from './field-error.ts';
import { isEqual, isTree, listOf, textOf, treeOf, type KubeObject, type Tree } from './object.ts';
import { subdomainProblems } from './names.ts';
import { part, type Rules } from './resource.ts';
import type { Cause } from './status.ts';

export const cleanup = 'customresourcecleanup.apiextensions.k8s.io';

export const definitionRules: Rules = {
  nameProblems: subdomainProblems,
  hasGeneration: true,
  fill(object) {
    const spec = part(object, 'spec');
    const names = treeOf(spec.names);
    const kind = textOf(names.kind);
    if (kind !== '') {
      names.singular ||= kind.toLowerCase();
      names.listKind ||= `${kind}List`;
    }
    spec.conversion ??= { strategy: 'None' };
    const { service } = treeOf(treeOf(treeOf(spec.conversion).webhook).clientConfig);
    if (isTree(service)) service.port ??= 443;
    for (const version of listOf(spec.versions).map(treeOf)) dropUnsaid(version);
  },
  // Instances outlive their definition unless something holds the definition until they are gone.
  holds: [cleanup],
  prepare(object, old) {
    if (!old) object.status = { conditions: null, acceptedNames: { plural: '', kind: '' }, storedVersions: null };
    noteStored(object);
  },
  validate(object, old) {
    // What was taken once stays taken, though the rules have become stricter: its status is still to be written.
    const isNew = !old || !isEqual(part(old, 'spec'), part(object, 'spec'));
    return [
      ...(old ? [] : nameProblems(object)),
      ...(isNew ? specProblems(part(object, 'spec'), old) : []),
      ...(old && isNew ? changeProblems(object, old) : []),
      ...storedProblems(object),
      ...approvalProblems(object, old),
      ...(isNew ? unknownFieldsProblems(part(object, 'spec')) : []),
    ];
  },
};

/** A priority of 0 and a default of null are as good as none, and are not kept. */
function dropUnsaid(version: Tree): void {
  for (const column of listOf(version.additionalPrinterColumns).map(treeOf))
    if (column.priority === 0) delete column.priority;
  dropNullDefaults(treeOf(version.schema).openAPIV3Schema);
}

function dropNullDefaults(schema: unknown): void {
  if (!isTree(schema)) return;
  if (schema.default === null) delete schema.default;
  for (const child of Object.values(treeOf(schema.properties))) dropNullDefaults(child);
  dropNullDefaults(schema.items);
  dropNullDefaults(schema.additionalProperties);
}

const specProblems = (spec: Tree, old: KubeObject | undefined): Cause[] => [
  ...groupProblems(spec.group),
  ...(isScope(spec.scope) ? [] : scopeProblems(spec.scope)),
  ...versionsProblems(spec),
  ...namesProblems(treeOf(spec.names), 'spec.names'),
  ...sharedProblems(spec),
  ...conversionProblems(treeOf(spec.conversion), old),
];

/** Objects may be stored in whatever version was once the stored one: that is remembered. */
function noteStored(object: KubeObject): void {
  const status = part(object, 'status');
  const stored = listOf(status.storedVersions);
  const now = listOf(part(object, 'spec').versions)
    .map(treeOf)
    .find(({ storage }) => storage === true);
  if (now && !stored.includes(now.name)) object.status = { ...status, storedVersions: [...stored, now.name] };
}

function nameProblems(object: KubeObject): Cause[] {
  const { name = '' } = object.metadata;
  const spec = part(object, 'spec');
  const names = treeOf(spec.names);
  if (name === '' || name === `${textOf(names.plural)}.${textOf(spec.group)}`) return [];
  return [invalidValue('metadata.name', name, 'must be spec.names.plural+"."+spec.group')];
}

function groupProblems(group: unknown): Cause[] {
  if (textOf(group) === '') return [required('spec.group')];
  const problems = subdomainProblems(textOf(group));
  if (problems.length > 0) return [invalidValue('spec.group', group, problems.join(','))];
  return textOf(group).includes('.')
    ? []
    : [invalidValue('spec.group', group, 'should be a domain with at least one dot')];
}

const isScope = (scope: unknown): boolean => scope === 'Namespaced' || scope === 'Cluster';
const scopeProblems = (scope: unknown): Cause[] =>
  textOf(scope) === '' ? [required('spec.scope')] : [unsupported('spec.scope', scope, ['Cluster', 'Namespaced'])];

function conversionProblems(conversion: Tree, old: KubeObject | undefined): Cause[] {
  const { strategy, webhook } = conversion;
  const at = 'spec.conversion';
  if (strategy === undefined) return [required(`${at}.strategy`)];
  if (strategy !== 'None' && strategy !== 'Webhook')
    return [unsupported(`${at}.strategy`, strategy, ['None', 'Webhook'])];
  if (strategy === 'None')
    return webhook === undefined
      ? []
      : [forbiddenField(`${at}.webhookClientConfig`, 'should not be set when strategy is not set to Webhook')];
  const { clientConfig, conversionReviewVersions } = treeOf(webhook);
  const client = `${at}.webhookClientConfig`;
  return [
    ...(isTree(clientConfig)
      ? [...clientCauses(clientConfig, client), ...authorityCauses(clientConfig.caBundle, old, client)]
      : [required(client, 'required when strategy is set to Webhook')]),
    ...reviewVersionCauses(conversionReviewVersions, `${at}.conversionReviewVersions`),
  ];
}

/** An authority nobody can be checked against may stay, and may come with a definition that is not served yet. */
function authorityCauses(bundle: unknown, old: KubeObject | undefined, path: string): Cause[] {
  if (!isUnreadable(bundle) || !old || !isEstablishedIn(old)) return [];
  const before = treeOf(treeOf(treeOf(part(old, 'spec').conversion).webhook).clientConfig);
  if (isUnreadable(before.caBundle)) return [];
  const why = 'unable to load root certificates: unable to parse bytes as PEM block';
  return [invalidValue(`${path}.caBundle`, bundle, why)];
}

const isUnreadable = (bundle: unknown): boolean =>
  textOf(bundle) !== '' &&
  !Buffer.from(textOf(bundle), 'base64').toString('latin1').includes('-----BEGIN CERTIFICATE-----');

const isEstablishedIn = (definition: KubeObject): boolean =>
  listOf(part(definition, 'status').conditions)
    .map(treeOf)
    .some(({ type, status }) => type === 'Established' && status === 'True');

/** What may not change: nothing that tells where objects are stored, and once it is served no kind nor scope. */
function changeProblems(object: KubeObject, old: KubeObject): Cause[] {
  const [spec, before] = [part(object, 'spec'), part(old, 'spec')];
  const same = (found: unknown, was: unknown, path: string): Cause[] =>
    found === was ? [] : [invalidValue(path, found, 'field is immutable')];
  const [names, oldNames] = [treeOf(spec.names), treeOf(before.names)];
  const isEstablished = isEstablishedIn(old);
  return [
    ...(isEstablished ? same(spec.scope, before.scope, 'spec.scope') : []),
    ...(isEstablished ? same(names.kind, oldNames.kind, 'spec.names.kind') : []),
    ...same(spec.group, before.group, 'spec.group'),
    ...same(names.plural, oldNames.plural, 'spec.names.plural'),
  ];
}

function storedProblems(object: KubeObject): Cause[] {
  const path = 'status.storedVersions';
  const found = part(object, 'status').storedVersions;
  const stored = listOf(found);
  const versions = listOf(part(object, 'spec').versions).map(treeOf);
  if (stored.length === 0) return [invalidValue(path, found ?? null, 'must have at least one stored version')];
  const lacking = versions.filter(({ name, storage }) => storage === true && !stored.includes(name));
  return [
    ...lacking.map(({ name }) => invalidValue(path, stored, `must have the storage version ${textOf(name)}`)),
    ...stored.flatMap((name, i) => {
      if (versions.some((version) => version.name === name)) return [];
      const why = `missing from spec.versions; ${textOf(name)} was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in ${textOf(name)} and removes ${textOf(name)} from status.storedVersions`;
      return [invalidValue(`${path}[${i}]`, name, why)];
    }),
  ];
}

const approval = 'api-approved.kubernetes.io';
const seeAlso = 'see https://github.com/kubernetes/enhancements/pull/1111';

/** Groups of Kubernetes' own need somebody's approval; what had none before its change may go on without. */
function approvalProblems(object: KubeObject, old: KubeObject | undefined): Cause[] {
  if (!/(^|\.)(k8s|kubernetes)\.io$/.test(textOf(part(object, 'spec').group))) return [];
  const said = object.metadata.annotations?.[approval];
  const state = approvalState(said);
  if (old && approvalState(old.metadata.annotations?.[approval]) === state) return [];
  const field = `metadata.annotations[${approval}]`;
  const why = `protected groups must have approval annotation "${approval}"`;
  if (state === 'missing') return [required(field, `${why}, ${seeAlso}`)];
  if (state === 'given') return [];
  return [invalidValue(field, said, `${why} with either a URL or a reason starting with "unapproved", ${seeAlso}`)];
}

function approvalState(said: string | undefined): 'missing' | 'given' | 'invalid' {
  if (!said) return 'missing';
  return said.startsWith('unapproved') || (URL.canParse(said) && new URL(said).host !== '') ? 'given' : 'invalid';
}

const unknownFieldsProblems = (spec: Tree): Cause[] =>
  spec.preserveUnknownFields === true
    ? [
        invalidValue(
          'spec.preserveUnknownFields',
          true,
          'cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead',
        ),
      ]
    : [];
