// AdmissionReview: the question sent to a webhook and what its answer says.
import { uuid, type Cluster } from '../cluster.ts';
import { converted } from '../conversion.ts';
import { copyOf, isTree, listOf, textOf, treeOf, type KubeObject, type Tree } from '../object.ts';
import type { DeleteOptions } from '../options.ts';
import { applyJsonPatch } from '../patch/json-patch.ts';
import { jsonPatchProblem } from '../patch/json-patch-problem.ts';
import type { Call } from '../request.ts';
import { failure, internal, ok, type Result, type Status } from '../status.ts';
import { namespaceAsked, type Attributes } from './attributes.ts';
import type { Sort } from './webhook.ts';

export interface Subject {
  cluster: Cluster;
  call: Call;
  asked: Attributes;
}

/** The request of a review in the given version of the resource. */
export async function requestOf(subject: Subject, version: string): Promise<Result<Tree>> {
  const { cluster, call, asked } = subject;
  const { group, resource, kind } = asked.resource;
  const { subresource } = call.target;
  const namespace = namespaceAsked(asked);
  const object = asked.operation === 'DELETE' ? ok(undefined) : await objectIn(subject, asked.object, version);
  if (!object.ok) return object;
  const oldObject = await objectIn(subject, asked.oldObject, version);
  if (!oldObject.ok) return oldObject;
  const sub = subresource ? { subResource: subresource, requestSubResource: subresource } : {};
  return ok({
    uid: uuid(cluster),
    kind: asked.kind ?? { group, version, kind },
    resource: { group, version, resource },
    requestKind: asked.kind ?? { group, version: call.target.version, kind },
    requestResource: { group, version: call.target.version, resource },
    ...sub,
    ...(asked.name ? { name: asked.name } : {}),
    ...(namespace ? { namespace } : {}),
    operation: asked.operation,
    userInfo: call.user,
    object: object.value ?? null,
    oldObject: oldObject.value ?? null,
    dryRun: asked.isDryRun,
    options: optionsOf(call, asked),
  });
}

/** An object of a custom kind in another version of it than the client wrote. */
export async function objectIn(
  { cluster, asked: { resource, kind } }: Subject,
  object: KubeObject | undefined,
  name: string,
): Promise<Result<KubeObject | undefined>> {
  const version = resource.versions.find((one) => one.name === name);
  if (!object || !resource.isCustom || kind || !version) return ok(object);
  const result = await converted({ cluster, resource, version }, copyOf(object));
  return result.ok ? result : { ok: false, status: internal(result.status.message) };
}

const optionKinds: Record<Attributes['operation'], string> = {
  CREATE: 'CreateOptions',
  UPDATE: 'UpdateOptions',
  DELETE: 'DeleteOptions',
  CONNECT: 'PodProxyOptions',
};

/** A patch is told as the create or update it comes to. */
function optionsOf({ query }: Call, { operation, isDryRun, options }: Attributes): Tree {
  const dryRun = isDryRun ? { dryRun: ['All'] } : {};
  const head = { kind: optionKinds[operation], apiVersion: 'meta.k8s.io/v1' };
  if (operation === 'DELETE') return { ...head, ...deleteOptions(options ?? {}), ...dryRun };
  const said = ['fieldManager', 'fieldValidation'].flatMap((name) =>
    query.get(name) ? [[name, query.get(name)]] : [],
  );
  return { ...head, ...dryRun, ...(Object.fromEntries(said) as Tree) };
}

function deleteOptions({
  gracePeriodSeconds,
  preconditions,
  orphanDependents,
  propagationPolicy,
}: DeleteOptions): Tree {
  const policy = orphanDependents === undefined ? { propagationPolicy } : { orphanDependents };
  const said = Object.entries({ gracePeriodSeconds, preconditions, ...policy });
  return Object.fromEntries(said.filter(([, value]) => value !== undefined));
}

export type Answer =
  | { sort: 'allowed'; object: KubeObject | undefined; warnings: string[] }
  | { sort: 'denied'; status: Status; warnings: string[] }
  /** Its patch cannot be used: nobody's policy passes over that. */
  | { sort: 'unusable'; status: Status; warnings: string[] }
  /** Not an answer to what was asked: counts as a failed call. */
  | { sort: 'broken'; why: string };

export interface Question {
  webhook: string;
  sort: Sort;
  /** Of the review that was sent: what comes back in v1beta1 is not held to be for this request. */
  version: string;
  request: Tree;
  /** What a patch in the answer is laid over. */
  object: KubeObject | undefined;
}

/** Reads the webhook's answer. */
export function answerOf(review: Tree, question: Question): Answer {
  const { response } = review;
  if (!isTree(response)) return invalid('webhook response was absent');
  const problem = question.version === 'v1' ? responseProblem(review, response, question) : undefined;
  if (problem !== undefined) return invalid(problem);
  const warnings = listOf(response.warnings).map(String);
  if (response.allowed !== true)
    return { sort: 'denied', status: denialOf(question.webhook, treeOf(response.status)), warnings };
  if (!hasPatch(response) || question.sort === 'validatingwebhookconfigurations')
    return { sort: 'allowed', object: question.object, warnings };
  return patched(response, question, warnings);
}

const broken = (why: string): Answer => ({ sort: 'broken', why });
const invalid = (why: string): Answer => broken(`received invalid webhook response: ${why}`);
const hasPatch = (response: Tree): boolean => textOf(response.patch) !== '';

function responseProblem(review: Tree, response: Tree, { sort, request }: Question): string | undefined {
  if (response.uid !== request.uid)
    return `expected response.uid=${JSON.stringify(request.uid)}, got ${JSON.stringify(textOf(response.uid))}`;
  const wanted = 'admission.k8s.io/v1, Kind=AdmissionReview';
  const got = `${textOf(review.apiVersion) || '/'}, Kind=${textOf(review.kind)}`;
  if (got !== wanted) return `expected webhook response of ${wanted}, got ${got}`;
  const hasType = response.patchType !== undefined && response.patchType !== null;
  if (sort === 'validatingwebhookconfigurations') {
    if (hasPatch(response)) return 'validating webhook may not return response.patch';
    return hasType ? 'validating webhook may not return response.patchType' : undefined;
  }
  if (hasPatch(response) && !hasType) return 'webhook returned response.patch but not response.patchType';
  if (!hasPatch(response) && hasType) return 'webhook returned response.patchType but not response.patch';
  return response.patchType === '' ? 'webhook returned invalid response.patchType of ""' : undefined;
}

function patched(response: Tree, { version, webhook, object }: Question, warnings: string[]): Answer {
  const unusable = (why: string): Answer => ({ sort: 'unusable', status: internal(why), warnings });
  const type = version === 'v1' ? textOf(response.patchType) : 'JSONPatch';
  const operations = parsed(Buffer.from(textOf(response.patch), 'base64').toString('utf8'));
  if (!Array.isArray(operations))
    return broken('received undecodable patch in webhook response: it is no JSON list of operations');
  if (operations.length === 0) return { sort: 'allowed', object, warnings };
  if (!object)
    return unusable(
      `admission webhook ${JSON.stringify(webhook)} attempted to modify the object, which is not supported for this operation`,
    );
  if (type !== 'JSONPatch') return broken(`unsupported patch type ${JSON.stringify(type)}`);
  const result = applyJsonPatch(object, operations);
  if (!result.ok) return unusable(jsonPatchProblem(object, operations) ?? result.message);
  if (!isTree(result.value) || !isTree(result.value.metadata)) return unusable('the patched object has no metadata');
  return { sort: 'allowed', object: result.value as KubeObject, warnings };
}

/** The value of a JSON text; undefined when it is none, which JSON itself cannot say. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** A refusal as the client gets it: the webhook's own code and reason, 400 where it gives none. */
function denialOf(webhook: string, status: Tree): Status {
  const code = Number(status.code ?? 0);
  const denied = `admission webhook ${JSON.stringify(webhook)} denied the request`;
  const said = textOf(status.message) || textOf(status.reason);
  const whole = failure(
    code >= 400 ? code : 400,
    textOf(status.reason),
    said === '' ? `${denied} without explanation` : `${denied}: ${said}`,
    isTree(status.details) ? status.details : undefined,
  );
  if (textOf(status.reason) === '') delete whole.reason;
  return whole;
}
