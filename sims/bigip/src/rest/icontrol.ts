// iControl REST: `/mgmt/tm/...` requests to reads of the configuration and writes of the device.

import { Refusal } from '../configuration/refusal.ts';
import type { Device } from '../device.ts';
import type { Json } from './body.ts';
import { bodyOf, kindOf, read, readAll, resourceOf, write, type Resource, type Write } from './collections.ts';
import { link, memberAt, memberStats, poolAt, poolStats, showMember, tilde } from './pool.ts';
import { json, notRegistered, refused } from './reply.ts';
import { profileStats, virtualStats } from './virtual.ts';
import type { Transactions } from './transactions.ts';

export interface IControlParts {
  device: Device;
  transactions: Transactions;
  /** Called for each write of a pool's member that was made. */
  onMemberWrite(): void;
}

export async function icontrol(parts: IControlParts, request: Request): Promise<Response> {
  try {
    return await answer(parts, request);
  } catch (error) {
    if (error instanceof Refusal) return refused(error.status, error.message);
    throw error;
  }
}

async function answer(parts: IControlParts, request: Request): Promise<Response> {
  const { pathname } = new URL(request.url);
  const special = await answerSpecial(parts, request, pathname);
  if (special) return special;
  const resource = resourceOf(pathname);
  if (!resource) return notRegistered(request);
  if (request.method === 'GET') return json(200, get(parts.device, resource, new URL(request.url).searchParams));
  const { method } = request;
  if (method !== 'POST' && method !== 'PATCH' && method !== 'PUT' && method !== 'DELETE')
    return refused(405, `method ${method} is not allowed`);
  const command: Write = { method, resource, body: bodyOf(await request.text()) };
  const coordination = request.headers.get('x-f5-rest-coordination-id');
  if (coordination !== null) return json(200, parts.transactions.add(Number(coordination), request.url, command));
  const shown = await parts.device.change((draft) => write(draft, command, parts.device.plane.members));
  count(parts, command);
  return shown ? json(200, current(parts.device, command, shown)) : new Response(null, { status: 200 });
}

/** What the write made, with the generation it was given. */
function current(device: Device, { resource }: Write, shown: Json): Json {
  const path = resource.members ? resource.path : shown['fullPath'];
  const made = typeof path === 'string' ? device.configuration.get(kindOf(resource), path) : undefined;
  return { ...shown, generation: made?.generation ?? shown['generation'] };
}

function count({ onMemberWrite }: IControlParts, { resource, body }: Write): void {
  if (resource.members || (resource.collection === 'ltm/pool' && 'members' in body)) onMemberWrite();
}

/** The paths that are not collections of objects. */
async function answerSpecial(parts: IControlParts, request: Request, pathname: string): Promise<Response | undefined> {
  const path = pathname.replace(/^\/mgmt\/tm\/|\/$/g, '');
  if (path === 'sys/version' && request.method === 'GET') return json(200, version);
  if (path === 'sys/config' && request.method === 'POST') return save(parts, request);
  const transaction = /^transaction(?:\/(\d+)(\/commands)?)?$/.exec(path);
  if (transaction) return answerTransaction(parts, request, transaction);
  return undefined;
}

async function save({ device }: IControlParts, request: Request): Promise<Response> {
  const body = bodyOf(await request.text());
  if (body['command'] !== 'save') throw new Refusal(400, 'sys/config takes {"command": "save"}');
  device.save();
  return json(200, { kind: 'tm:sys:config:savestate', command: 'save', options: [{}] });
}

async function answerTransaction(
  parts: IControlParts,
  request: Request,
  [, word, sub]: RegExpExecArray,
): Promise<Response> {
  const { transactions } = parts;
  if (word === undefined) {
    if (request.method === 'POST') return json(200, transactions.begin());
    return json(200, { kind: 'tm:transaction:transactioncollectionstate', items: transactions.list() });
  }
  const id = Number(word);
  if (sub !== undefined)
    return json(200, { kind: 'tm:transaction:commands:commandscollectionstate', items: transactions.commands(id) });
  if (request.method === 'GET') return json(200, transactions.get(id));
  if (request.method === 'DELETE') {
    transactions.cancel(id);
    return new Response(null, { status: 200 });
  }
  const { shown, commands } = await transactions.commit(id, bodyOf(await request.text())['state']);
  for (const command of commands) count(parts, command);
  return json(200, shown);
}

function get(device: Device, resource: Resource, query: URLSearchParams): Json {
  if (resource.collection === 'ltm/pool' && resource.isStats) return stats(device, resource);
  if (resource.isProfiles) return profileStats(device, resource.path ?? '');
  if (resource.isStats && resource.collection === 'ltm/virtual') return virtualStats(device, resource.path);
  if (resource.isStats) throw new Refusal(404, `${resource.collection} has no stats here`);
  const showing = { members: device.plane.members, isExpanded: query.get('expandSubcollections') === 'true' };
  if (resource.members && resource.path !== undefined) return getMembers(device, resource, query);
  if (resource.path !== undefined) return select(read(device.configuration, resource, showing), query);
  const items = readAll(device.configuration, resource, showing, partitionOf(query));
  return collection(resource.collection, items, query);
}

function getMembers(device: Device, resource: Resource, query: URLSearchParams): Json {
  const pool = poolAt(device.configuration, resource.path ?? '');
  const show = (path?: string): Json[] =>
    (path === undefined ? pool.members : [memberAt(pool, path)]).map((member) =>
      showMember(pool, member, device.plane.members),
    );
  const one = resource.members?.path;
  if (one !== undefined) return select(show(one)[0] ?? {}, query);
  return collection(`ltm/pool/${tilde(pool.fullPath)}/members`, show(), query);
}

function collection(path: string, items: Json[], query: URLSearchParams): Json {
  const skip = Number(query.get('$skip') ?? 0);
  const top = Number(query.get('$top') ?? items.length);
  const page = items.slice(skip, skip + top).map((item) => select(item, query));
  const kind = `tm:${path.replace(/\/~[^/]*/, '').replaceAll('/', ':')}:${path.split('/').at(-1) ?? ''}collectionstate`;
  // An empty collection has no items at all, on a device.
  return { kind, selfLink: link(path), ...(page.length > 0 ? { items: page } : {}) };
}

function select(item: Json, query: URLSearchParams): Json {
  const names = query.get('$select')?.split(',');
  return names ? Object.fromEntries(Object.entries(item).filter(([name]) => names.includes(name))) : item;
}

function partitionOf(query: URLSearchParams): string | undefined {
  const filter = query.get('$filter');
  if (filter === null) return undefined;
  const match = /^partition eq '?([^\s']+)'?$/.exec(filter.trim());
  if (!match) throw new Refusal(400, `$filter takes "partition eq NAME", not "${filter}"`);
  return match[1];
}

function stats(device: Device, resource: Resource): Json {
  const { members } = device.plane;
  const nest = (path: string, entries: Json): [string, Json] => [
    `https://localhost/mgmt/tm/${path}/stats`,
    { nestedStats: { kind: 'tm:ltm:pool:poolstats', selfLink: link(`${path}/stats`), entries } },
  ];
  const pools =
    resource.path === undefined ? device.configuration.list('pool') : [poolAt(device.configuration, resource.path)];
  const entries = pools.flatMap((pool) => {
    const path = `ltm/pool/${tilde(pool.fullPath)}`;
    if (!resource.members) return [nest(`${path}/${tilde(pool.fullPath)}`, poolStats(pool, members))];
    const chosen = resource.members.path === undefined ? pool.members : [memberAt(pool, resource.members.path)];
    return chosen.map((member) =>
      nest(`${path}/members/${tilde(member.fullPath)}`, memberStats(pool, member, members)),
    );
  });
  return {
    kind: 'tm:ltm:pool:poolcollectionstats',
    selfLink: link('ltm/pool/stats'),
    entries: Object.fromEntries(entries),
  };
}

const version: Json = {
  kind: 'tm:sys:version:versionstats',
  selfLink: link('sys/version'),
  entries: {
    'https://localhost/mgmt/tm/sys/version/0': {
      nestedStats: {
        entries: {
          Build: { description: '0.0.12' },
          Edition: { description: 'Simulated' },
          Product: { description: 'BIG-IP' },
          Title: { description: 'Main Package' },
          Version: { description: '16.1.3' },
        },
      },
    },
  },
};
