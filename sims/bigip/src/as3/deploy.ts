// One AS3 run: validate, then tenant by tenant compare with the device and change it, each tenant a transaction of its own.

import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '../clock.ts';
import { Refusal } from '../configuration/refusal.ts';
import type { Device } from '../device.ts';
import { isObject, type Json } from '../rest/body.ts';
import { classed, Invalid, type Request3 } from './declaration.ts';
import type { Scene } from './pointers.ts';
import { translate } from './translate.ts';
import { canonical, updateOf, type Update } from './update.ts';
import { tenantsOf, validate } from './validate.ts';

/** What a run costs, in ms: the measured device spends most of its time outside the transaction. */
export interface Slowness {
  perRun: number;
  perTenant: number;
  perChange: number;
}

export interface DeployParts {
  device: Device;
  clock: Clock;
  slowness: Slowness;
  /** A further check, of the JSON schema say: errors as "path: why". */
  check?: ((body: unknown) => string[]) | undefined;
  onAccepted(): void;
}

export interface TenantResult {
  code: number;
  message: string;
  response?: string;
  lineCount: number;
  host: string;
  tenant: string;
  runTime: number;
  declarationId?: string;
}

export interface Outcome {
  status: number;
  results: TenantResult[];
  declaration: Json;
  dryRun?: boolean;
}

interface Run {
  parts: DeployParts;
  adc: Json;
  scene: Scene;
  isDry: boolean;
}

/** Deploys the tenants of the declaration, or only those named. `failAfter` fails the tenants from that one on (a fault). */
export async function deploy(
  parts: DeployParts,
  request: Request3,
  options: { only?: string[]; failAfter?: number },
): Promise<Outcome> {
  const adc = request.adc;
  const errors = [...(parts.check?.(adc) ?? []), ...validate(adc, sceneOf(parts.device, adc))];
  if (errors.length > 0) throw new Invalid(errors);
  const run: Run = { parts, adc, scene: sceneOf(parts.device, adc), isDry: request.action === 'dry-run' };
  const tenants = tenantsToRun(run, options.only);
  await parts.clock.sleep(parts.slowness.perRun + parts.slowness.perTenant * tenants.length);
  const results: TenantResult[] = [];
  for (const [i, [name, json]] of tenants.entries()) {
    const isFault = options.failAfter !== undefined && i >= options.failAfter;
    results.push(
      isFault
        ? result(run, name, { code: 500, message: 'declaration failed', response: '01070712:3: mcpd connection lost' })
        : await runTenant(run, name, json),
    );
  }
  if (!run.isDry) remember(parts.device, adc, results);
  const isGood = results.every(({ code }) => code < 300);
  if (isGood && !run.isDry) parts.onAccepted();
  return {
    status: statusOf(results),
    results,
    declaration: current(parts.device),
    ...(run.isDry ? { dryRun: true } : {}),
  };
}

function statusOf(results: TenantResult[]): number {
  const codes = new Set(results.map(({ code }) => code));
  return codes.size === 0 ? 200 : codes.size === 1 ? ([...codes][0] ?? 200) : 207;
}

/** In complete mode the tenants left out are removed; selective leaves them be. */
function tenantsToRun({ adc, parts }: Run, only: string[] | undefined): [string, Json][] {
  const named = tenantsOf(adc).filter(([name]) => !only || only.includes(name));
  if (adc['updateMode'] !== 'complete') return named;
  const left = tenantsOf(current(parts.device)).filter(([name]) => !(name in adc) && name !== 'Common');
  return [...named, ...left.map(([name]): [string, Json] => [name, { class: 'Tenant' }])];
}

async function runTenant(run: Run, name: string, json: Json): Promise<TenantResult> {
  const { clock, device, slowness } = run.parts;
  const started = clock.now();
  const key = json['optimisticLockKey'];
  if (typeof key === 'string' && key !== '' && key !== lockKey(current(device)[name])) {
    return result(run, name, {
      code: 422,
      message: 'declaration failed',
      response: 'optimisticLockKey does not match the running configuration',
    });
  }
  try {
    const planned = await device.exclusive(() => plan(run, name, json));
    // The device goes on with other writes meanwhile, as members by REST; what counts is what it holds at the end.
    await clock.sleep(slowness.perChange * planned.count);
    const count = run.isDry ? planned.count : await device.exclusive(() => change(run, name, json));
    const time = { runTime: clock.now() - started, lineCount: count === 0 ? 0 : 20 + count };
    return { ...result(run, name, { code: 200, message: count === 0 ? 'no change' : 'success' }), ...time };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const failed = result(run, name, { code: 422, message: 'declaration failed', response: error.message });
    return { ...failed, runTime: clock.now() - started };
  }
}

/** What the tenant needs. All of it is checked before any of it is made, so that a tenant that fails keeps its members too. */
async function plan({ parts, scene }: Run, name: string, json: Json): Promise<Update> {
  const update = updateOf(name, translate(name, json, scene), parts.device.configuration);
  if (update.count > 0) await parts.device.check(update.draft);
  return update;
}

async function change(run: Run, name: string, json: Json): Promise<number> {
  const { device } = run.parts;
  const update = await plan(run, name, json);
  if (update.count === 0) return 0;
  if (update.first.changes().length > 0) await device.commit(update.first);
  await device.commit(update.draft);
  return update.count;
}

function result(
  { adc }: Run,
  tenant: string,
  words: Pick<TenantResult, 'code' | 'message' | 'response'>,
): TenantResult {
  const id = adc['id'];
  return {
    ...words,
    lineCount: 0,
    host: 'localhost',
    tenant,
    runTime: 0,
    ...(typeof id === 'string' ? { declarationId: id } : {}),
  };
}

/** The declaration as it stands: an ADC with all tenants declared so far, or an empty object. */
export function current(device: Device): Json {
  return device.declared[0] ?? {};
}

function remember(device: Device, adc: Json, results: TenantResult[]): void {
  const before = current(device);
  const after: Json = Object.fromEntries(
    Object.entries(adc).filter(([, value]) => !isObject(value) || value['class'] !== 'Tenant'),
  );
  for (const [name, json] of tenantsOf(before)) after[name] = json;
  for (const { code, tenant } of results) {
    if (code >= 300) continue;
    const json = adc[tenant];
    if (isObject(json) && classed(json, 'Application').length > 0) after[tenant] = withoutKey(json);
    else delete after[tenant];
  }
  if (isDeepStrictEqual(after, before)) return;
  const isEmpty = tenantsOf(after).length === 0;
  device.declared = [...(isEmpty ? [] : [after]), ...device.declared].slice(0, 4);
  if (isEmpty) device.declared = [];
  device.save();
}

function withoutKey(tenant: Json): Json {
  return Object.fromEntries(Object.entries(tenant).filter(([name]) => name !== 'optimisticLockKey'));
}

/** Equal for equal declarations; shown with `showHash=true`. */
export function lockKey(tenant: unknown): string {
  return tenant === undefined ? '' : createHash('sha256').update(canonical(tenant)).digest('base64');
}

/** Pointers may lead to tenants declared before. */
function sceneOf(device: Device, adc: Json): Scene {
  return { tenants: { ...current(device), ...adc }, device: device.configuration };
}
