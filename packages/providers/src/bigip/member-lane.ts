// Members of a pool by iControl REST: only what changes is written, and the next connection sees it.
import { fail, isMemberPlanEmpty, memberName, ok, problems } from '@fairlead/core';
import type { Member, MemberLane, MemberPlan, PoolRef, Result } from '@fairlead/core';
import type { Call, CallRequest } from './call.ts';
import { listOf, textOf, type Json } from './json.ts';

/** What each member of a pool gets besides its address: the attributes of the template. */
export interface MemberTemplate {
  shareNodes?: boolean | undefined;
  ratio?: number | undefined;
  connectionLimit?: number | undefined;
  priorityGroup?: number | undefined;
}

export type TemplateOf = (pool: PoolRef) => MemberTemplate;

/**
 * The mark on members that we disable, so that those an operator disabled can be told apart, also after a restart.
 *
 *   session, state          | description | read as
 *   ------------------------+-------------+-------------------------------------
 *   user-enabled, user-up   | any         | enabled
 *   user-disabled           | the mark    | draining
 *   user-disabled           | other       | draining, by hand: disabled
 *   user-down               | any         | draining, by hand: offline
 */
export const memberMark = { draining: 'fairlead: draining', enabled: 'fairlead: enabled' } as const;

/** A member as the device holds it. */
export interface DeviceMember extends Member {
  /** Ours or an operator's; a declaration must carry it, or AS3 takes the member for changed and deletes it first. */
  description?: string | undefined;
}

export function memberLane(call: Call, templateOf: TemplateOf): MemberLane {
  return {
    async read(pool, signal) {
      const answer = await call({ method: 'GET', path: membersPath(pool) }, signal);
      if (!answer.ok) return answer.problem.code === 'missing' ? ok(undefined) : answer;
      return ok(listOf(answer.value.body['items']).flatMap((item) => memberOf(item, templateOf(pool)) ?? []));
    },
    async write(pool, plan, signal) {
      if (isMemberPlanEmpty(plan)) return ok(undefined);
      const writes = await writesOf(call, { pool, plan, template: templateOf(pool) }, signal);
      if (!writes.ok) return writes;
      if (writes.value.length > 1) {
        const together = await inTransaction(
          call,
          writes.value.map(({ request }) => request),
          signal,
        );
        // One write that cannot be made fails them all; for themselves, the others can.
        if (together.ok || problems[together.problem.code].retry) return together;
      }
      return oneByOne(call, writes.value, signal);
    },
  };
}

/** All pools of a partition with their members, by `application/pool`: one request, however many there are. */
export async function membersIn(
  call: Call,
  partition: string,
  templateOf: TemplateOf,
  signal: AbortSignal,
): Promise<Result<Map<string, DeviceMember[]>>> {
  const query = `$filter=${encodeURIComponent(`partition eq ${partition}`)}&expandSubcollections=true`;
  const answer = await call({ method: 'GET', path: `/mgmt/tm/ltm/pool?${query}` }, signal);
  // A partition that is not there yet has no pools.
  if (!answer.ok) return answer.problem.code === 'missing' ? ok(new Map()) : answer;
  const pools = listOf(answer.value.body['items']).flatMap((item) => {
    const [, scope, application, pool] = (textOf(item['fullPath']) ?? '').split('/');
    if (scope !== partition || application === undefined || pool === undefined) return [];
    const template = templateOf({ scope, key: `${scope}/${application}`, pool });
    const members = listOf((item['membersReference'] as Json | undefined)?.['items']);
    return [[`${application}/${pool}`, members.flatMap((one) => deviceMember(one, template) ?? [])] as const];
  });
  return ok(new Map(pools));
}

const membersPath = ({ key, pool }: PoolRef): string => `/mgmt/tm/ltm/pool/~${key.replace('/', '~')}~${pool}/members`;

function memberPath(pool: PoolRef, member: Member, { shareNodes }: MemberTemplate): string {
  return `${membersPath(pool)}/~${shareNodes ? 'Common' : pool.scope}~${memberName(member)}`;
}

/** `10.0.0.1:80`, `2001:db8::1.80`; the address may end in a route domain, `10.0.0.1%1:80`. */
function memberOf(item: Json, template: MemberTemplate): Member | undefined {
  const name = textOf(item['name']) ?? '';
  const [, address, port] = /^(.+?)(?:%\d+)?[.:](\d+)$/.exec(name) ?? [];
  if (address === undefined || port === undefined) return undefined;
  const isDown = item['state'] === 'user-down';
  const isDisabled = item['session'] === 'user-disabled';
  const ratio =
    typeof item['ratio'] === 'number' && item['ratio'] !== (template.ratio ?? 1) ? item['ratio'] : undefined;
  const isOurs = item['description'] === memberMark.draining;
  const byHand = isDown ? ('offline' as const) : isDisabled && !isOurs ? ('disabled' as const) : undefined;
  const member: Member = { address, port: Number(port), state: isDown || isDisabled ? 'draining' : 'enabled' };
  return { ...member, ...(ratio !== undefined && { ratio }), ...(byHand && { byHand }) };
}

function deviceMember(item: Json, template: MemberTemplate): DeviceMember | undefined {
  const member = memberOf(item, template);
  return member && { ...member, description: textOf(item['description']) };
}

interface MemberWrite {
  request: CallRequest;
  /** Instead, when the device says it is there already. */
  ifExists?: CallRequest | undefined;
}

interface Writing {
  pool: PoolRef;
  plan: MemberPlan;
  template: MemberTemplate;
}

/** Adds first and removals last, so that a pool whose pods are all replaced is never empty. */
async function writesOf(
  call: Call,
  { pool, plan, template }: Writing,
  signal: AbortSignal,
): Promise<Result<MemberWrite[]>> {
  const writes: MemberWrite[] = plan.add.map((member) => ({
    request: { method: 'POST', path: membersPath(pool), body: added(pool, member, template) },
    ifExists: { method: 'PATCH', path: memberPath(pool, member, template), body: stateOf(member, template) },
  }));
  for (const member of plan.change) {
    const path = memberPath(pool, member, template);
    const isTheirs = member.state === 'enabled' ? await isByHand(call, path, signal) : ok(false);
    if (!isTheirs.ok) return isTheirs;
    if (!isTheirs.value) writes.push({ request: { method: 'PATCH', path, body: stateOf(member, template) } });
  }
  for (const member of plan.remove)
    writes.push({ request: { method: 'DELETE', path: memberPath(pool, member, template) } });
  return ok(writes);
}

/** Was the member disabled by an operator since it was read? Asked before each enabling, which is rare. */
async function isByHand(call: Call, path: string, signal: AbortSignal): Promise<Result<boolean>> {
  const answer = await call({ method: 'GET', path }, signal);
  if (!answer.ok) return answer.problem.code === 'missing' ? ok(false) : answer;
  return ok(memberOf(answer.value.body, {})?.byHand !== undefined);
}

function added(pool: PoolRef, member: Member, template: MemberTemplate): Json {
  const { shareNodes, ratio: _ratio, ...attributes } = template;
  return {
    name: memberName(member),
    partition: shareNodes ? 'Common' : pool.scope,
    address: member.address,
    ...attributes,
    ...stateOf(member, template),
  };
}

const stateOf = ({ state, ratio }: Member, template: MemberTemplate): Json => ({
  session: state === 'draining' ? 'user-disabled' : 'user-enabled',
  state: 'user-up',
  description: memberMark[state],
  ratio: ratio ?? template.ratio ?? 1,
});

async function oneByOne(call: Call, writes: readonly MemberWrite[], signal: AbortSignal): Promise<Result<void>> {
  let first: Result<void> = ok(undefined);
  for (const { request, ifExists } of writes) {
    let answer = await call(request, signal);
    if (!answer.ok && answer.problem.code === 'exists' && ifExists) answer = await call(ifExists, signal);
    // What is gone already need not be removed.
    const isDone = answer.ok || (request.method === 'DELETE' && answer.problem.code === 'missing');
    if (!isDone && !answer.ok && first.ok) first = answer;
  }
  return first;
}

/** All of `requests` or none: the device applies them in one step. */
async function inTransaction(call: Call, requests: readonly CallRequest[], signal: AbortSignal): Promise<Result<void>> {
  const begun = await call({ method: 'POST', path: '/mgmt/tm/transaction', body: {} }, signal);
  if (!begun.ok) return begun;
  const id = String(begun.value.body['transId']);
  for (const request of requests) {
    const queued = await call({ ...request, headers: { 'x-f5-rest-coordination-id': id } }, signal);
    if (!queued.ok) return queued;
  }
  const path = `/mgmt/tm/transaction/${id}`;
  const committed = await call({ method: 'PATCH', path, body: { state: 'VALIDATING' } }, signal);
  if (!committed.ok) return committed;
  const state = textOf(committed.value.body['state']);
  return state === 'COMPLETED'
    ? ok(undefined)
    : fail('conflict', `PATCH ${path}: the transaction is ${state ?? 'lost'}`);
}
