// A custom kind's conversion webhook: objects sent in one version, and what came back in another, checked.
import { callHook } from './admission/hook-call.ts';
import { uuid, type Cluster } from './cluster.ts';
import { apiVersionOf, copyOf, isTree, listOf, textOf, treeOf, type KubeObject, type Tree } from './object.ts';
import { annotationCauses, validateLabels } from './names.ts';
import type { Resource } from './resource.ts';
import { ok, refuse, unexplained, type Cause, type Result } from './status.ts';

const known = ['v1', 'v1beta1'];
const group = 'apiextensions.k8s.io';
/** Not said by a definition: what the real server's calls are given. */
const seconds = 30;

/** `objects`, all stored or written in some other version, in the version named; none of them is changed. */
export async function convertByHook(
  cluster: Cluster,
  resource: Resource,
  objects: readonly KubeObject[],
  version: string,
): Promise<Result<KubeObject[]>> {
  const [first] = objects;
  const hook = resource.conversion;
  if (!first || !hook) return ok([...objects]);
  const review = hook.reviewVersions.find((one) => known.includes(one));
  if (review === undefined) return refuse(unexplained('no supported conversion review versions'));
  const desired = apiVersionOf(resource.group, version);
  const uid = uuid(cluster);
  const reply = await callHook(cluster, {
    clientConfig: hook.clientConfig,
    seconds,
    review: {
      kind: 'ConversionReview',
      apiVersion: `${group}/${review}`,
      request: { uid, desiredAPIVersion: desired, objects },
    },
    versions: known.map((one) => `${group}/${one}`),
  });
  const about = `conversion webhook for ${kindOf(first)}`;
  if (!reply.ok) return refuse(unexplained(`${about} failed: ${reply.why}`));
  const answered = objectsIn(reply.body, review, uid);
  if ('problem' in answered) return refuse(unexplained(`${about} failed: ${answered.problem}`));
  const { found } = answered;
  if (found.length !== objects.length)
    return refuse(unexplained(`${about} returned ${found.length} objects, expected ${objects.length}`));
  const converted: KubeObject[] = [];
  for (const [i, object] of objects.entries()) {
    const one = accepted(object, treeOf(found[i]), desired);
    if ('problem' in one) return refuse(unexplained(one.isBare ? one.problem : `${about} returned ${one.problem}`));
    converted.push(one.object);
  }
  return ok(converted);
}

const kindOf = ({ apiVersion, kind }: KubeObject): string => `${apiVersion}, Kind=${kind}`;

type Found = { found: unknown[] } | { problem: string };

/** What the review says was converted; v1beta1 did not check whose answer it is. */
function objectsIn(body: Tree, version: string, uid: string): Found {
  const wanted = `${group}/${version}, Kind=ConversionReview`;
  const got = `${textOf(body.apiVersion) || '/'}, Kind=${textOf(body.kind)}`;
  if (version === 'v1' && got !== wanted) return { problem: `expected webhook response of ${wanted}, got ${got}` };
  if (!isTree(body.response)) return { problem: 'no response provided' };
  const { response } = body;
  if (version === 'v1' && response.uid !== uid)
    return { problem: `expected response.uid=${JSON.stringify(uid)}, got ${JSON.stringify(textOf(response.uid))}` };
  const { status, message } = treeOf(response.result);
  if (status === 'Success') return { found: listOf(response.convertedObjects) };
  return { problem: textOf(message) || `response.result.status was '${textOf(status)}', not 'Success'` };
}

type Accepted = { object: KubeObject } | { problem: string; isBare?: boolean };

/** A webhook may change everything of an object but who it is. */
function accepted(before: KubeObject, after: Tree, desired: string): Accepted {
  if (textOf(after.kind) === '')
    return { problem: `Object 'Kind' is missing in '${JSON.stringify(after)}'`, isBare: true };
  if (after.apiVersion !== desired) {
    const received = `expected ${desired}, received ${textOf(after.apiVersion)}`;
    return { problem: `invalid object at index 0: invalid groupVersion (${received})` };
  }
  if (after.kind !== before.kind) {
    const received = `expected ${before.kind}, received ${textOf(after.kind)}`;
    return { problem: `invalid object at index 0: invalid kind (${received})` };
  }
  if (!isTree(after.metadata)) {
    const problem =
      after.metadata === undefined
        ? 'missing metadata in converted object'
        : `invalid metadata of type ${goType(after.metadata)} in converted object`;
    return { problem: `invalid metadata: ${problem}` };
  }
  const { metadata } = after;
  for (const [field, word] of identity) {
    const [was, is] = [before.metadata[field] ?? '', textOf(metadata[field])];
    if (was !== is) return { problem: `invalid object: must have the same ${word}: ${was} != ${is}` };
  }
  const kept = copyOf(before.metadata);
  for (const field of free) {
    const problem = freeProblem(field, metadata[field], before.metadata[field]);
    if (problem !== undefined) return { problem: `invalid metadata: ${problem}` };
    if (isTree(metadata[field])) kept[field] = metadata[field] as Record<string, string>;
    else delete kept[field];
  }
  return { object: { ...after, metadata: kept } as KubeObject };
}

const identity = [
  ['name', 'name'],
  ['namespace', 'namespace'],
  ['uid', 'UID'],
] as const;
const free = ['labels', 'annotations'] as const;

function freeProblem(field: (typeof free)[number], after: unknown, before: unknown): string | undefined {
  if (after === undefined || after === null) return undefined;
  if (!isTree(after)) return `invalid metadata.${field} of type ${goType(after)} in converted object`;
  const wrong = Object.entries(after).find(([, value]) => typeof value !== 'string');
  if (wrong) return `metadata.${field}[${wrong[0]}] must be a string, but is ${goType(wrong[1])} in converted object`;
  const was = treeOf(before);
  const isSame =
    Object.keys(was).length === Object.keys(after).length &&
    Object.entries(after).every(([key, one]) => was[key] === one);
  if (isSame) return undefined;
  const causes =
    field === 'labels' ? validateLabels(after, 'metadata.labels') : annotationCauses(after, 'metadata.annotation');
  return causes.length === 0 ? undefined : said(causes);
}

function said(causes: Cause[]): string {
  const lines = causes.map(({ field, message }) => `${field ?? ''}: ${message ?? ''}`);
  return lines.length === 1 ? (lines[0] ?? '') : `[${lines.join(', ')}]`;
}

function goType(value: unknown): string {
  if (value === null) return '<nil>';
  if (Array.isArray(value)) return '[]interface {}';
  if (typeof value === 'number') return Number.isInteger(value) ? 'int64' : 'float64';
  return typeof value === 'boolean' ? 'bool' : typeof value === 'string' ? 'string' : 'map[string]interface {}';
}
