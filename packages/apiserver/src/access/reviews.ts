// Kinds that are questions: access and token reviews. They are answered in the reply to their creation and never kept.
import { decide, listed, rulesFor, superGroup, type Action } from './authorize.ts';
import { userOfListed, type Authenticators } from './authenticate.ts';
import { issuer } from './account-tokens.ts';
import type { Cluster, UserInfo } from '../cluster.ts';
import { invalidValue } from '../field-error.ts';
import { listOf, textOf, timeText, treeOf, type KubeObject, type Tree } from '../object.ts';
import { part } from '../resource.ts';
import { badRequest, invalid, ok, refuse, type Result } from '../status.ts';

interface Asking {
  cluster: Cluster;
  user: UserInfo;
  authenticators: Authenticators;
  object: KubeObject;
}

type Answer = (asking: Asking) => Result<Tree> | Promise<Result<Tree>>;

const answers: Record<string, Answer> = {
  'selfsubjectaccessreviews.authorization.k8s.io': ({ cluster, user, object }) =>
    access(cluster, user, part(object, 'spec')),
  'subjectaccessreviews.authorization.k8s.io': subjectAccess,
  'localsubjectaccessreviews.authorization.k8s.io': localAccess,
  'selfsubjectrulesreviews.authorization.k8s.io': rules,
  'selfsubjectreviews.authentication.k8s.io': ({ user }) => ok({ userInfo: shown(user) }),
  'tokenreviews.authentication.k8s.io': token,
};

export const isReview = (name: string): boolean => Object.hasOwn(answers, name);

/** The review with its status filled in. */
export async function review(name: string, asking: Asking): Promise<Result<KubeObject>> {
  const answer = answers[name];
  if (!answer) throw new Error(`bug: ${name} is no review`);
  const status = await answer(asking);
  if (!status.ok) return status;
  const { cluster, object } = asking;
  const isDated = name.startsWith('selfsubjectreviews');
  const metadata = isDated ? { ...object.metadata, creationTimestamp: timeText(cluster.clock.now()) } : object.metadata;
  return ok({ ...object, metadata, status: status.value });
}

const shown = ({ username, uid, groups, extra }: UserInfo): Tree => ({
  username,
  ...(uid === undefined ? {} : { uid }),
  groups,
  ...(extra ? { extra } : {}),
});

async function token({ authenticators, object }: Asking): Promise<Result<Tree>> {
  const spec = part(object, 'spec');
  const text = textOf(spec.token);
  if (text === '') return refuse(badRequest('token is required for TokenReview in authentication'));
  const wanted = listOf(spec.audiences).map(String);
  const user = userOfListed(text, authenticators.tokens);
  // A token of the list is for this server, and says nothing of other audiences.
  if (user && (wanted.length === 0 || wanted.includes(issuer)))
    return ok({ authenticated: true, user: shown(user), audiences: [issuer] });
  const found = await authenticators.accounts.verify(text, wanted.length > 0 ? wanted : [issuer]);
  return ok(
    found.ok
      ? { authenticated: true, user: shown(found.user), audiences: found.audiences }
      : { user: {}, error: found.problem },
  );
}

const unnamed = { group: 'authorization.k8s.io', kind: '' };

function subjectAccess({ cluster, object }: Asking): Result<Tree> {
  const spec = part(object, 'spec');
  const groups = listOf(spec.groups).map(String);
  if (!spec.user && groups.length === 0)
    return refuse(
      invalid(unnamed, '', [invalidValue('spec.user', '', 'at least one of user or group must be specified')]),
    );
  return access(cluster, { username: textOf(spec.user), groups }, spec);
}

function localAccess(asking: Asking): Result<Tree> {
  const { namespace = '' } = asking.object.metadata;
  const asked = treeOf(part(asking.object, 'spec').resourceAttributes);
  if (textOf(asked.namespace) === namespace) return subjectAccess(asking);
  return refuse(
    invalid(unnamed, '', [
      invalidValue('spec.resourceAttributes.namespace', textOf(asked.namespace), 'must match metadata.namespace'),
    ]),
  );
}

function access(cluster: Cluster, user: UserInfo, spec: Tree): Result<Tree> {
  const asked = treeOf(spec.resourceAttributes);
  const path = treeOf(spec.nonResourceAttributes);
  const isResource = spec.resourceAttributes !== undefined;
  if (isResource === (spec.nonResourceAttributes !== undefined)) {
    const why = isResource
      ? 'cannot be specified in combination with resourceAttributes'
      : 'exactly one of nonResourceAttributes or resourceAttributes must be specified';
    const field = isResource ? 'spec.nonResourceAttributes' : 'spec.resourceAttributes';
    return refuse(invalid(unnamed, '', [invalidValue(field, isResource ? path : null, why)]));
  }
  const action: Action = {
    verb: textOf(isResource ? asked.verb : path.verb),
    group: textOf(asked.group),
    resource: textOf(asked.resource),
    subresource: textOf(asked.subresource),
    namespace: textOf(asked.namespace),
    name: textOf(asked.name),
    path: textOf(path.path),
  };
  const { isAllowed, reason } = decide(cluster, user, action);
  return ok({ allowed: isAllowed, ...(reason === '' ? {} : { reason }) });
}

const everything: Tree[] = [
  { verbs: ['*'], apiGroups: ['*'], resources: ['*'] },
  { verbs: ['*'], nonResourceURLs: ['*'] },
];

function rules({ cluster, user, object }: Asking): Result<Tree> {
  const namespace = textOf(part(object, 'spec').namespace);
  if (namespace === '') return refuse(badRequest('no namespace on request'));
  const found = rulesFor(cluster, user, namespace);
  const all = user.groups.includes(superGroup) ? [...everything, ...found.rules] : found.rules;
  return ok({
    resourceRules: all.filter((rule) => 'resources' in rule),
    nonResourceRules: all.filter((rule) => 'nonResourceURLs' in rule),
    incomplete: found.missing.length > 0,
    ...(found.missing.length > 0 ? { evaluationError: listed(found.missing) } : {}),
  });
}
