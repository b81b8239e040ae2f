// AdmissionReview v1: the question sent to a webhook and what its answer says.
import { uuid, type Cluster } from '../cluster.ts';
import { apiVersionOf, isTree, listOf, textOf, treeOf, type KubeObject, type Tree } from '../object.ts';
import { applyJsonPatch } from '../patch/json-patch.ts';
import type { Call } from '../request.ts';
import { failure, type Status } from '../status.ts';
import type { Attributes } from './attributes.ts';

export interface Subject {
  cluster: Cluster;
  call: Call;
  asked: Attributes;
}

/** The request of a review in the given version of the resource. */
export function requestOf({ cluster, call, asked }: Subject, version: string): Tree {
  const { group, resource, kind } = asked.resource;
  const { subresource } = call.target;
  const inVersion = (object: KubeObject | undefined): KubeObject | null =>
    object && asked.resource.isCustom ? { ...object, apiVersion: apiVersionOf(group, version) } : (object ?? null);
  const sub = subresource ? { subResource: subresource, requestSubResource: subresource } : {};
  return {
    uid: uuid(cluster),
    kind: { group, version, kind },
    resource: { group, version, resource },
    requestKind: { group, version: call.target.version, kind },
    requestResource: { group, version: call.target.version, resource },
    ...sub,
    ...(asked.name ? { name: asked.name } : {}),
    ...(asked.namespace ? { namespace: asked.namespace } : {}),
    operation: asked.operation,
    userInfo: call.user,
    object: asked.operation === 'DELETE' ? null : inVersion(asked.object),
    oldObject: inVersion(asked.oldObject),
    dryRun: asked.isDryRun,
    options: optionsOf(call, asked),
  };
}

const optionKinds: Record<Attributes['operation'], string> = {
  CREATE: 'CreateOptions',
  UPDATE: 'UpdateOptions',
  DELETE: 'DeleteOptions',
  CONNECT: 'PodProxyOptions',
};

function optionsOf({ query, target }: Call, { operation, isDryRun }: Attributes): Tree {
  const kind = target.verb === 'patch' && operation === 'UPDATE' ? 'PatchOptions' : optionKinds[operation];
  const said = ['fieldManager', 'fieldValidation', 'propagationPolicy'].flatMap((name) =>
    query.get(name) ? [[name, query.get(name)]] : [],
  );
  return {
    kind,
    apiVersion: 'meta.k8s.io/v1',
    ...(Object.fromEntries(said) as Tree),
    ...(isDryRun ? { dryRun: ['All'] } : {}),
  };
}

export type Answer =
  | { sort: 'allowed'; object: KubeObject | undefined; warnings: string[] }
  | { sort: 'denied'; status: Status; warnings: string[] }
  /** Not an answer to what was asked: counts as a failed call. */
  | { sort: 'broken'; why: string };

/** Reads the webhook's answer to `request`; a patch in it is laid over `object`. */
export function answerOf(body: unknown, webhook: string, request: Tree, object: KubeObject | undefined): Answer {
  const review = treeOf(body);
  if (review.kind !== 'AdmissionReview' || review.apiVersion !== 'admission.k8s.io/v1')
    return broken(
      `expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview, got ${textOf(review.apiVersion)}, Kind=${textOf(review.kind)}`,
    );
  const response = review.response;
  if (!isTree(response)) return broken('webhook response is absent');
  if (response.uid !== request.uid)
    return broken(`expected response.uid=${JSON.stringify(request.uid)}, got ${JSON.stringify(textOf(response.uid))}`);
  const warnings = listOf(response.warnings).map(String);
  if (response.allowed !== true)
    return { sort: 'denied', status: denialOf(webhook, treeOf(response.status)), warnings };
  if (response.patch === undefined || response.patch === null) return { sort: 'allowed', object, warnings };
  return patched(response, object, warnings);
}

const broken = (why: string): Answer => ({ sort: 'broken', why });

function patched(response: Tree, object: KubeObject | undefined, warnings: string[]): Answer {
  if (response.patchType !== 'JSONPatch')
    return broken(`unsupported patch type ${JSON.stringify(textOf(response.patchType))}`);
  const operations = parsed(Buffer.from(textOf(response.patch), 'base64').toString('utf8'));
  if (operations === undefined) return broken('webhook patch response is not JSON');
  if (!object)
    return broken('admission webhook attempted to modify the object, which is not supported for this operation');
  const result = applyJsonPatch(object, operations);
  if (!result.ok) return broken(result.message);
  if (!isTree(result.value) || !isTree(result.value.metadata)) return broken('the patched object has no metadata');
  return { sort: 'allowed', object: result.value as KubeObject, warnings };
}

/** The value of a JSON text; undefined when it is none, which JSON itself cannot say. */
export function parsed(text: string): unknown {
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
