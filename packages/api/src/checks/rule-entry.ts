// An entry of an Lbrule as core reads it.
import type { Condition } from '@fairlead/core';
import type { LbruleEntry } from '../lbrule.ts';

/** An entry in the words of the model. */
export function conditionOf(entry: LbruleEntry): Condition {
  const tests = entry.values.map(({ operator, value }) => ({
    operator: operator === 'startwith' ? ('prefix' as const) : operator,
    value,
  }));
  return { subject: subjects[entry.type], ...(entry.key ? { key: entry.key } : {}), tests };
}

const subjects = {
  domain: 'host',
  url: 'path',
  ip: 'address',
  header: 'header',
  cookie: 'cookie',
  urlparam: 'query',
} as const;
