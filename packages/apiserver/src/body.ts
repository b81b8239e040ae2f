// Reading a request's body: size, media type, JSON or YAML, repeated and unknown fields.
import { parse as parseYaml, YAMLError } from 'yaml';
import { parseJson, type Parsed } from './json.ts';
import { invalidValue } from './field-error.ts';
import { apiVersionOf, isTree, splitApiVersion, textOf, type KubeObject, type Tree } from './object.ts';
import { metadataSchema } from './kinds/fields.ts';
import { fromProtobuf } from './protobuf.ts';
import type { Call } from './request.ts';
import type { Registry, Resource, Version } from './resource.ts';
import { decodeProblem, metadataProblem, mismatchText } from './schema/decode.ts';
import { duplicateFields, sortByPlace } from './schema/duplicates.ts';
import { dropNulls } from './schema/nulls.ts';
import { prune } from './schema/prune.ts';
import {
  badRequest,
  invalid,
  ok,
  refuse,
  tooLarge,
  unexplained,
  unsupportedMedia,
  type Result,
  type Status,
} from './status.ts';

const most = 3 * 1024 * 1024;
const deepest = 500;

export const mediaType = (request: Request): string =>
  (request.headers.get('content-type') ?? '').split(';')[0]?.trim().toLowerCase() ?? '';

/** The body; 413 beyond 3 MiB, without reading further. */
async function readBytes(request: Request): Promise<Result<Buffer>> {
  const announced = request.headers.get('content-length');
  if (Number(announced ?? 0) > most) return refuse(tooLarge(most));
  // HTTP gives no more than was announced, and a stream around a body costs more than its bytes.
  if (announced !== null) return ok(Buffer.from(await request.arrayBuffer()));
  if (!request.body) return ok(Buffer.alloc(0));
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of request.body as unknown as AsyncIterable<Uint8Array>) {
    size += chunk.byteLength;
    if (size > most) return refuse(tooLarge(most));
    chunks.push(chunk);
  }
  return ok(Buffer.concat(chunks));
}

export async function readText(request: Request): Promise<Result<string>> {
  const bytes = await readBytes(request);
  return bytes.ok ? ok(bytes.value.toString('utf8')) : bytes;
}

/** JSON or YAML text as a value; the message of a refusal is the parser's own. YAML is read as 1.1, as kubectl and the real server do. */
export function parseText(text: string, isYaml: boolean): Parsed {
  if (!isYaml) return parseJson(text);
  // Programs send JSON in YAML's name. Text that comes out as it went in says nothing twice, and JSON is read far sooner.
  const json = text.startsWith('{') ? parseJson(text) : undefined;
  if (json?.ok && JSON.stringify(json.value) === text) return json;
  try {
    return { ok: true, value: parseYaml(text, { version: '1.1', maxAliasCount: 100, logLevel: 'error' }) };
  } catch (error) {
    // A ReferenceError is an alias too many, or one that names nothing.
    if (error instanceof YAMLError || error instanceof ReferenceError)
      return {
        ok: false,
        message: `error converting YAML to JSON: yaml: ${(error.message.split('\n')[0] ?? '').replace(/:$/, '')}`,
      };
    throw error;
  }
}

/** The value, unless it is nested so deep that walking it could exhaust the stack. */
export const shallow = (value: unknown): Result<unknown> =>
  isTooDeep(value, deepest) ? refuse(badRequest('the body of the request is nested too deeply')) : ok(value);

function isTooDeep(value: unknown, left: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (left === 0) return true;
  for (const item of Array.isArray(value) ? value : Object.values(value)) if (isTooDeep(item, left - 1)) return true;
  return false;
}

const binaryType = 'application/vnd.kubernetes.protobuf';
const objectTypes = ['application/json', 'application/yaml', binaryType];

export interface Body {
  object: KubeObject;
  /** Fields said twice, as strict decoding names them. */
  duplicates: string[];
  /** The JSON it was, where fields were said twice. */
  text?: string;
}

/** What a body is to be, for messages. */
export interface Expected {
  kind: string;
  version: string;
}

/** The object of a POST or PUT. */
export async function readObject(call: Call, expected: Expected): Promise<Result<Body>> {
  const media = mediaType(call.request) || 'application/json';
  if (!objectTypes.includes(media)) return refuse(unsupportedMedia(objectTypes));
  const bytes = await readBytes(call.request);
  if (!bytes.ok) return bytes;
  const parsed = parseBytes(bytes.value, media);
  if (!parsed.ok) return refuse(unrecognized(expected.kind, parsed.message, bytes.value));
  const tree = parsed.value ?? {};
  if (!isTree(tree)) return refuse(unrecognized(expected.kind, notAnObject(tree), bytes.value));
  const shaped = asObject(tree, expected);
  if (!shaped.ok) return shaped;
  if (media !== 'application/json') return ok({ object: shaped.value, duplicates: [] });
  const text = bytes.value.toString('utf8');
  const duplicates = duplicateFields(text);
  return ok({ object: shaped.value, duplicates, ...(duplicates.length > 0 ? { text } : {}) });
}

const shown = 30;

/** The refusal of a body in which not even a kind could be found; it ends with how the body begins. */
function unrecognized(kind: string, problem: string, bytes: Buffer): Status {
  const isText = bytes[0] === 0x7b;
  const start = bytes.subarray(0, shown).toString(isText ? 'utf8' : 'hex');
  const begin = bytes.length === 0 ? '<empty>' : bytes.length > shown ? `${start} ...` : start;
  return badRequest(
    `the object provided is unrecognized (must be of type ${kind}): couldn't get version/kind; json parse error: ${problem} (${begin})`,
  );
}

const goType = (value: unknown): string =>
  Array.isArray(value) ? 'array' : typeof value === 'boolean' ? 'bool' : typeof value;
export const notAnObject = (value: unknown): string =>
  `json: cannot unmarshal ${goType(value)} into Go value of type struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }`;

/** A body in any of the forms an object may come in. */
function parseBytes(bytes: Buffer, media: string): Parsed {
  if (media !== binaryType) return parseText(bytes.toString('utf8'), media === 'application/yaml');
  const tree = fromProtobuf(bytes);
  return tree ? { ok: true, value: tree } : { ok: false, message: 'not a protobuf object of a known kind' };
}

/** The body's value, an empty object where there is no body. */
export async function readValue(request: Request): Promise<Result<unknown>> {
  const bytes = await readBytes(request);
  if (!bytes.ok) return bytes;
  if (bytes.value.length === 0) return ok({});
  const parsed = parseBytes(bytes.value, mediaType(request));
  return parsed.ok
    ? shallow(parsed.value)
    : refuse(badRequest(`error decoding the body of the request: ${parsed.message}`));
}

/** The options in the body of a DELETE; an empty body has none. */
export async function readOptions(request: Request): Promise<Result<Tree>> {
  const bytes = await readBytes(request);
  if (!bytes.ok) return bytes;
  if (bytes.value.length === 0) return ok({});
  const parsed = parseBytes(bytes.value, mediaType(request));
  if (!parsed.ok) return refuse(unexplained(`couldn't get version/kind; json parse error: ${parsed.message}`));
  if (!isTree(parsed.value))
    return refuse(unexplained(`couldn't get version/kind; json parse error: ${notAnObject(parsed.value)}`));
  const { kind, apiVersion } = parsed.value;
  if (kind !== undefined && kind !== 'DeleteOptions')
    return refuse(unexplained(unregistered(textOf(kind), textOf(apiVersion))));
  return ok(parsed.value);
}

export const unregistered = (kind: string, apiVersion: string): string =>
  `no kind ${JSON.stringify(kind)} is registered for version ${JSON.stringify(apiVersion)} in scheme "pkg/runtime/scheme.go:110"`;

/** A tree with the metadata every object has; refuses one whose metadata or names have the wrong type. */
export function asObject(tree: Tree, { kind, version }: Expected): Result<KubeObject> {
  const refused = (found: unknown, place: string, type: string) =>
    refuse(
      badRequest(
        `${kind} in version "${version}" cannot be handled as a ${kind}: json: cannot unmarshal ${goType(found)} into Go struct field ${place} of type ${type}`,
      ),
    );
  for (const field of ['apiVersion', 'kind'] as const) {
    if (tree[field] === null) delete tree[field];
    else if (tree[field] !== undefined && typeof tree[field] !== 'string')
      return refuse(
        badRequest(
          `couldn't get version/kind; json parse error: json: cannot unmarshal ${goType(tree[field])} into Go struct field .${field} of type string`,
        ),
      );
  }
  const metadata = tree.metadata ?? {};
  if (!isTree(metadata)) return refused(metadata, `${kind}.metadata`, 'v1.ObjectMeta');
  for (const field of ['name', 'namespace', 'generateName', 'uid', 'resourceVersion'] as const) {
    if (metadata[field] === null) delete metadata[field];
    else if (metadata[field] !== undefined && typeof metadata[field] !== 'string')
      return refused(metadata[field], `ObjectMeta.metadata.${field}`, 'string');
  }
  return ok({ ...tree, metadata } as unknown as KubeObject);
}

export interface Checked {
  resource: Resource;
  version: Version;
  object: KubeObject;
  duplicates: string[];
  text?: string;
}

/** Drops unknown fields and reports them as `fieldValidation` asks: refuse, warn, or say nothing. Refuses values of the wrong type in built-in kinds. */
export function checkFields(call: Call, { resource, version, object, duplicates, text }: Checked): Result<void> {
  const validation = call.query.get('fieldValidation') || 'Warn';
  const problem = resource.isCustom
    ? metadataProblem(object.metadata, { kind: resource.kind, version: version.name })
    : decodeProblem(object, version.schema, { kind: resource.kind, version: version.name });
  if (problem) return refuse(badRequest(problem));
  // What follows walks all of the object, however deep.
  const walkable = shallow(object);
  if (!walkable.ok) return walkable;
  dropNulls(resource.isCustom ? object.metadata : object, resource.isCustom ? metadataSchema : version.schema);
  const unknown = prune(object, version.schema);
  if (resource.isCustom) unknown.sort();
  const problems = [
    ...duplicates.map((path) => ({ path, isTwice: true, said: `duplicate field "${path}"` })),
    ...unknown.map((path) => ({ path, isTwice: false, said: `unknown field "${path}"` })),
  ];
  if (text !== undefined && !resource.isCustom) sortByPlace(problems, text);
  if (problems.length === 0 || validation === 'Ignore') return ok(undefined);
  if (validation === 'Strict') {
    const about = `${resource.kind} in version "${version.name}" cannot be handled as a ${resource.kind}: `;
    return refuse(badRequest(`${about}strict decoding error: ${problems.map(({ said }) => said).join(', ')}`));
  }
  call.warnings.push(...problems.map(({ said }) => said));
  return ok(undefined);
}

/** Refuses an object that says it is of another kind or version than the URL; fills in what it does not say. */
export function checkKind(object: KubeObject, resource: Resource, version: Version, registry: Registry): Result<void> {
  const expected = apiVersionOf(resource.group, version.name);
  object.apiVersion ||= expected;
  object.kind ||= resource.kind;
  if (object.apiVersion === expected && object.kind === resource.kind) return ok(undefined);
  const given = splitApiVersion(object.apiVersion);
  const known = registry.findKind(given.group, object.kind)?.versions.find((one) => one.name === given.version);
  const about = `${object.kind} in version "${object.kind === resource.kind ? version.name : given.version}" cannot be handled as a ${resource.kind}: `;
  if (!known && !resource.isCustom) return refuse(badRequest(about + unregistered(object.kind, object.apiVersion)));
  // It is read as what it says it is before anyone asks whether that belongs here.
  const unread = known && !resource.isCustom ? mismatchText(object, known.schema, object.kind) : undefined;
  if (unread !== undefined) return refuse(badRequest(about + unread));
  if (object.apiVersion !== expected)
    return refuse(
      badRequest(
        `the API version in the data (${object.apiVersion}) does not match the expected API version (${expected})`,
      ),
    );
  if (resource.isCustom) {
    const cause = invalidValue('kind', object.kind, `must be ${resource.kind}`);
    return refuse(invalid({ group: resource.group, kind: object.kind }, object.metadata.name ?? '', [cause]));
  }
  const why = `converting (v1.${object.kind}) to (${packageOf(resource.group)}.${resource.kind}): unknown conversion`;
  return refuse(badRequest(about + why));
}

/** What Go calls a group's types. */
const packageOf = (group: string): string => (group === '' ? 'core' : (group.split('.')[0] ?? group));
