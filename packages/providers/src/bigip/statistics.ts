// What a BIG-IP has counted: of a virtual server by its HTTP profile, of pools and their members. Only reads.
import {
  ok,
  type ListenerStatistics,
  type PoolStatistics,
  type Result,
  type Statistics,
  type StatisticsQuestion,
} from '@fairlead/core';
import type { Call } from './call.ts';
import { isJson, textOf, type Json } from './json.ts';

/**
 *   figure              | from                                          | entry
 *   --------------------+-----------------------------------------------+------------------------------------
 *   listener requests   | ltm/virtual/~T~A~V/profiles/stats, type http  | numberReqs
 *   errors              | the same                                      | resp_5xxCnt
 *   unanswered          | the same                                      | numberReqs without resp_2xx…5xxCnt and
 *                       |                                               | passthroughWebSockets
 *   open                | ltm/virtual/~T~A~V/stats                      | clientside.curConns
 *   pool requests       | ltm/pool/~T~A~P/stats                         | totRequests
 *   pool connections    | the same                                      | serverside.totConns
 *   members, available  | ltm/pool/~T~A~P/members/stats                 | status.enabledState, availabilityState
 *
 * A device counts statuses by virtual server, not by pool: whose errors they are is for the reader to work out.
 */
export async function statistics(
  call: Call,
  { key, listener, pools }: StatisticsQuestion,
  signal: AbortSignal,
): Promise<Result<Statistics>> {
  const place = `~${key.replaceAll('/', '~')}`;
  const before = await entriesAt(call, `virtual/${place}~${listener}`, signal);
  if (!before.ok) return before;
  const profiles = await entriesAt(call, `virtual/${place}~${listener}/profiles`, signal);
  if (!profiles.ok) return profiles;
  const found: Statistics['pools'] = {};
  for (const pool of pools) {
    const of = await poolStatistics(call, `pool/${place}~${pool}`, signal);
    if (!of.ok) return of;
    found[pool] = of.value;
  }
  const http = profiles.value.find((entry) => describedBy(entry, 'typeId') === 'ltm profile http');
  if (!http) return ok({ pools: found });
  // Nothing is read in one moment: what was open before or after may have been under way in between.
  const after = await entriesAt(call, `virtual/${place}~${listener}`, signal);
  if (!after.ok) return after;
  const open = Math.max(...[before, after].map(({ value: [entry = {}] }) => valueOf(entry, 'clientside.curConns')));
  return ok({ pools: found, listener: { ...listenerStatistics(http), open } });
}

function listenerStatistics(http: Json): Omit<ListenerStatistics, 'open'> {
  const requests = valueOf(http, 'numberReqs');
  const errors = valueOf(http, 'resp_5xxCnt');
  const answered = ['resp_2xxCnt', 'resp_3xxCnt', 'resp_4xxCnt', 'passthroughWebSockets'].reduce(
    (sum, name) => sum + valueOf(http, name),
    errors,
  );
  return { requests, errors, unanswered: requests - answered };
}

async function poolStatistics(call: Call, path: string, signal: AbortSignal): Promise<Result<PoolStatistics>> {
  const pool = await entriesAt(call, path, signal);
  if (!pool.ok) return pool;
  const members = await entriesAt(call, `${path}/members`, signal);
  if (!members.ok) return members;
  const used = members.value.filter((entry) => describedBy(entry, 'status.enabledState') === 'enabled');
  const available = used.filter((entry) => describedBy(entry, 'status.availabilityState') !== 'offline');
  const [counted = {}] = pool.value;
  return ok({
    requests: valueOf(counted, 'totRequests'),
    connections: valueOf(counted, 'serverside.totConns'),
    members: used.length,
    available: available.length,
  });
}

/** The innermost `entries` of an answer: `entries` → URL → `nestedStats` → `entries`. Empty for what has none. */
async function entriesAt(call: Call, path: string, signal: AbortSignal): Promise<Result<Json[]>> {
  const answer = await call({ method: 'GET', path: `/mgmt/tm/ltm/${path}/stats` }, signal);
  if (!answer.ok) return answer;
  const { entries } = answer.value.body;
  return ok(
    Object.values(isJson(entries) ? entries : {}).flatMap((one) => {
      const nested = isJson(one) ? one['nestedStats'] : undefined;
      return isJson(nested) && isJson(nested['entries']) ? [nested['entries']] : [];
    }),
  );
}

const valueOf = (entry: Json, name: string): number => {
  const field = entry[name];
  const value = isJson(field) ? field['value'] : undefined;
  return typeof value === 'number' ? value : 0;
};

const describedBy = (entry: Json, name: string): string | undefined => {
  const field = entry[name];
  return isJson(field) ? textOf(field['description']) : undefined;
};
