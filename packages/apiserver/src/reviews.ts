// Kinds that are questions: access and token reviews. They are answered in the reply to their creation and never kept.
import { authorize, denialOf, rulesFor, userOf, type Action, type Token } from './auth.ts';
import type { Cluster, UserInfo } from './cluster.ts';
import { listOf, textOf, treeOf, type KubeObject, type Tree } from './object.ts';
import { part } from './resource.ts';
import { badRequest, ok, refuse, type Result } from './status.ts';

interface Asking {
  cluster: Cluster;
  user: UserInfo;
  tokens: readonly Token[];
  object: KubeObject;
}

type Answer = (asking: Asking) => Result<Tree>;

const answers: Record<string, Answer> = {
  'selfsubjectaccessreviews.authorization.k8s.io': ({ cluster, user, object }) =>
    access(cluster, user, part(object, 'spec')),
  'subjectaccessreviews.authorization.k8s.io': subjectAccess,
  'localsubjectaccessreviews.authorization.k8s.io': subjectAccess,
  'selfsubjectrulesreviews.authorization.k8s.io': rules,
  'selfsubjectreviews.authentication.k8s.io': ({ user }) =>
    ok({ userInfo: { username: user.username, groups: user.groups } }),
  'tokenreviews.authentication.k8s.io': ({ tokens, object }) => {
    const found = userOf(textOf(part(object, 'spec').token), tokens);
    return ok(
      found
        ? { authenticated: true, user: { username: found.username, groups: found.groups } }
        : { error: 'invalid bearer token', user: {} },
    );
  },
};

export const isReview = (name: string): boolean => Object.hasOwn(answers, name);

/** The review with its status filled in. */
export function review(name: string, asking: Asking): Result<KubeObject> {
  const answer = answers[name];
  if (!answer) throw new Error(`bug: ${name} is no review`);
  const status = answer(asking);
  return status.ok
    ? ok({ ...asking.object, metadata: { ...asking.object.metadata, creationTimestamp: null }, status: status.value })
    : status;
}

function subjectAccess({ cluster, object }: Asking): Result<Tree> {
  const spec = part(object, 'spec');
  const groups = listOf(spec.groups).map(String);
  if (!spec.user && groups.length === 0)
    return refuse(badRequest('spec.user: Invalid value: "": at least one of user or group must be specified'));
  return access(cluster, { username: textOf(spec.user), groups }, spec);
}

function access(cluster: Cluster, user: UserInfo, spec: Tree): Result<Tree> {
  const asked = treeOf(spec.resourceAttributes);
  const path = treeOf(spec.nonResourceAttributes);
  const isResource = spec.resourceAttributes !== undefined;
  if (isResource === (spec.nonResourceAttributes !== undefined)) {
    return refuse(
      badRequest(
        'spec.resourceAttributes: Invalid value: exactly one of nonResourceAttributes or resourceAttributes must be specified',
      ),
    );
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
  const isAllowed = authorize(cluster, user, action);
  return ok(isAllowed ? { allowed: true } : { allowed: false, reason: denialOf(user, action) });
}

function rules({ cluster, user, object }: Asking): Result<Tree> {
  const all = user.groups.includes('system:masters')
    ? [
        { verbs: ['*'], apiGroups: ['*'], resources: ['*'] },
        { verbs: ['*'], nonResourceURLs: ['*'] },
      ]
    : rulesFor(cluster, user, textOf(part(object, 'spec').namespace));
  return ok({
    resourceRules: all.filter((rule) => 'resources' in rule).map((rule) => treeOf(rule)),
    nonResourceRules: all.filter((rule) => 'nonResourceURLs' in rule).map((rule) => treeOf(rule)),
    incomplete: false,
  });
}
