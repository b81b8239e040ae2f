// Reading a request's body: size, media type, JSON or YAML, repeated and unknown fields.
import { parse as parseYaml, YAMLError } from 'yaml';
import { isTree, type KubeObject, type Tree } from './object.ts';
import { fromProtobuf } from './protobuf.ts';
import type { Call } from './request.ts';
import type { Resource, Version } from './resource.ts';
import { decodeProblem } from './schema/decode.ts';
import { duplicateFields } from './schema/duplicates.ts';
import { prune } from './schema/prune.ts';
import { apiVersionOf } from './object.ts';
import { badRequest, ok, refuse, tooLarge, unsupportedMedia, type Result } from './status.ts';

const most = 3 * 1024 * 1024;
const deepest = 500;

export const mediaType = (request: Request): string =>
  (request.headers.get('content-type') ?? '').split(';')[0]?.trim().toLowerCase() ?? '';

/** The body; 413 beyond 3 MiB, without reading further. */
async function readBytes(request: Request): Promise<Result<Buffer>> {
  if (Number(request.headers.get('content-length') ?? 0) > most) return refuse(tooLarge(most));
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

/** JSON or YAML text as a value. YAML is read as 1.1, as kubectl and the real server do. */
export function parseText(text: string, isYaml: boolean): Result<unknown> {
  try {
    const value: unknown = isYaml ? parseYaml(text, { version: '1.1', maxAliasCount: 100 }) : JSON.parse(text);
    return isTooDeep(value, deepest) ? refuse(badRequest('the body of the request is nested too deeply')) : ok(value);
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof YAMLError || error instanceof ReferenceError) {
      return refuse(badRequest(`error decoding the body of the request: ${error.message}`));
    }
    throw error;
  }
}

function isTooDeep(value: unknown, left: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return left === 0 || Object.values(value).some((item) => isTooDeep(item, left - 1));
}

const binaryType = 'application/vnd.kubernetes.protobuf';
const objectTypes = ['application/json', 'application/yaml', binaryType];

export interface Body {
  object: KubeObject;
  /** Fields said twice, as strict decoding names them. */
  duplicates: string[];
}

/** The object of a POST or PUT. */
export async function readObject(call: Call): Promise<Result<Body>> {
  const media = mediaType(call.request) || 'application/json';
  if (!objectTypes.includes(media)) return refuse(unsupportedMedia(objectTypes));
  const bytes = await readBytes(call.request);
  if (!bytes.ok) return bytes;
  const value = parseBytes(bytes.value, media);
  if (!value.ok) return value;
  if (!isTree(value.value)) return refuse(badRequest('the body of the request is not an object'));
  const shaped = asObject(value.value);
  if (!shaped.ok) return shaped;
  const isJson = media === 'application/json';
  return ok({ object: shaped.value, duplicates: isJson ? duplicateFields(bytes.value.toString('utf8')) : [] });
}

/** A body in any of the forms an object may come in. */
function parseBytes(bytes: Buffer, media: string): Result<unknown> {
  if (media !== binaryType) return parseText(bytes.toString('utf8'), media === 'application/yaml');
  const tree = fromProtobuf(bytes);
  return tree ? ok(tree) : refuse(badRequest('the body of the request is not a protobuf object of a known kind'));
}

/** The body's value, an empty object where there is no body. */
export async function readValue(request: Request): Promise<Result<unknown>> {
  const bytes = await readBytes(request);
  if (!bytes.ok) return bytes;
  return bytes.value.length === 0 ? ok({}) : parseBytes(bytes.value, mediaType(request));
}

/** The options in the body of a DELETE; an empty body has none. */
export async function readOptions(request: Request): Promise<Result<Tree>> {
  const value = await readValue(request);
  if (!value.ok) return value;
  return isTree(value.value) ? ok(value.value) : refuse(badRequest('the body of the request is not an object'));
}

/** A tree with the metadata every object has; refuses one whose metadata or names have the wrong type. */
export function asObject(tree: Tree): Result<KubeObject> {
  const metadata = tree.metadata ?? {};
  if (!isTree(metadata))
    return refuse(
      badRequest(`json: cannot unmarshal ${typeof metadata} into Go struct field .metadata of type v1.ObjectMeta`),
    );
  for (const field of ['name', 'namespace', 'generateName', 'uid', 'resourceVersion'] as const) {
    if (metadata[field] === null) delete metadata[field];
    else if (metadata[field] !== undefined && typeof metadata[field] !== 'string') {
      return refuse(
        badRequest(
          `json: cannot unmarshal ${typeof metadata[field]} into Go struct field ObjectMeta.metadata.${field} of type string`,
        ),
      );
    }
  }
  return ok({ ...tree, metadata } as unknown as KubeObject);
}

export interface Checked {
  resource: Resource;
  version: Version;
  object: KubeObject;
  duplicates: string[];
}

/** Drops unknown fields and reports them as `fieldValidation` asks: refuse, warn, or say nothing. Refuses values of the wrong type in built-in kinds. */
export function checkFields(call: Call, { resource, version, object, duplicates }: Checked): Result<void> {
  const validation = call.query.get('fieldValidation') || 'Warn';
  if (!['Strict', 'Warn', 'Ignore'].includes(validation)) {
    return refuse(
      badRequest(
        `fieldValidation: Unsupported value: ${JSON.stringify(validation)}: supported values: "", "Ignore", "Strict", "Warn"`,
      ),
    );
  }
  if (!resource.isCustom) {
    const problem = decodeProblem(object, version.schema, { kind: resource.kind, version: version.name });
    if (problem) return refuse(badRequest(problem));
  }
  const unknown = prune(object, version.schema);
  const problems = [
    ...duplicates.map((path) => `duplicate field "${path}"`),
    ...unknown.map((path) => `unknown field "${path}"`),
  ];
  if (problems.length === 0 || validation === 'Ignore') return ok(undefined);
  if (validation === 'Strict') {
    const about = `${resource.kind} in version "${version.name}" cannot be handled as a ${resource.kind}: `;
    return refuse(badRequest(`${resource.isCustom ? '' : about}strict decoding error: ${problems.join(', ')}`));
  }
  call.warnings.push(...problems);
  return ok(undefined);
}

/** Refuses an object that says it is of another kind or version than the URL; fills in what it does not say. */
export function checkKind(object: KubeObject, resource: Resource, version: Version): Result<void> {
  const expected = apiVersionOf(resource.group, version.name);
  object.apiVersion ||= expected;
  object.kind ||= resource.kind;
  if (object.apiVersion !== expected) {
    return refuse(
      badRequest(
        `the API version in the data (${object.apiVersion}) does not match the expected API version (${expected})`,
      ),
    );
  }
  if (object.kind !== resource.kind) {
    return refuse(
      badRequest(
        `${object.kind} in version "${version.name}" cannot be handled as a ${resource.kind}: the object's kind does not match the resource`,
      ),
    );
  }
  return ok(undefined);
}
