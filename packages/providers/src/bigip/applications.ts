// Between items of a plan and applications in a tenant: marks on and off, members in and out.
import {
  check,
  discoverablePools,
  fill,
  keyPairsIn,
  marked,
  markOf,
  strip,
  unmarked,
  type Application,
  type As3,
} from '@fairlead/as3';
import { fail, type Item, type Key, type Plan, type Problem } from '@fairlead/core';
import { destinationsOf } from './claims.ts';
import { isJson, type Json } from './json.ts';
import { memberMark, type DeviceMember } from './member-lane.ts';

/** The application's name in its tenant. */
export const nameOf = (key: Key): string => key.slice(key.indexOf('/') + 1);

/** What is marked is somebody's that we can read; what is not is kept as it is, members and all. */
export function itemOf(key: Key, application: Application): Item<Application> {
  const mark = markOf(application);
  const form = mark ? unmarked(strip(application)) : application;
  const keyPairs = mark ? keyPairsIn(application) : undefined;
  return { key, form, owner: mark?.owner ?? '', asker: mark?.source, address: addressOf(form), keyPairs };
}

/** All of `plan.after` by name. `live`: what pools that are there already hold, by `application/pool`. */
export function applicationsOf(
  plan: Plan<Application>,
  live: ReadonlyMap<string, readonly DeviceMember[]>,
): Record<string, Application> {
  return Object.fromEntries(
    plan.after.map((item) => {
      const name = nameOf(item.key);
      if (item.owner === '') return [name, item.form];
      const members = new Map<string, readonly DeviceMember[]>();
      for (const { pool } of discoverablePools(item.form)) {
        const started = item.members?.get(pool)?.map((one) => ({ ...one, description: memberMark[one.state] }));
        members.set(pool, live.get(`${name}/${pool}`) ?? started ?? []);
      }
      const mark = { owner: item.owner, key: item.key, source: item.asker ?? '' };
      return [name, marked(asOnDevice(fill(item.form, members, item.keyPairs), members), mark)];
    }),
  );
}

/** Says of each member what else the device has of it, so that AS3 finds nothing to change. */
function asOnDevice(application: Application, members: ReadonlyMap<string, readonly DeviceMember[]>): Application {
  const said = { ...application };
  for (const [pool, list] of members) {
    const object = application[pool];
    if (!isJson(object) || !Array.isArray(object['members'])) continue;
    const byPlace = new Map(list.map((member) => [`${member.address} ${member.port}`, member]));
    said[pool] = {
      ...object,
      members: object['members'].map((entry: Json) => ({ ...entry, ...wordsOn(entry, byPlace) })),
    };
  }
  return said;
}

function wordsOn(entry: Json, byPlace: ReadonlyMap<string, DeviceMember>): Json {
  const [address] = Array.isArray(entry['serverAddresses']) ? (entry['serverAddresses'] as unknown[]) : [];
  const member = byPlace.get(`${String(address)} ${String(entry['servicePort'])}`);
  return {
    ...(member?.description !== undefined && { remark: member.description }),
    ...(member?.byHand === 'offline' && { adminState: 'offline' }),
  };
}

/** The first thing wrong with what the plan changes. What is there already was taken by the device, whatever we think. */
export function problemOf({ scope, create, update }: Plan<Application>, body: As3): Problem | undefined {
  const keys = [...create, ...update.map(({ to }) => to)].map(({ key }) => `/${scope}/${nameOf(key)}`);
  const isChanged = (path = ''): boolean => keys.some((key) => path === key || path.startsWith(`${key}/`));
  const first = check(body).find(({ path }) => isChanged(path));
  return first && fail(first.code, `${first.path}: ${first.message}`, first.path).problem;
}

/** Where it is reached: the first of its addresses. */
export const addressOf = (form: Application): string | undefined => destinationsOf(form)[0]?.replace(/:\d+\/\w+$/, '');
