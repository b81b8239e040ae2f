// An AS3 request's body taken apart: the envelope, the ADC in it, its tenants, applications and items.

import { isObject, type Json } from '../rest/body.ts';
import { Refusal } from '../configuration/refusal.ts';

export interface Request3 {
  action: 'deploy' | 'dry-run' | 'redeploy' | 'retrieve' | 'remove' | 'patch';
  persist: boolean;
  adc: Json;
  patchBody: unknown[];
}

const actions = ['deploy', 'dry-run', 'redeploy', 'retrieve', 'remove', 'patch'] as const;
const envelopeWords = [
  'class',
  'action',
  'persist',
  'declaration',
  'patchBody',
  'redeployAge',
  'redeployUpdateMode',
  'retrieveAge',
  'syncToGroup',
  'logLevel',
  'trace',
  'historyLimit',
  'resourceTimeout',
  'userAgent',
  '$schema',
  'targetHost',
  'targetPort',
  'targetPassphrase',
  'targetUsername',
  'targetTokens',
  'targetTimeout',
  'protocol',
];

/** Thrown for a body that is no declaration; `errors` name paths. */
export class Invalid extends Refusal {
  readonly errors: string[];

  constructor(errors: string[]) {
    super(422, 'declaration is invalid');
    this.errors = errors;
  }
}

/** Reads a bare ADC or an AS3 request. */
export function readRequest(body: unknown): Request3 {
  if (!isObject(body)) throw new Invalid([': should be object']);
  if (body['class'] === 'ADC')
    return { action: isDryRun(body) ? 'dry-run' : 'deploy', persist: true, adc: body, patchBody: [] };
  if (body['class'] !== 'AS3')
    throw new Invalid(["/class: should be equal to one of the allowed values ('AS3', 'ADC')"]);
  const unknown = Object.keys(body).find((name) => !envelopeWords.includes(name));
  if (unknown !== undefined) throw new Invalid([`/${unknown}: should NOT have additional properties`]);
  const action = actions.find((word) => word === (body['action'] ?? 'deploy'));
  if (!action) throw new Invalid([`/action: should be equal to one of the allowed values (${actions.join(', ')})`]);
  const adc = body['declaration'];
  if (action === 'deploy' || action === 'dry-run') {
    if (!isObject(adc)) throw new Invalid(["/declaration: should have required property 'declaration'"]);
    return { action: isDryRun(adc) ? 'dry-run' : action, persist: body['persist'] !== false, adc, patchBody: [] };
  }
  const patch = body['patchBody'];
  return {
    action,
    persist: body['persist'] !== false,
    adc: isObject(adc) ? adc : {},
    patchBody: Array.isArray(patch) ? patch : [],
  };
}

function isDryRun(adc: Json): boolean {
  return isObject(adc['controls']) && adc['controls']['dryRun'] === true;
}

/** The members of an object that have a class: tenants of an ADC, applications of a tenant, items of an application. */
export function classed(parent: Json, className?: string): [name: string, child: Json][] {
  return Object.entries(parent).filter((entry): entry is [string, Json] => {
    const child = entry[1];
    if (!isObject(child) || typeof child['class'] !== 'string') return false;
    return className === undefined
      ? child['class'] !== 'Controls' && child['class'] !== 'Constants'
      : child['class'] === className;
  });
}

export interface Item {
  tenant: string;
  application: string;
  name: string;
  class: string;
  json: Json;
}

/** `/T/A/x`. */
export function pathOf({ tenant, application, name }: Item): string {
  return `/${tenant}/${application}/${name}`;
}

/** Everything in the applications of a tenant. */
export function itemsOf(tenant: string, json: Json): Item[] {
  return classed(json, 'Application').flatMap(([application, body]) =>
    classed(body).map(([name, item]) => ({ tenant, application, name, class: String(item['class']), json: item })),
  );
}

export function text(json: Json, name: string): string | undefined {
  const value = json[name];
  return typeof value === 'string' ? value : undefined;
}

export function number(json: Json, name: string): number | undefined {
  const value = json[name];
  return typeof value === 'number' ? value : undefined;
}

export function list(json: Json, name: string): unknown[] {
  const value = json[name];
  return Array.isArray(value) ? value : [];
}

/** The text of an iRule or a certificate: a string, or `{base64}`, or `{text}`. Nothing for other forms. */
export function textOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  if (!isObject(value)) return undefined;
  if (typeof value['base64'] === 'string') return Buffer.from(value['base64'], 'base64').toString('utf8');
  return typeof value['text'] === 'string' ? value['text'] : undefined;
}
