// JSON Patch (RFC 6902) as AS3 takes it: add, remove, replace, move and copy, without test.

import { isObject, type Json } from '../rest/body.ts';
import { Invalid } from './declaration.ts';

type Container = Json | unknown[];

/** The document after the operations; the one given is not altered. */
export function patched(document: Json, operations: unknown[]): Json {
  const copy = structuredClone(document);
  operations.forEach((operation, i) => {
    if (!isObject(operation)) throw new Invalid([`/patchBody/${i}: should be object`]);
    applyOne(copy, operation, `/patchBody/${i}`);
  });
  return copy;
}

function applyOne(document: Json, operation: Json, at: string): void {
  const { op, path, from, value } = operation;
  if (typeof path !== 'string') throw new Invalid([`${at}: should have required property 'path'`]);
  switch (op) {
    case 'add':
      return put(document, path, { value, isAdd: true, at });
    case 'replace':
      return put(document, path, { value, isAdd: false, at });
    case 'remove':
      return void take(document, path, at);
    case 'move':
      return put(document, path, { value: take(document, String(from), at), isAdd: true, at });
    case 'copy':
      return put(document, path, { value: structuredClone(find(document, String(from), at)), isAdd: true, at });
    default:
      throw new Invalid([`${at}/op: should be equal to one of the allowed values (add, remove, replace, move, copy)`]);
  }
}

function split(document: Json, path: string, at: string): { parent: Container; key: string } {
  const parts = path
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
  const key = parts.pop();
  if (key === undefined || !path.startsWith('/')) throw new Invalid([`${at}/path: should be a JSON pointer`]);
  let parent: unknown = document;
  for (const part of parts) parent = child(parent, part);
  if (!isObject(parent) && !Array.isArray(parent)) throw new Invalid([`${at}/path: there is nothing at ${path}`]);
  return { parent, key };
}

function child(parent: unknown, key: string): unknown {
  if (Array.isArray(parent)) return parent[Number(key)];
  return isObject(parent) && Object.hasOwn(parent, key) ? parent[key] : undefined;
}

function find(document: Json, path: string, at: string): unknown {
  const { parent, key } = split(document, path, at);
  const value = child(parent, key);
  if (value === undefined) throw new Invalid([`${at}/path: there is nothing at ${path}`]);
  return value;
}

function take(document: Json, path: string, at: string): unknown {
  const value = find(document, path, at);
  const { parent, key } = split(document, path, at);
  if (Array.isArray(parent)) parent.splice(Number(key), 1);
  else delete parent[key];
  return value;
}

function put(document: Json, path: string, { value, isAdd, at }: { value: unknown; isAdd: boolean; at: string }): void {
  const { parent, key } = split(document, path, at);
  if (!isAdd) find(document, path, at);
  // A document is data: this name would reach every object there is.
  if (key === '__proto__') throw new Invalid([`${at}/path: ${path} is not allowed`]);
  if (!Array.isArray(parent)) parent[key] = value;
  else if (!isAdd) parent[Number(key)] = value;
  else parent.splice(key === '-' ? parent.length : Number(key), 0, value);
}
