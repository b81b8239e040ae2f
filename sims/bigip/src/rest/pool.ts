// Pools and their members through iControl REST, and what is counted of them.

import { destinationOf, identity, type Identity, type Member, type Pool } from '../configuration/object.ts';
import { alreadyThere, notFound, Refusal } from '../configuration/refusal.ts';
import type { Draft, View } from '../configuration/store.ts';
import type { Members } from '../plane/members.ts';
import { Body, isObject, type Json } from './body.ts';
import { absolute, described, splitPath } from './shapes.ts';

/** Modes that the data plane balances by. The device has more; they are refused rather than taken for another. */
export const modes = ['round-robin', 'ratio-member', 'least-connections-member', 'ratio-least-connections-member'];

export function readPool(body: Body, at: Identity, before: Pool | undefined): Pool {
  const mode = body.text('loadBalancingMode') ?? before?.loadBalancingMode ?? 'round-robin';
  if (!modes.includes(mode))
    throw new Refusal(
      400,
      `invalid property value "loadBalancingMode":"${mode}": this simulator balances by ${modes.join(', ')}`,
    );
  const members = body.list('members')?.map((item) => readMember(memberBody(item), undefined));
  const twice = members?.find((one, i) => members.findIndex((other) => other.fullPath === one.fullPath) !== i);
  if (twice) throw alreadyThere('Pool Member', twice.fullPath);
  return {
    ...at,
    ...described(body, before),
    loadBalancingMode: mode,
    monitor: body.path('monitor', before?.monitor)?.trim(),
    minActiveMembers: body.number('minActiveMembers', 0, 65_535) ?? before?.minActiveMembers ?? 0,
    members: members ?? before?.members ?? [],
  };
}

function memberBody(item: unknown): Json {
  if (typeof item === 'string') return { name: item };
  if (isObject(item)) return item;
  throw new Refusal(400, 'invalid property value "members": each must be a name or an object');
}

/** A member from `{name: "/T/10.0.0.1:80"}` or `{name: "10.0.0.1:80", partition: "T"}`. */
function readMember(json: Json, before: Member | undefined): Member {
  const body = new Body(json);
  const path = before?.fullPath ?? memberPath(json);
  const place = destinationOf(path);
  if (!place) throw new Refusal(400, `01070734:3: Configuration error: a pool member is address:port, not ${path}`);
  const { name, partition, fullPath } = identity(path);
  body.text('address');
  body.text('monitor');
  const member: Member = {
    name,
    partition,
    fullPath,
    ...described(body, before),
    ...place,
    ratio: body.number('ratio', 0, 65_535) ?? before?.ratio ?? 1,
    priorityGroup: body.number('priorityGroup', 0, 65_535) ?? before?.priorityGroup ?? 0,
    connectionLimit: body.number('connectionLimit', 0, 2 ** 31 - 1) ?? before?.connectionLimit ?? 0,
    session: administered(body, 'session', before?.session) === 'user-disabled' ? 'user-disabled' : 'user-enabled',
    state: administered(body, 'state', before?.state) === 'user-down' ? 'user-down' : 'user-up',
    generation: 0,
  };
  body.end();
  return member;
}

/** A client may send back what it read (`monitor-enabled`, `up`, `checking` ...): that leaves it as it is. */
function administered(body: Body, name: 'session' | 'state', before: string | undefined): string | undefined {
  const words =
    name === 'session'
      ? ['user-enabled', 'user-disabled', 'monitor-enabled']
      : ['user-up', 'user-down', 'up', 'down', 'checking', 'unchecked'];
  const word = body.word(name, words);
  return word?.startsWith('user-') ? word : (before ?? word);
}

function memberPath(json: Json): string {
  const { name, partition } = json;
  if (typeof name !== 'string') throw new Refusal(400, 'a pool member needs a name');
  return absolute(name, typeof partition === 'string' ? partition : undefined);
}

/** Adds, changes or removes one member. */
export const memberWrites = {
  post(draft: Draft, poolPath: string, json: Json): Member {
    const pool = poolAt(draft, poolPath);
    const member = readMember(json, undefined);
    if (pool.members.some(({ fullPath }) => fullPath === member.fullPath))
      throw alreadyThere('Pool Member', member.fullPath);
    draft.put('pool', { ...pool, members: [...pool.members, member] });
    return member;
  },
  patch(draft: Draft, poolPath: string, memberName: string, json: Json): Member {
    const pool = poolAt(draft, poolPath);
    const before = memberAt(pool, memberName);
    const member = readMember(json, before);
    draft.put('pool', { ...pool, members: pool.members.map((one) => (one === before ? member : one)) });
    return member;
  },
  delete(draft: Draft, poolPath: string, memberName: string): void {
    const pool = poolAt(draft, poolPath);
    const gone = memberAt(pool, memberName);
    draft.put('pool', { ...pool, members: pool.members.filter((one) => one !== gone) });
  },
};

export function poolAt(view: View, path: string): Pool {
  const pool = view.get('pool', path);
  if (!pool) throw notFound('Pool', path);
  return pool;
}

export function memberAt(pool: Pool, path: string): Member {
  const member = pool.members.find(({ fullPath }) => fullPath === path);
  if (!member)
    throw new Refusal(404, `01020036:3: The requested Pool Member (${pool.fullPath} ${path}) was not found.`);
  return member;
}

export function showPool(pool: Pool, members: Json[] | undefined): Json {
  return {
    loadBalancingMode: pool.loadBalancingMode,
    minActiveMembers: pool.minActiveMembers,
    ...(pool.monitor === undefined ? {} : { monitor: pool.monitor }),
    membersReference: {
      link: `${link(`ltm/pool/${tilde(pool.fullPath)}/members`)}`,
      isSubcollection: true,
      ...(members ? { items: members } : {}),
    },
  };
}

export function showMember(pool: Pool, member: Member, members: Members): Json {
  const { state, session } = members.status(pool, member);
  return {
    kind: 'tm:ltm:pool:members:membersstate',
    ...splitPath(member.fullPath),
    fullPath: member.fullPath,
    generation: pool.generation,
    selfLink: link(`ltm/pool/${tilde(pool.fullPath)}/members/${tilde(member.fullPath)}`),
    address: member.address,
    connectionLimit: member.connectionLimit,
    ...(member.description === undefined ? {} : { description: member.description }),
    priorityGroup: member.priorityGroup,
    ratio: member.ratio,
    session,
    state,
  };
}

/** `entries` of a member: connections and availability as the device nests them. */
export function memberStats(pool: Pool, member: Member, members: Members): Json {
  const { state, session, connections, total, requests } = members.status(pool, member);
  const availability =
    state === 'up' ? 'available' : state === 'unchecked' || state === 'checking' ? 'unknown' : 'offline';
  return {
    addr: { description: member.address },
    port: { value: member.port },
    poolName: { description: pool.fullPath },
    monitorStatus: { description: state },
    sessionStatus: { description: session },
    'serverside.curConns': { value: connections },
    'serverside.totConns': { value: total },
    totRequests: { value: requests },
    'status.availabilityState': { description: availability },
    'status.enabledState': { description: session === 'user-disabled' ? 'disabled' : 'enabled' },
  };
}

export function poolStats(pool: Pool, members: Members): Json {
  const all = pool.members.map((member) => members.status(pool, member));
  const up = pool.members.filter((member) => members.takes(pool, member)).length;
  const { connections, requests } = members.totals(pool.fullPath);
  const isKnown = all.some(({ state }) => state === 'up' || state === 'down' || state === 'user-down');
  return {
    tmName: { description: pool.fullPath },
    memberCnt: { value: all.length },
    activeMemberCnt: { value: up },
    'serverside.curConns': { value: all.reduce((sum, { connections }) => sum + connections, 0) },
    'serverside.totConns': { value: connections },
    totRequests: { value: requests },
    'status.availabilityState': { description: !isKnown ? 'unknown' : up > 0 ? 'available' : 'offline' },
    'status.enabledState': { description: 'enabled' },
  };
}

export function tilde(path: string): string {
  return path.replaceAll('/', '~');
}

export function link(path: string): string {
  return `https://localhost/mgmt/tm/${path}?ver=16.1.3`;
}
