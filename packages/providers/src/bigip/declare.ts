// AS3 on a BIG-IP: what a tenant holds, and a declaration posted and followed to its end.
import { fail, ok, type Clock, type Result } from '@fairlead/core';
import { codeOf, wordsOf, type Answer, type Call } from './call.ts';
import type { Application } from '@fairlead/as3';
import { isJson, listOf, textOf, type Json } from './json.ts';

/** A tenant as AS3 has it: applications by name, its other words, and the key that notices another writer. */
export interface DeclaredTenant {
  applications: [name: string, application: Application][];
  /** Such as `defaultRouteDomain`: kept, because a tenant is written whole. */
  words: Json;
  lock: string | undefined;
}

export interface Declarations {
  /** All tenants; none when nothing was ever declared. */
  all(signal: AbortSignal): Promise<Result<Map<string, DeclaredTenant>>>;
  /** One tenant; empty when there is none of that name. */
  tenant(name: string, signal: AbortSignal): Promise<Result<DeclaredTenant>>;
  /** Declares `tenant` and waits until the device is done. Gives the device's word on it: `success`, `no change`. */
  post(tenant: string, declaration: unknown, signal: AbortSignal): Promise<Result<string>>;
}

const root = '/mgmt/shared/appsvcs';
/** A declaration is answered within 45 s, with a task when it is not done by then. Milliseconds. */
const declarePatience = 120_000;
/** Milliseconds between looks at a task, first and last. */
const looks = { first: 200, most: 5_000 };

export function declarations(call: Call, clock: Clock): Declarations {
  const read = async (path: string, signal: AbortSignal): Promise<Result<Map<string, DeclaredTenant>>> => {
    const answer = await call({ method: 'GET', path: `${root}/declare${path}?showHash=true` }, signal);
    if (!answer.ok) return answer.problem.code === 'missing' ? ok(new Map()) : answer;
    return ok(tenantsIn(answer.value.body));
  };

  /** Follows a task that the device made of a declaration: 202. */
  const follow = async (id: string, signal: AbortSignal): Promise<Result<Answer>> => {
    for (let wait = looks.first; ; wait = Math.min(wait * 1.5, looks.most)) {
      await clock.sleep(wait, signal);
      if (signal.aborted) return fail('unreachable', `task ${id}: stopped before it was done`);
      const answer = await call({ method: 'GET', path: `${root}/task/${id}` }, signal);
      // A device that is too busy to say how the task stands may still be doing it.
      if (!answer.ok && answer.problem.code !== 'busy') return answer;
      if (answer.ok && !isRunning(answer.value.body)) return answer;
    }
  };

  return {
    all: (signal) => read('', signal),
    async tenant(name, signal) {
      const tenants = await read(`/${name}`, signal);
      return tenants.ok ? ok(tenants.value.get(name) ?? { applications: [], words: {}, lock: undefined }) : tenants;
    },
    async post(tenant, body, signal) {
      const path = `${root}/declare/${tenant}`;
      const posted = await call({ method: 'POST', path, body, timeout: declarePatience }, signal);
      if (!posted.ok) return posted;
      const task = posted.value.status === 202 ? textOf(posted.value.body['id']) : undefined;
      const answer = task === undefined ? posted : await follow(task, signal);
      return answer.ok ? resultOf(`POST ${path}`, tenant, answer.value.body) : answer;
    },
  };
}

const isRunning = (body: Json): boolean => {
  const results = listOf(body['results']);
  return results.length === 0 || results.some(({ code }) => code === 0);
};

/** The word on our tenant: an answer of 200 or 207 may still hold a failure of it. */
function resultOf(what: string, tenant: string, body: Json): Result<string> {
  const results = listOf(body['results']);
  const result = results.find((one) => one['tenant'] === tenant) ?? results[0];
  if (!result) return fail('busy', `${what}: the answer has no results`);
  const code = typeof result['code'] === 'number' ? result['code'] : 0;
  if (code >= 200 && code < 300) return ok(textOf(result['message']) ?? '');
  const said = wordsOf({ results: [result], errors: body['errors'] });
  return fail(codeOf(code, said), `${what}: ${code} ${said}`);
}

function tenantsIn(adc: Json): Map<string, DeclaredTenant> {
  const tenants = Object.entries(adc).filter(([, value]) => isJson(value) && value['class'] === 'Tenant');
  return new Map(tenants.map(([name, tenant]) => [name, tenantOf(tenant as Json)]));
}

function tenantOf(tenant: Json): DeclaredTenant {
  const applications: DeclaredTenant['applications'] = [];
  const words: Json = {};
  for (const [name, value] of Object.entries(tenant)) {
    if (isApplication(value)) applications.push([name, value]);
    else if (name !== 'class' && name !== 'optimisticLockKey') words[name] = value;
  }
  return { applications, words, lock: textOf(tenant['optimisticLockKey']) };
}

const isApplication = (value: unknown): value is Application => isJson(value) && value['class'] === 'Application';
