// `/mgmt/shared/appsvcs/...`: AS3's own HTTP, with its lock, its tasks and its ways to say no.

import type { Clock } from '../clock.ts';
import { isObject, type Json } from '../rest/body.ts';
import { json, notRegistered } from '../rest/reply.ts';
import { classed, Invalid, readRequest, type Request3 } from './declaration.ts';
import { current, deploy, lockKey, type DeployParts, type Outcome } from './deploy.ts';
import { patched } from './json-patch.ts';
import { tenantsOf } from './validate.ts';

const versions = { version: '3.56.0', release: '10', schemaCurrent: '3.56.0', schemaMinimum: '3.0.0' };

const queries = [
  'async',
  'show',
  'showHash',
  'filterClass',
  'age',
  'controls.dryRun',
  'controls.logLevel',
  'controls.trace',
  'controls.traceResponse',
  'controls.userAgent',
  'unchecked',
];
const taskLimit = 25;
// A run that takes longer than this becomes a task though it was not asked to.
const syncLimit = 45_000;

interface Task {
  id: string;
  outcome: Json | undefined;
  begun: number;
}

export class As3 {
  #parts: DeployParts;
  #clock: Clock;
  #isBusy = false;
  #tasks: Task[] = [];
  #serial = 0;
  /** Fails the second half of the tenants of the next run. */
  isHalfNext = false;

  constructor(parts: DeployParts) {
    this.#parts = parts;
    this.#clock = parts.clock;
  }

  async answer(request: Request): Promise<Response> {
    const url = new URL(request.url);
    const [word, ...rest] = url.pathname
      .replace(/^\/mgmt\/shared\/appsvcs\/?|\/$/g, '')
      .split('/')
      .map(decodeURIComponent);
    if (word === 'info' && request.method === 'GET') return json(200, versions);
    if (word === 'task' && request.method === 'GET') return this.#answerTask(rest[0]);
    if (word !== 'declare' || rest.length > 1) return notRegistered(request);
    const unknown = [...url.searchParams.keys()].find((name) => !queries.includes(name));
    if (unknown !== undefined) return failure(400, `Invalid query parameter: ${unknown}`);
    const only = rest[0] === undefined || rest[0] === '' ? undefined : rest[0].split(',');
    try {
      return await this.#answerDeclare(request, url.searchParams, only);
    } catch (error) {
      if (!(error instanceof Invalid)) throw error;
      return json(422, { code: 422, declarationFullId: '', message: error.message, errors: error.errors });
    }
  }

  async #answerDeclare(request: Request, query: URLSearchParams, only: string[] | undefined): Promise<Response> {
    if (request.method === 'GET') return this.#get(query, only);
    if (request.method === 'DELETE') return this.#run(this.#removal(only), query, only);
    if (request.method !== 'POST' && request.method !== 'PATCH')
      return failure(405, `Method ${request.method} is not allowed`);
    const body = parse(await request.text());
    if (body === undefined) return failure(400, 'Request body is not valid JSON');
    const read = request.method === 'PATCH' ? patchRequest(body) : readRequest(body);
    if (query.get('controls.dryRun') === 'true' && read.action === 'deploy') read.action = 'dry-run';
    if (read.action === 'retrieve') return this.#get(query, only);
    if (read.action === 'remove') return this.#run(this.#removal(only), query, only);
    return this.#run(this.#resolved(read), query, only);
  }

  /** The declaration that a patch or a redeployment comes to. */
  #resolved(read: Request3): Request3 {
    if (read.action === 'patch')
      return { ...read, action: 'deploy', adc: patched(current(this.#parts.device), read.patchBody) };
    if (read.action === 'redeploy') return { ...read, action: 'deploy', adc: this.#parts.device.declared[0] ?? {} };
    return read;
  }

  /** An empty tenant for each that is to go: all of them when none is named. */
  #removal(only: string[] | undefined): Request3 {
    const now = current(this.#parts.device);
    const names = only ?? tenantsOf(now).map(([name]) => name);
    const empty = Object.fromEntries(names.map((name) => [name, { class: 'Tenant' }]));
    return {
      action: 'deploy',
      persist: true,
      adc: { class: 'ADC', schemaVersion: now['schemaVersion'] ?? '3.0.0', ...empty },
      patchBody: [],
    };
  }

  async #run(request: Request3, query: URLSearchParams, only: string[] | undefined): Promise<Response> {
    if (this.#isBusy)
      return failure(503, 'Configuration operation in progress on device, please try again in 2 minutes');
    this.#isBusy = true;
    const failAfter = this.isHalfNext ? Math.floor(tenantsOf(request.adc).length / 2) : undefined;
    this.isHalfNext = false;
    const options = { ...(only ? { only } : {}), ...(failAfter === undefined ? {} : { failAfter }) };
    const running = deploy(this.#parts, request, options).finally(() => {
      this.#isBusy = false;
    });
    if (query.get('async') === 'true') return this.#submitted(running);
    const late = new AbortController();
    const first = await Promise.race([running, this.#clock.sleep(syncLimit, late.signal)]).finally(() => late.abort());
    return first ? json(first.status, bodyOf(first, query)) : this.#submitted(running);
  }

  #submitted(running: Promise<Outcome>): Response {
    this.#serial += 1;
    const task: Task = { id: taskId(this.#clock.now(), this.#serial), outcome: undefined, begun: this.#clock.now() };
    this.#tasks = [task, ...this.#tasks].slice(0, taskLimit);
    void running.then(
      (outcome) => (task.outcome = { results: outcome.results, declaration: outcome.declaration }),
      (error: unknown) => (task.outcome = taskFailure(error)),
    );
    const results = [{ code: 0, message: 'Declaration successfully submitted', tenant: '', host: '', runTime: 0 }];
    return json(202, { id: task.id, results, declaration: {}, selfLink: selfLink(task) });
  }

  #answerTask(id: string | undefined): Response {
    const weekAgo = this.#clock.now() - 7 * 86_400_000;
    this.#tasks = this.#tasks.filter((task) => task.begun > weekAgo);
    if (id === undefined || id === '') return json(200, { items: this.#tasks.map(showTask) });
    const task = this.#tasks.find((one) => one.id === id);
    return task ? json(200, showTask(task)) : failure(404, `unable to find task ${id}`);
  }

  #get(query: URLSearchParams, only: string[] | undefined): Response {
    const age = query.get('age') ?? '0';
    const { declared } = this.#parts.device;
    if (age === 'list')
      return json(
        200,
        declared.map((adc, i) => ({ age: i, id: adc['id'], tenants: tenantsOf(adc).map(([name]) => name) })),
      );
    const show = query.get('show') ?? 'base';
    if (!['base', 'full', 'expanded'].includes(show)) return failure(400, `Invalid value of show: ${show}`);
    const adc = declared[Number(age)];
    if (!adc)
      return age === '0' && only === undefined
        ? new Response(null, { status: 204 })
        : failure(404, 'no declaration found');
    const tenants = tenantsOf(adc).filter(([name]) => !only || only.includes(name));
    if (only && tenants.length === 0)
      return failure(404, `specified Tenant(s) ${only.map((name) => `'${name}'`).join(',')} not found in declaration`);
    return json(200, shown(adc, tenants, query));
  }
}

function shown(adc: Json, tenants: [string, Json][], query: URLSearchParams): Json {
  const className = query.get('filterClass');
  const rest = Object.entries(adc).filter(([, value]) => !isObject(value) || value['class'] !== 'Tenant');
  const list = tenants.map(([name, tenant]): [string, Json] => {
    const body = className === null ? tenant : filtered(tenant, className);
    return [name, query.get('showHash') === 'true' ? { ...body, optimisticLockKey: lockKey(tenant) } : body];
  });
  return Object.fromEntries([...rest, ...list]);
}

/** Only the items of one class, with the tenants and applications around them. */
function filtered(tenant: Json, className: string): Json {
  const applications = classed(tenant, 'Application').map(([name, application]): [string, Json] => [
    name,
    { class: 'Application', ...Object.fromEntries(classed(application, className)) },
  ]);
  return { class: 'Tenant', ...Object.fromEntries(applications) };
}

function bodyOf({ results, declaration, dryRun }: Outcome, query: URLSearchParams): Json {
  const isShown = query.get('show') !== null || declaration['class'] !== undefined;
  return { ...(dryRun ? { dryRun: true } : {}), results, declaration: isShown ? declaration : {} };
}

function showTask(task: Task): Json {
  const begun = { results: [{ code: 0, message: 'in progress', tenant: '', host: '', runTime: 0 }], declaration: {} };
  return { id: task.id, ...(task.outcome ?? begun), selfLink: selfLink(task) };
}

function taskFailure(error: unknown): Json {
  if (!(error instanceof Invalid))
    return { results: [{ code: 500, message: String(error), tenant: '', host: '', runTime: 0 }], declaration: {} };
  return {
    results: [{ code: 422, message: error.message, errors: error.errors, tenant: '', host: '', runTime: 0 }],
    declaration: {},
  };
}

function selfLink(task: Task): string {
  return `https://localhost/mgmt/shared/appsvcs/task/${task.id}`;
}

/** Shaped like a UUID; unique on this device, which is all that is asked of it. */
function taskId(now: number, serial: number): string {
  const hex = `${now.toString(16).padStart(12, '0')}${serial.toString(16).padStart(20, '0')}`;
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}

function patchRequest(body: unknown): Request3 {
  const patchBody = Array.isArray(body)
    ? body
    : isObject(body) && Array.isArray(body['patchBody'])
      ? body['patchBody']
      : undefined;
  if (!patchBody) throw new Invalid([': should be array']);
  return { action: 'patch', persist: true, adc: {}, patchBody };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function failure(code: number, message: string): Response {
  return json(code, { code, message, errors: [message] });
}
