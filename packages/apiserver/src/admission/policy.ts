// Validating admission policies with their bindings, as they are stored: read once, and whether one is about a write.
import type { Cluster } from '../cluster.ts';
import { isTree, listOf, textOf, treeOf, type KubeObject, type Tree } from '../object.ts';
import type { Call } from '../request.ts';
import { keyOf, part } from '../resource.ts';
import { decode, type Entry } from '../store.ts';
import type { Attributes } from './attributes.ts';
import type { Condition } from './conditions.ts';
import { fits, fitsSelectors, type Selectors } from './webhook.ts';

/** A policy's `matchConstraints`, or a binding's `matchResources`. */
export interface Match extends Selectors {
  isExact: boolean;
  rules: Tree[];
  excluded: Tree[];
}

export interface Validation {
  expression: string;
  message: string;
  messageExpression: string;
  reason: string;
}

export interface Policy {
  name: string;
  match: Match;
  isIgnoredOnFailure: boolean;
  /** Absent where the policy has no parameters. */
  paramKind?: { apiVersion: string; kind: string };
  conditions: Condition[];
  /** The last of a name is the one that counts. */
  variables: { name: string; expression: string }[];
  validations: Validation[];
  annotations: { key: string; expression: string }[];
}

export interface ParamRef {
  name: string;
  namespace: string;
  selector: Tree | undefined;
  isLossAllowed: boolean;
}

export interface Binding {
  name: string;
  policyName: string;
  actions: string[];
  match?: Match;
  paramRef?: ParamRef;
}

const group = 'admissionregistration.k8s.io';
const policiesAt = { group, resource: 'validatingadmissionpolicies', isNamespaced: false };
const bindingsAt = { group, resource: 'validatingadmissionpolicybindings', isNamespaced: false };
const reviews = new Set(['authentication.k8s.io', 'authorization.k8s.io']);
const policies = new WeakMap<Entry, Policy>();
const bindings = new WeakMap<Entry, Binding>();

/** Policies that are bound, by binding's name, each with its bindings. */
export function boundPolicies(cluster: Cluster): { policy: Policy; bindings: Binding[] }[] {
  const found = new Map<string, { policy: Policy; bindings: Binding[] }>();
  const at = keyOf(bindingsAt);
  for (const entry of cluster.store.table(at).range(at)) {
    const binding = readOnce(bindings, entry, readBinding);
    const bound = found.get(binding.policyName);
    if (bound) bound.bindings.push(binding);
    else {
      const policy = policyOf(cluster, binding.policyName);
      if (policy) found.set(binding.policyName, { policy, bindings: [binding] });
    }
  }
  return [...found.values()];
}

/** The policy of that name, be it bound or not. */
export function policyOf(cluster: Cluster, name: string): Policy | undefined {
  const entry = cluster.store.get(keyOf(policiesAt, '', name));
  return entry && readOnce(policies, entry, readPolicy);
}

/** Entries never change, so each is read once however many writes are judged. */
function readOnce<T>(known: WeakMap<Entry, T>, entry: Entry, read: (object: KubeObject) => T): T {
  let found = known.get(entry);
  if (found === undefined) known.set(entry, (found = read(decode(entry.text))));
  return found;
}

const trees = (value: unknown): Tree[] => listOf(value).map(treeOf);

function readPolicy(object: KubeObject): Policy {
  const spec = part(object, 'spec');
  const { paramKind } = spec;
  return {
    name: object.metadata.name ?? '',
    match: readMatch(treeOf(spec.matchConstraints)),
    isIgnoredOnFailure: spec.failurePolicy === 'Ignore',
    ...(isTree(paramKind)
      ? { paramKind: { apiVersion: textOf(paramKind.apiVersion), kind: textOf(paramKind.kind) } }
      : {}),
    conditions: trees(spec.matchConditions).map(named),
    variables: trees(spec.variables).map(named),
    validations: trees(spec.validations).map((one) => ({
      expression: textOf(one.expression),
      message: textOf(one.message),
      messageExpression: textOf(one.messageExpression),
      reason: textOf(one.reason) || 'Invalid',
    })),
    annotations: trees(spec.auditAnnotations).map((one) => ({
      key: textOf(one.key),
      expression: textOf(one.valueExpression),
    })),
  };
}

const named = ({ name, expression }: Tree) => ({ name: textOf(name), expression: textOf(expression) });

export function readBinding(object: KubeObject): Binding {
  const { policyName, paramRef, matchResources, validationActions } = part(object, 'spec');
  return {
    name: object.metadata.name ?? '',
    policyName: textOf(policyName),
    actions: listOf(validationActions).map(String),
    ...(isTree(matchResources) ? { match: readMatch(matchResources) } : {}),
    ...(isTree(paramRef)
      ? {
          paramRef: {
            name: textOf(paramRef.name),
            namespace: textOf(paramRef.namespace),
            selector: isTree(paramRef.selector) ? paramRef.selector : undefined,
            isLossAllowed: paramRef.parameterNotFoundAction !== 'Deny',
          },
        }
      : {}),
  };
}

const readMatch = (match: Tree): Match => ({
  isExact: match.matchPolicy === 'Exact',
  rules: trees(match.resourceRules),
  excluded: trees(match.excludeResourceRules),
  namespaceSelector: treeOf(match.namespaceSelector),
  objectSelector: treeOf(match.objectSelector),
});

/** Whether policies are asked about such a kind at all: were they about themselves, one that always refuses could never be removed. */
export const isJudged = ({ resource }: Attributes): boolean =>
  !reviews.has(resource.group) && !(resource.group === group && resource.resource.includes('admissionpolic'));

/** The version of the resource in which a write is what `match` is about; undefined when it is not. */
export function matchedVersion(cluster: Cluster, call: Call, asked: Attributes, match: Match): string | undefined {
  if (!fitsSelectors(cluster, asked, match)) return undefined;
  const others = match.isExact ? [] : asked.resource.versions.filter((version) => version.isServed);
  const versions = [call.target.version, ...others.map((version) => version.name)];
  const versionIn = (rules: Tree[]): string | undefined =>
    versions.find((version) => rules.some((rule) => fits(rule, call, asked, version) && isNamed(rule, asked.name)));
  if (versionIn(match.excluded) !== undefined) return undefined;
  return match.rules.length === 0 ? call.target.version : versionIn(match.rules);
}

const isNamed = ({ resourceNames }: Tree, name: string): boolean =>
  listOf(resourceNames).length === 0 || listOf(resourceNames).includes(name);
