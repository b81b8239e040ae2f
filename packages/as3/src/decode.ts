// Reads the `template` of an AS3 ConfigMap: with the AS3 envelope, as CIS wants it, or a bare ADC, as AS3 also takes it.
import { fail, ok, type Result } from '@fairlead/core';
import { byText, isApplication, isClassed, isRecord, type Application, type Classed } from './application.ts';
import { secretsOf } from './certificates.ts';
import { discoverablePools, type DiscoverablePool } from './members.ts';

export interface Decoded {
  tenants: Record<string, Record<string, Application>>;
  /** All pools that want members, by tenant, application and name. */
  pools: (DiscoverablePool & { tenant: string; application: string })[];
  /** Secrets that certificates stand open for, by tenant and application. */
  secrets: { tenant: string; application: string; secret: string }[];
  /** Paths of what was left out, such as `declaration.t1.defaultRouteDomain`: words of a tenant, which others share. */
  ignored: string[];
}

/** Problems are `invalid`, with the path in the text. Names and objects are not judged here: compile() and check() do. */
export function decode(text: string): Result<Decoded> {
  const parsed = parse(text);
  if (!parsed.ok) return parsed;
  const found = adcOf(parsed.value);
  if (!found.ok) return found;
  const { adc, path } = found.value;
  const decoded: Decoded = { tenants: {}, pools: [], secrets: [], ignored: [] };
  for (const [name, tenant] of Object.entries(adc).toSorted(([a], [b]) => byText(a, b))) {
    if (!isClassed(tenant) || tenant.class !== 'Tenant') continue;
    const read = applicationsOf(tenant, `${path}${name}`);
    if (!read.ok) return read;
    decoded.tenants[name] = read.value.applications;
    decoded.ignored.push(...read.value.ignored);
    for (const [application, body] of Object.entries(read.value.applications)) {
      decoded.pools.push(...discoverablePools(body).map((pool) => ({ ...pool, tenant: name, application })));
      decoded.secrets.push(...secretsOf(body).map((secret) => ({ tenant: name, application, secret })));
    }
  }
  if (Object.keys(decoded.tenants).length === 0)
    return fail('invalid', 'the declaration holds no object of class Tenant', path.slice(0, -1) || 'class');
  return ok(decoded);
}

function parse(text: string): Result<unknown> {
  try {
    return ok(JSON.parse(text) as unknown);
  } catch (error) {
    // The only way JSON.parse has to say that text is not JSON.
    return fail('invalid', `the template is not JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function adcOf(body: unknown): Result<{ adc: Classed; path: string }> {
  if (!isClassed(body)) return fail('invalid', 'the template has to be an object of class AS3 or ADC', 'class');
  if (body.class === 'ADC') return ok({ adc: body, path: '' });
  if (body.class !== 'AS3')
    return fail('invalid', `the template is of class ${body.class}; AS3 or ADC is wanted`, 'class');
  const { action, declaration } = body;
  if (action !== undefined && action !== 'deploy')
    return fail('invalid', `action ${JSON.stringify(action)} cannot be declared here; only deploy can`, 'action');
  if (!isClassed(declaration) || declaration.class !== 'ADC')
    return fail('invalid', 'declaration has to be an object of class ADC', 'declaration.class');
  return ok({ adc: declaration, path: 'declaration.' });
}

function applicationsOf(
  tenant: Classed,
  path: string,
): Result<{ applications: Record<string, Application>; ignored: string[] }> {
  const applications: Record<string, Application> = {};
  const ignored: string[] = [];
  for (const [name, value] of Object.entries(tenant).toSorted(([a], [b]) => byText(a, b))) {
    if (name === 'class') continue;
    if (isApplication(value)) applications[name] = value;
    else if (isRecord(value) && name !== 'constants' && name !== 'verifiers' && name !== 'controls')
      return fail('invalid', `${name} is not of class Application`, `${path}.${name}.class`);
    else ignored.push(`${path}.${name}`);
  }
  return ok({ applications, ignored });
}
