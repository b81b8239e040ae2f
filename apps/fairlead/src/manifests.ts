// YAML manifests: read as kubectl reads them, and applied to an API server by server-side apply.
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fail, ok, type Result } from '@fairlead/core';
import type { Kind, Kube, KubeObject } from '@fairlead/kube';
import { parseAllDocuments } from 'yaml';

export interface Manifest {
  /** Where it stands, as `file:line`, for messages. */
  at: string;
  object: KubeObject;
}

/** All objects in the files, and in the `*.yaml|yml|json` files of the folders, named; `-` is standard input. */
export function readManifests(paths: readonly string[]): Result<Manifest[]> {
  const manifests: Manifest[] = [];
  for (const path of paths.flatMap(filesOf)) {
    let text: string;
    try {
      text = readFileSync(path === '-' ? 0 : path, 'utf8');
    } catch (error) {
      return fail('missing', `cannot read ${path}: ${(error as Error).message}`);
    }
    const read = parseManifests(text, path);
    if (!read.ok) return read;
    manifests.push(...read.value);
  }
  return ok(manifests);
}

/** `text` may hold several documents, and lists of kind List. Read by the rules of YAML 1.1, as kubectl does. */
export function parseManifests(text: string, file: string): Result<Manifest[]> {
  const manifests: Manifest[] = [];
  for (const document of parseAllDocuments(text, { version: '1.1' })) {
    const lineOf = (offset: number) => text.slice(0, offset).split('\n').length;
    const problem = document.errors[0];
    if (problem) return fail('invalid', `${file}:${lineOf(problem.pos[0])}: ${problem.message.split('\n')[0]}`);
    const value: unknown = document.toJS();
    if (value === null || value === undefined) continue;
    const at = `${file}:${lineOf(document.contents?.range?.[0] ?? 0)}`;
    for (const object of isList(value) ? value.items : [value]) {
      if (!isObject(object))
        return fail('invalid', `${at}: no Kubernetes object: it needs apiVersion, kind and metadata.name`);
      manifests.push({ at, object });
    }
  }
  return ok(manifests);
}

/** Applies in the order given. Stops at the first that is refused, saying which. */
export async function applyManifests(
  kube: Kube,
  manifests: readonly Manifest[],
  fieldManager: string,
): Promise<Result<KubeObject[]>> {
  const applied: KubeObject[] = [];
  for (const { at, object } of manifests) {
    const kind = await kindOf(kube, object);
    if (!kind.ok) return kind;
    const placed = kind.value.namespaced
      ? { ...object, metadata: { namespace: 'default', ...object.metadata } }
      : object;
    const got = await kube.apply(kind.value, placed, { fieldManager, force: true, fieldValidation: 'Strict' });
    if (!got.ok) return fail(got.problem.code, `${at}: ${object.kind} ${object.metadata.name}: ${got.problem.message}`);
    applied.push(got.value);
  }
  return ok(applied);
}

/** The resource of an object's kind, from the server's discovery. */
export async function kindOf(kube: Kube, object: { apiVersion: string; kind: string }): Promise<Result<Kind>> {
  const [first = '', second] = object.apiVersion.split('/');
  const [group, version] = second === undefined ? ['', first] : [first, second];
  const got = await kube.raw('GET', group === '' ? `/api/${version}` : `/apis/${group}/${version}`);
  if (!got.ok) {
    const hint =
      got.problem.code === 'missing'
        ? ': the server does not know this apiVersion; are the CRDs installed (fairlead crds)?'
        : '';
    return fail(got.problem.code, `${object.apiVersion} ${object.kind}${hint || `: ${got.problem.message}`}`);
  }
  const { resources } = got.value as { resources: { name: string; kind: string; namespaced: boolean }[] };
  const found = resources.find((resource) => resource.kind === object.kind && !resource.name.includes('/'));
  if (!found) return fail('missing', `${object.apiVersion} has no kind ${object.kind} on ${kube.server}`);
  return ok({ group, version, kind: object.kind, plural: found.name, namespaced: found.namespaced });
}

function filesOf(path: string): string[] {
  if (path === '-' || !statSync(path, { throwIfNoEntry: false })?.isDirectory()) return [path];
  return readdirSync(path)
    .filter((name) => /\.(ya?ml|json)$/.test(name))
    .sort()
    .map((name) => join(path, name));
}

function isList(value: unknown): value is { items: unknown[] } {
  return (
    typeof value === 'object' &&
    value !== null &&
    'items' in value &&
    Array.isArray(value.items) &&
    'kind' in value &&
    String(value.kind).endsWith('List')
  );
}

function isObject(value: unknown): value is KubeObject {
  if (typeof value !== 'object' || value === null) return false;
  const { apiVersion, kind, metadata } = value as Partial<KubeObject>;
  return typeof apiVersion === 'string' && typeof kind === 'string' && typeof metadata?.name === 'string';
}
