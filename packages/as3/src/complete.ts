// A form without what cannot be told or had now: certificates whose Secrets are missing, rules that are not on the device.
import type { AbsentRule, Completed } from '@fairlead/core';
import { isClassed, isRecord, objectsOf, type Application, type Classed } from './application.ts';
import { withoutOpen } from './certificates.ts';

/** `absent`: those of deviceRulesOf(wanted, found) that are not there. */
export function complete(
  wanted: Application,
  found: Application | undefined,
  absent: ReadonlySet<string> = new Set(),
): Completed<Application> {
  const { form, open } = withoutOpen(wanted, found);
  if (absent.size === 0) return { form, open, absent: [] };
  const rules = new Map<string, AbsentRule>();
  const left: Application = { ...form };
  for (const [name, service] of objectsOf(form)) {
    const lacking = rulesOf(service).filter((rule) => absent.has(rule));
    if (lacking.length === 0) continue;
    const present = found?.[name];
    const kept = isClassed(present) && present.class === service.class;
    if (kept) left[name] = { ...service, iRules: present['iRules'] };
    else delete left[name];
    for (const rule of lacking) rules.set(rule, { rule, kept: kept && rules.get(rule)?.kept !== false });
  }
  return { form: left, open, absent: [...rules.values()] };
}

/** Rules of the device that `wanted` names and `found` does not: a device keeps those that something names. */
export function deviceRulesOf(wanted: Application, found: Application | undefined): string[] {
  const there = new Set(found ? objectsOf(found).flatMap(([, object]) => rulesOf(object)) : []);
  const named = objectsOf(wanted).flatMap(([, object]) => rulesOf(object));
  return [...new Set(named)].filter((rule) => !there.has(rule));
}

const rulesOf = ({ iRules }: Classed): string[] =>
  Array.isArray(iRules)
    ? iRules.flatMap((one: unknown) => (isRecord(one) && typeof one['bigip'] === 'string' ? [one['bigip']] : []))
    : [];
