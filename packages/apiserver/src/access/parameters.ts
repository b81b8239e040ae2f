// Nobody makes a policy tell of parameters they may not read: a write of one, or of a binding, asks for that right.
import { paramResource } from '../admission/parameters.ts';
import { policyOf, readBinding } from '../admission/policy.ts';
import type { Cluster, UserInfo } from '../cluster.ts';
import { forbiddenField } from '../field-error.ts';
import { plainText } from '../go-text.ts';
import { isEqual, isTree, splitApiVersion, textOf, type KubeObject } from '../object.ts';
import { part, type Resource } from '../resource.ts';
import type { Cause } from '../status.ts';
import { authorize } from './authorize.ts';

interface Write {
  cluster: Cluster;
  user: UserInfo;
  resource: Resource;
  object: KubeObject;
  old: KubeObject | undefined;
}

/*
   written  | passes when the writer may
   ---------+----------------------------------------------------------------
   policy   | get every object of the kind of its parameters
   binding  | get the parameter it names, or list those it selects from
*/
export function parameterCauses(write: Write): Cause[] {
  const { group, resource } = write.resource;
  if (group !== 'admissionregistration.k8s.io') return [];
  if (resource === 'validatingadmissionpolicies') return policyCauses(write);
  return resource === 'validatingadmissionpolicybindings' ? bindingCauses(write) : [];
}

interface Kind {
  group: string;
  resource: string;
  /** Whether the kind is served. */
  isKnown: boolean;
}

const everything: Kind = { group: '*', resource: '*', isKnown: false };

function kindOf(cluster: Cluster, kind: { apiVersion: string; kind: string }): Kind {
  const found = paramResource(cluster, kind)?.resource;
  const { group } = splitApiVersion(kind.apiVersion);
  return { group, resource: found?.resource ?? '*', isKnown: found !== undefined };
}

function policyCauses({ cluster, user, object, old }: Write): Cause[] {
  const { paramKind } = part(object, 'spec');
  if (!isTree(paramKind) || (old && isEqual(part(old, 'spec').paramKind, paramKind))) return [];
  const kind = { apiVersion: textOf(paramKind.apiVersion), kind: textOf(paramKind.kind) };
  const { group, resource } = kindOf(cluster, kind);
  const about = { group, resource, namespace: '*', name: '*', subresource: '', path: '' };
  if (authorize(cluster, user, { ...about, verb: 'get' })) return [];
  const why = `user ${userText(user)} must have "get" permission on all objects of the referenced paramKind (kind=${kind.kind}, apiVersion=${kind.apiVersion})`;
  return [forbiddenField('spec.paramKind', why)];
}

function bindingCauses({ cluster, user, object }: Write): Cause[] {
  const { paramRef, policyName } = readBinding(object);
  if (!paramRef) return [];
  const policy = policyOf(cluster, policyName);
  const kind = policy?.paramKind ? kindOf(cluster, policy.paramKind) : everything;
  const verb = paramRef.name === '' ? 'list' : 'get';
  const { group, resource } = kind;
  const { name, namespace } = paramRef;
  if (authorize(cluster, user, { verb, group, resource, namespace, name, subresource: '', path: '' })) return [];
  const lacks = `user ${userText(user)} does not have "${verb}" permission`;
  const least = 'to determine minimum required permissions and';
  const far = `${lacks} for all groups, versions and resources`;
  const why = !policy
    ? `unable to get policy ${policyName} ${least} ${far}`
    : policy.paramKind && !kind.isKnown
      ? `unable to resolve paramKind &ParamKind{APIVersion:${policy.paramKind.apiVersion},Kind:${policy.paramKind.kind},} ${least} ${far}`
      : `${lacks} on the object referenced by paramRef`;
  return [forbiddenField('spec.paramRef', why)];
}

/** A user as the real server's messages print it. */
const userText = ({ username, uid = '', groups, extra = {} }: UserInfo): string =>
  `&{${username} ${uid} ${plainText(groups)} ${plainText(extra)}}`;
