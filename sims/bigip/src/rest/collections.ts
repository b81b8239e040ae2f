// The writes and reads of iControl REST as functions of a draft or of the configuration: no HTTP here.

import { identity, type Identity, type Kind, type Objects } from '../configuration/object.ts';
import { alreadyThere, notFound, Refusal } from '../configuration/refusal.ts';
import type { Draft, View } from '../configuration/store.ts';
import type { Members } from '../plane/members.ts';
import { Body, isObject, type Json } from './body.ts';
import { link, memberWrites, readPool, showMember, showPool, tilde } from './pool.ts';
import { shapes, type Shape } from './shapes.ts';

/** What a path under `/mgmt/tm/` names. */
export interface Resource {
  /** `ltm/pool`, `ltm/monitor/http` ... */
  collection: string;
  /** The object, by full path; absent for the collection itself. */
  path?: string;
  /** A member of a pool, or all of them. */
  members?: { path?: string };
  isStats?: boolean;
  /** The profiles of a virtual server; there is nothing but their statistics here. */
  isProfiles?: boolean;
}

/** One write, done now or when its transaction is committed. */
export interface Write {
  method: 'POST' | 'PATCH' | 'PUT' | 'DELETE';
  resource: Resource;
  body: Json;
}

const poolShape: Omit<Shape<'pool'>, 'show'> = { kind: 'pool', word: 'tm:ltm:pool:poolstate', read: readPool };

// A partition is a folder at the top of the tree under another name.
const aliases: Record<string, string> = { 'auth/partition': 'sys/folder' };

/** Reads `/mgmt/tm/...`. Nothing when no such collection is registered. */
export function resourceOf(path: string): Resource | undefined {
  const parts = path
    .replace(/^\/mgmt\/tm\/|\/$/g, '')
    .split('/')
    .map(decodeURIComponent);
  const isStats = parts.at(-1) === 'stats';
  if (isStats) parts.pop();
  const known = Object.keys(shapes)
    .concat('ltm/pool', 'auth/partition')
    .sort((a, b) => b.length - a.length);
  const collection = known.find((name) => `${parts.join('/')}/`.startsWith(`${name}/`));
  if (collection === undefined) return undefined;
  const [name, sub, member, ...more] = parts.slice(collection.split('/').length);
  if (collection === 'ltm/virtual' && name !== undefined && sub === 'profiles' && member === undefined && isStats)
    return { collection, path: untilde(name, collection), isStats, isProfiles: true };
  if (more.length > 0 || (sub !== undefined && (sub !== 'members' || collection !== 'ltm/pool'))) return undefined;
  return {
    collection,
    ...(name === undefined ? {} : { path: untilde(name, collection) }),
    ...(sub === undefined ? {} : { members: member === undefined ? {} : { path: untilde(member, collection) } }),
    ...(isStats ? { isStats } : {}),
  };
}

function untilde(name: string, collection: string): string {
  if (name.startsWith('~')) return name.replaceAll('~', '/');
  return collection === 'auth/partition' || collection === 'sys/folder' ? `/${name}` : `/Common/${name}`;
}

/** Makes the write in the draft; answers what the request's answer shows, nothing after a delete. */
export function write(draft: Draft, { method, resource, body }: Write, members: Members): Json | undefined {
  if (resource.members && resource.path !== undefined) return writeMember(draft, { method, resource, body }, members);
  if (method === 'POST') return post(draft, resource, body, members);
  if (resource.path === undefined) throw new Refusal(400, `${method} needs the name of an object`);
  if (method === 'DELETE') return remove(draft, resource, resource.path);
  const before = found(draft, resource, resource.path);
  const at = { ...identity(resource.path), generation: before.generation };
  return put(draft, resource, { body, at, before: method === 'PATCH' ? before : undefined }, members);
}

function writeMember(draft: Draft, { method, resource, body }: Write, members: Members): Json | undefined {
  const pool = resource.path ?? '';
  const member = resource.members?.path;
  if (method === 'POST' && member === undefined) {
    const made = memberWrites.post(draft, pool, body);
    return showMember(poolIn(draft, pool), made, members);
  }
  if (member === undefined || method === 'POST') throw new Refusal(400, `${method} does not suit this path`);
  if (method === 'DELETE') return memberWrites.delete(draft, pool, member) as undefined;
  const changed = memberWrites.patch(draft, pool, member, body);
  return showMember(poolIn(draft, pool), changed, members);
}

function poolIn(view: View, path: string): Objects['pool'] {
  const pool = view.get('pool', path);
  if (!pool) throw notFound('Pool', path);
  return pool;
}

function post(draft: Draft, resource: Resource, body: Json, members: Members): Json {
  if (resource.path !== undefined) throw new Refusal(400, 'POST goes to the collection');
  const at = identity(pathOf(body, resource.collection));
  if (draft.get(kindOf(resource), at.fullPath)) throw alreadyThere(wordOf(resource), at.fullPath);
  return put(draft, resource, { body, at, before: undefined }, members);
}

function pathOf(body: Json, collection: string): string {
  const { name, partition, subPath } = body;
  if (typeof name !== 'string' || name === '') throw new Refusal(400, 'one or more properties must be specified: name');
  if (name.startsWith('/')) return name;
  const isTop =
    collection === 'auth/partition' || (collection === 'sys/folder' && (partition === '/' || partition === undefined));
  if (isTop) return `/${name}`;
  const folder = [partition ?? 'Common', ...(typeof subPath === 'string' ? [subPath] : [])].join('/');
  return `/${folder}/${name}`;
}

interface Put {
  body: Json;
  at: Identity;
  before: Identity | undefined;
}

function put(draft: Draft, resource: Resource, { body: json, at, before }: Put, members: Members): Json {
  const body = new Body(json);
  const shape = shapeOf(resource);
  // `before` is what the shape's own kind has at this path.
  const object = (shape.read as Shape['read'])(body, at, before as Objects[Kind] | undefined);
  body.end();
  draft.put(shape.kind, object);
  return show(resource, object, { members, isExpanded: false });
}

function remove(draft: Draft, resource: Resource, path: string): undefined {
  found(draft, resource, path);
  draft.delete(kindOf(resource), path);
  return undefined;
}

function found(view: View, resource: Resource, path: string): Identity {
  const object = view.get(kindOf(resource), path);
  const type = shapeOf(resource).type;
  if (!object || (type !== undefined && 'type' in object && object.type !== type))
    throw notFound(wordOf(resource), path);
  return object;
}

/** One object as a GET shows it. */
export function read(view: View, resource: Resource, showing: Showing): Json {
  return show(resource, found(view, resource, resource.path ?? ''), showing);
}

/** All objects of a collection, those of one partition when `partition` is given. */
export function readAll(view: View, resource: Resource, showing: Showing, partition?: string): Json[] {
  const { kind, type } = shapeOf(resource);
  const all: Identity[] = view.list(kind);
  const ours = all.filter((item) => type === undefined || ('type' in item && item.type === type));
  const isPartitions = resource.collection === 'auth/partition';
  const shown = ours.filter((item) => !isPartitions || ('isPartition' in item && item.isPartition === true));
  return shown
    .filter((item) => partition === undefined || item.partition === partition)
    .map((item) => show(resource, item, showing));
}

export interface Showing {
  members: Members;
  isExpanded: boolean;
}

function show(resource: Resource, object: Identity, { members, isExpanded }: Showing): Json {
  const { collection } = resource;
  const shape = shapes[aliases[collection] ?? collection];
  const rest = shape
    ? (shape.show as (item: Identity) => Json)(object)
    : showPool(
        object as Objects['pool'],
        isExpanded
          ? (object as Objects['pool']).members.map((member) => showMember(object as Objects['pool'], member, members))
          : undefined,
      );
  return {
    kind: shape?.word ?? poolShape.word,
    name: object.name,
    ...(object.fullPath === `/${object.partition}` ? {} : { partition: object.partition }),
    ...(object.subPath === undefined ? {} : { subPath: object.subPath }),
    fullPath: object.fullPath,
    generation: object.generation,
    selfLink: link(`${collection}/${tilde(object.fullPath)}`),
    ...(object.description === undefined ? {} : { description: object.description }),
    ...rest,
  };
}

function shapeOf({ collection }: Resource): Pick<Shape, 'kind' | 'read' | 'type'> {
  const shape = shapes[aliases[collection] ?? collection] ?? poolShape;
  return shape as Pick<Shape, 'kind' | 'read' | 'type'>;
}

export function kindOf(resource: Resource): Kind {
  return shapeOf(resource).kind;
}

const words: Partial<Record<Kind, string>> = {
  virtual: 'Virtual Server',
  pool: 'Pool',
  node: 'Node',
  rule: 'Rule',
  'data-group': 'value list',
  folder: 'folder',
  monitor: 'Monitor',
};

function wordOf(resource: Resource): string {
  return words[kindOf(resource)] ?? resource.collection;
}

/** The body of a write as JSON; a transaction keeps it so. */
export function bodyOf(text: string): Json {
  if (text === '') return {};
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (error) {
    throw new Refusal(400, `Found invalid JSON body in the request: ${error instanceof Error ? error.message : ''}`);
  }
  if (!isObject(json)) throw new Refusal(400, 'the body must be a JSON object');
  return json;
}
