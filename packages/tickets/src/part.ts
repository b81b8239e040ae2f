// What one ticket contributes to the ConfigMap of its namespace: AS3 objects by application, and the Services behind its pools.
import { compile } from '@fairlead/as3';
import { ok, type Result } from '@fairlead/core';
import { digest } from './digest.ts';
import { applications, inUsersWords, type TicketQuestion } from './model.ts';

export interface Part {
  /** AS3 objects: application → name → object. */
  items: Record<string, Record<string, unknown>>;
  /** `<application>/<pool>` → the Service port behind it. */
  pools: Record<string, ServicePortRef>;
  /** Of `items`: tells one edit from another. */
  digest: string;
}

export interface ServicePortRef {
  service: string;
  port: number;
}

/** Compiled alone, without its neighbours, so that what is wrong with it cannot touch them. */
export function part(question: TicketQuestion): Result<Part> {
  const lbs = applications(question);
  if (!lbs.ok) return lbs;
  const items: Part['items'] = {};
  const pools: Part['pools'] = {};
  for (const lb of lbs.value) {
    const compiled = compile(lb);
    if (!compiled.ok) return { ok: false, problem: inUsersWords(compiled.problem, lb, question.ticket) };
    const application = lb.key.slice(lb.scope.length + 1);
    items[application] = objectsIn(compiled.value);
    for (const pool of lb.pools)
      pools[`${application}/${pool.name}`] = { service: pool.service.name, port: pool.service.port };
  }
  return ok({ items, pools, digest: digest(JSON.stringify(items)) });
}

/** The named objects of an AS3 application, without its own words (class, template, label, …). */
const objectsIn = (application: object): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(application).filter(([, value]: [string, unknown]) => typeof value === 'object' && value !== null),
  );
