// Registered webhooks: what is known of one, and whether it wants to hear of a write.
import type { Cluster } from '../cluster.ts';
import { listOf, textOf, treeOf, type KubeObject, type Tree } from '../object.ts';
import type { Call } from '../request.ts';
import { keyOf } from '../resource.ts';
import { matchesSelector } from '../selector.ts';
import { decode, type Entry } from '../store.ts';
import type { Attributes } from './attributes.ts';

export interface Webhook {
  name: string;
  /** Of its configuration: a webhook is called once for each, whatever it is called. */
  id: string;
  isIgnoredOnFailure: boolean;
  seconds: number;
  canBeCalledAgain: boolean;
  matchPolicy: string;
  reviewVersions: string[];
  clientConfig: Tree;
  rules: Tree[];
  namespaceSelector: Tree;
  objectSelector: Tree;
  conditions: { name: string; expression: string }[];
}

export type Sort = 'mutatingwebhookconfigurations' | 'validatingwebhookconfigurations';

const group = 'admissionregistration.k8s.io';
const parsed = new WeakMap<Entry, Webhook[]>();

/** All webhooks of a sort, in the order they are called: by configuration's name, then as written. */
export function webhooksOf(cluster: Cluster, sort: Sort): Webhook[] {
  const at = keyOf({ group, resource: sort, isNamespaced: false });
  return cluster.store
    .table(at)
    .range(at)
    .flatMap((entry) => {
      let found = parsed.get(entry);
      if (!found) parsed.set(entry, (found = read(decode(entry.text))));
      return found;
    });
}

const read = ({ metadata, webhooks }: KubeObject): Webhook[] =>
  listOf(webhooks)
    .map(treeOf)
    .map((one, i) => ({
      name: textOf(one.name),
      id: `${metadata.uid ?? ''}/${i}`,
      isIgnoredOnFailure: one.failurePolicy === 'Ignore',
      seconds: Number(one.timeoutSeconds ?? 10),
      canBeCalledAgain: one.reinvocationPolicy === 'IfNeeded',
      matchPolicy: textOf(one.matchPolicy) || 'Equivalent',
      reviewVersions: listOf(one.admissionReviewVersions).map(String),
      clientConfig: treeOf(one.clientConfig),
      rules: listOf(one.rules).map(treeOf),
      namespaceSelector: treeOf(one.namespaceSelector),
      objectSelector: treeOf(one.objectSelector),
      conditions: listOf(one.matchConditions)
        .map(treeOf)
        .map(({ name, expression }) => ({ name: textOf(name), expression: textOf(expression) })),
    }));

/**
 * The version of the resource a webhook wants to hear of this write in; undefined when it does not want to. With
 * matchPolicy Equivalent a rule for any served version will do.
 */
export function wantedVersion(cluster: Cluster, call: Call, asked: Attributes, webhook: Webhook): string | undefined {
  // Were webhooks asked about their own configurations, one that always refuses could never be removed.
  if (asked.resource.group === group) return undefined;
  const others = webhook.matchPolicy === 'Exact' ? [] : asked.resource.versions.filter((version) => version.isServed);
  const versions = [call.target.version, ...others.map((version) => version.name)];
  const version = versions.find((name) => webhook.rules.some((rule) => fits(rule, call, asked, name)));
  if (version === undefined) return undefined;
  return fitsSelectors(cluster, asked, webhook) ? version : undefined;
}

/** Whether any webhook may be asked about such a write. */
export function mayBeAsked(cluster: Cluster, call: Call, asked: Pick<Attributes, 'operation' | 'resource'>): boolean {
  if (asked.resource.group === group) return false;
  const versions = asked.resource.versions.map((version) => version.name);
  return (['mutatingwebhookconfigurations', 'validatingwebhookconfigurations'] as const).some((sort) =>
    webhooksOf(cluster, sort).some(({ rules }) =>
      rules.some((rule) => versions.some((version) => fits(rule, call, asked, version))),
    ),
  );
}

const has = (list: unknown, value: string): boolean => listOf(list).includes('*') || listOf(list).includes(value);

/*
   rule's resource | fits
   ----------------+----------------------------------------
   pods            | pods, no subresource
   pods/log        | that subresource;  pods/*  any of pods and pods
   *               | every resource, no subresource
   * /scale, * /*  | that subresource of every resource; everything
*/
export function fits(
  rule: Tree,
  call: Call,
  asked: Pick<Attributes, 'operation' | 'resource'>,
  version: string,
): boolean {
  const { isNamespaced, group: own, resource } = asked.resource;
  const scope = textOf(rule.scope) || '*';
  if (scope !== '*' && (scope === 'Namespaced') !== isNamespaced) return false;
  if (!has(rule.operations, asked.operation) || !has(rule.apiGroups, own) || !has(rule.apiVersions, version))
    return false;
  return listOf(rule.resources)
    .map(String)
    .some((pattern) => {
      const [name = '', sub = ''] = pattern.split('/');
      return (name === '*' || name === resource) && (sub === '*' || sub === call.target.subresource);
    });
}

/** What of the objects and their namespaces is chosen; empty selectors choose all. */
export interface Selectors {
  namespaceSelector: Tree;
  objectSelector: Tree;
}

export const fitsSelectors = (cluster: Cluster, asked: Attributes, selectors: Selectors): boolean =>
  fitsNamespace(cluster, asked, selectors) && fitsLabels(asked, selectors);

function fitsNamespace(cluster: Cluster, asked: Attributes, { namespaceSelector }: Selectors): boolean {
  if (Object.keys(namespaceSelector).length === 0) return true;
  const isNamespace = asked.resource.group === '' && asked.resource.resource === 'namespaces';
  if (isNamespace) {
    const object = asked.object ?? asked.oldObject;
    return matchesSelector(namespaceSelector, object?.metadata.labels ?? {});
  }
  if (!asked.resource.isNamespaced) return true;
  const at = { group: '', resource: 'namespaces', isNamespaced: false };
  const entry = cluster.store.get(keyOf(at, '', asked.namespace));
  return matchesSelector(namespaceSelector, { ...entry?.labels });
}

/** Before or after: a change that takes the label off is still one the webhook wants to hear of. */
const fitsLabels = ({ object, oldObject }: Attributes, { objectSelector }: Selectors): boolean =>
  Object.keys(objectSelector).length === 0 ||
  [object, oldObject].some((one) => one && matchesSelector(objectSelector, one.metadata.labels ?? {}));
