// Kinds that are questions: access and token reviews. They are answered in the reply to their creation and never kept.
import { decide, listed, rulesFor, superGroup, type Action } from './authorize.ts';
import { userOfListed, type Authenticators } from './authenticate.ts';
import { issuer } from './account-tokens.ts';
import type { Cluster, UserInfo } from '../cluster.ts';
import { invalidValue } from '../field-error.ts';
import { listOf, textOf, timeText, treeOf, without, type KubeObject, type Tree } from '../object.ts';
import { part } from '../resource.ts';
import { badRequest, invalid, ok, refuse, type Cause, type Result } from '../status.ts';

interface Asking {
  cluster: Cluster;
  user: UserInfo;
  authenticators: Authenticators;
  object: KubeObject;
}

type Answer = (asking: Asking) => Result<Tree> | Promise<Result<Tree>>;

const answers: Record<string, Answer> = {
  'selfsubjectaccessreviews.authorization.k8s.io': selfAccess,
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
  dropEmptyTexts(part(object, 'spec'));
  const isDated = name.startsWith('selfsubjectreviews');
  const metadata = isDated ? { ...object.metadata, creationTimestamp: timeText(cluster.clock.now()) } : object.metadata;
  return ok({ ...object, metadata, status: status.value });
}

/** What a review asks about is told back without what it leaves open. */
function dropEmptyTexts(spec: Tree): void {
  for (const about of [spec, treeOf(spec.resourceAttributes), treeOf(spec.nonResourceAttributes)])
    for (const [field, value] of Object.entries(about)) if (value === '') delete about[field];
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

const asCauses = (causes: Cause[]): Result<void> =>
  causes.length > 0 ? refuse(invalid(unnamed, '', causes)) : ok(undefined);

function selfAccess({ cluster, user, object }: Asking): Result<Tree> {
  const valid = asCauses([...attributeCauses(part(object, 'spec')), ...metadataCauses(object, [])]);
  return valid.ok ? access(cluster, user, part(object, 'spec')) : valid;
}

function subjectAccess({ cluster, object }: Asking): Result<Tree> {
  const spec = part(object, 'spec');
  const valid = asCauses([...attributeCauses(spec), ...subjectCauses(spec), ...metadataCauses(object, [])]);
  return valid.ok ? access(cluster, subjectOf(spec), spec) : valid;
}

function localAccess({ cluster, object }: Asking): Result<Tree> {
  const spec = part(object, 'spec');
  const { resourceAttributes, nonResourceAttributes } = spec;
  const causes = [...attributeCauses(spec), ...subjectCauses(spec), ...metadataCauses(object, ['namespace'])];
  const namespace = textOf(treeOf(resourceAttributes).namespace);
  if (resourceAttributes !== undefined && namespace !== object.metadata.namespace)
    causes.push(invalidValue('spec.resourceAttributes.namespace', namespace, 'must match metadata.namespace'));
  if (nonResourceAttributes !== undefined)
    causes.push(
      invalidValue('spec.nonResourceAttributes', pathForm(nonResourceAttributes), 'disallowed on this kind of request'),
    );
  const valid = asCauses(causes);
  return valid.ok ? access(cluster, subjectOf(spec), spec) : valid;
}

/** A path and a verb as the real server prints them: its own structure. */
const pathForm = (attributes: unknown): Tree => {
  const { path = '', verb = '' } = treeOf(attributes);
  return { Path: path, Verb: verb };
};

function attributeCauses({ resourceAttributes, nonResourceAttributes }: Tree): Cause[] {
  if ((resourceAttributes === undefined) !== (nonResourceAttributes === undefined)) return [];
  return [
    resourceAttributes === undefined
      ? invalidValue(
          'spec.resourceAttributes',
          null,
          'exactly one of nonResourceAttributes or resourceAttributes must be specified',
        )
      : invalidValue(
          'spec.nonResourceAttributes',
          pathForm(nonResourceAttributes),
          'cannot be specified in combination with resourceAttributes',
        ),
  ];
}

const subjectCauses = ({ user, groups }: Tree): Cause[] =>
  user || listOf(groups).length > 0
    ? []
    : [invalidValue('spec.user', '', 'at least one of user or group must be specified')];

function metadataCauses({ metadata }: KubeObject, allowed: string[]): Cause[] {
  const said = without(metadata, 'managedFields', ...allowed);
  const why = ['must be empty', ...allowed.map((field) => `except for ${field}`)].join(' ');
  return Object.keys(said).length > 0 ? [invalidValue('metadata', metadata, why)] : [];
}

const subjectOf = (spec: Tree): UserInfo => ({
  username: textOf(spec.user),
  groups: listOf(spec.groups).map(String),
});

function access(cluster: Cluster, user: UserInfo, spec: Tree): Result<Tree> {
  const asked = treeOf(spec.resourceAttributes);
  const path = treeOf(spec.nonResourceAttributes);
  const isResource = spec.resourceAttributes !== undefined;
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
