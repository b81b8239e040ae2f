// Members in an application: which pools take them, filling them in for a write of the whole tenant, and taking them
// out again, so that what a place holds compares equal with what was compiled.
import type { KeyPair, Member } from '@fairlead/core';
import {
  byText,
  isClassed,
  isRecord,
  objectsOf,
  type Application,
  type Classed,
  type PoolMember,
} from './application.ts';
import { closed, reopened } from './certificates.ts';
import { withConstants } from './mark.ts';

/** A pool that wants members: spec f5.md §3.1. */
export interface DiscoverablePool {
  pool: string;
  /** Port of the Service (CIS) or of its endpoints (CIS-C); 80 when the template says none. */
  servicePort: number;
  /** Attributes each member gets. */
  template: PoolMember;
}

/** Pools whose `members[0].serverAddresses` is there and empty. Pools with fixed addresses are the user's own. */
export function discoverablePools(application: Application): DiscoverablePool[] {
  const pools = objectsOf(application).flatMap(([pool, object]) => {
    const template = templateOf(object);
    return template ? [{ pool, servicePort: template.servicePort, template }] : [];
  });
  return pools.toSorted((a, b) => byText(a.pool, b.pool));
}

/**
 * `application` with members in its discoverable pools: one entry per address, sorted, with the template's attributes.
 * Draining members take no new connections. A pool without members stays a template, which AS3 makes an empty pool of.
 * Certificates are filled in by what they stand open for. What stood there before is kept in `constants`, for strip().
 */
export function fill(
  application: Application,
  members: ReadonlyMap<string, readonly Member[]>,
  keyPairs: ReadonlyMap<string, KeyPair> = new Map(),
): Application {
  const filled: Application = { ...application };
  const pools: object[] = [];
  const open: object[] = [];
  for (const [name, object] of objectsOf(application)) {
    const template = templateOf(object);
    const found = members.get(name) ?? [];
    if (template && found.length > 0) {
      filled[name] = { ...object, members: [...entries(template, found), ...fixedMembers(object)] };
      pools.push({ name, members: object['members'] });
    }
    const certificate = closed(name, object, keyPairs);
    if (!certificate) continue;
    filled[name] = certificate.object;
    open.push(certificate.opened);
  }
  return withConstants(filled, { pools: orNothing(pools), certificates: orNothing(open) });
}

/** The application as it was before fill(); one that was not filled comes back as it is. */
export function strip(application: Application): Application {
  const stripped: Application = { ...application };
  const { constants } = application;
  if (!isRecord(constants)) return stripped;
  for (const { name, ...before } of records(constants['pools'])) {
    const object = application[String(name)];
    if (!isClassed(object)) continue;
    const { members: _, ...rest } = object;
    stripped[String(name)] = { ...rest, class: object.class, ...before };
  }
  for (const before of records(constants['certificates'])) {
    const object = application[String(before['name'])];
    if (isClassed(object)) stripped[String(before['name'])] = reopened(object, before);
  }
  return withConstants(stripped, { pools: undefined, certificates: undefined });
}

function templateOf(object: Classed): PoolMember | undefined {
  if (object.class !== 'Pool' || !Array.isArray(object['members'])) return undefined;
  const first: unknown = object['members'][0];
  if (!isRecord(first) || !Array.isArray(first['serverAddresses']) || first['serverAddresses'].length > 0)
    return undefined;
  const port = first['servicePort'];
  return { ...first, servicePort: typeof port === 'number' ? port : 80 };
}

/** What a user wrote behind the template stays. */
const fixedMembers = (object: Classed): unknown[] =>
  Array.isArray(object['members']) ? object['members'].slice(1) : [];

function entries(template: PoolMember, members: readonly Member[]): PoolMember[] {
  const sorted = members.toSorted((a, b) => byText(a.address, b.address) || a.port - b.port);
  return sorted.map(({ address, port, state, ratio }) => ({
    ...template,
    servicePort: port,
    serverAddresses: [address],
    ...(ratio !== undefined && { ratio }),
    ...(state === 'draining' && { adminState: 'disable' as const }),
  }));
}

const orNothing = (list: object[]): object[] | undefined => (list.length > 0 ? list : undefined);

const records = (value: unknown): Record<string, unknown>[] => (Array.isArray(value) ? value.filter(isRecord) : []);
