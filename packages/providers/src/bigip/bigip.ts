// A BIG-IP through AS3 and iControl REST. A scope is an AS3 tenant; a load balancer is one application in it.
import { compile, complete, deviceRulesOf, type Application } from '@fairlead/as3';
import { ok, type Clock, type MemberLane, type Provider } from '@fairlead/core';
import { caller, type Call, type Fetch } from './call.ts';
import { destinationsOf } from './claims.ts';
import { declarations } from './declare.ts';
import { loggedIn, type Credentials } from './login.ts';
import { memberLane } from './member-lane.ts';
import { statistics } from './statistics.ts';
import { Tenants } from './tenants.ts';

export interface BigipOptions extends Credentials {
  /** Such as `https://192.0.2.1`. */
  url: string;
  fetch: Fetch;
  clock: Clock;
  /** Milliseconds until an answer must be there; declarations get longer. Default 30,000. */
  timeout?: number | undefined;
}

export interface Bigip extends Provider<Application> {
  members: MemberLane;
  check: NonNullable<Provider<Application>['check']>;
}

/**
 * Forms are AS3 applications without members and without our mark; those of others are kept as they are read.
 * Members that a declaration carries are those the device has at that moment, so that AS3, which compares with the
 * device, takes none away and resets no connection.
 */
export function bigip(options: BigipOptions): Bigip {
  const call = loggedIn(caller(options), options, options.clock);
  const tenants = new Tenants(call, declarations(call, options.clock));
  return {
    name: 'bigip',
    scopeOf: (lb) => lb.scope,
    compile,
    complete: async (wanted, found, signal) =>
      complete(wanted, found, await absentRules(call, deviceRulesOf(wanted, found), signal)),
    claims: destinationsOf,
    owned: (owner, signal) => tenants.owned(owner, signal),
    read: (scope, signal) => tenants.read(scope, signal),
    async check(signal) {
      // Of AS3 rather than of the device: it goes through the login, and tells that AS3 is installed and up.
      const answer = await call({ method: 'GET', path: '/mgmt/shared/appsvcs/info' }, signal);
      return answer.ok ? ok(undefined) : answer;
    },
    drifted: (scope, found, signal) => tenants.drifted(scope, found, signal),
    apply: (plan, signal) => tenants.apply(plan, signal),
    statistics: (question, signal) => statistics(call, question, signal),
    members: memberLane(call, tenants.templateOf),
  };
}

/** Those that the device says it has not. One that it cannot answer for now is taken to be there: a declaration will tell. */
async function absentRules(call: Call, rules: readonly string[], signal: AbortSignal): Promise<Set<string>> {
  const absent = new Set<string>();
  for (const rule of rules) {
    const found = await call({ method: 'GET', path: `/mgmt/tm/ltm/rule/${rule.replaceAll('/', '~')}` }, signal);
    if (!found.ok && found.problem.code === 'missing') absent.add(rule);
  }
  return absent;
}
