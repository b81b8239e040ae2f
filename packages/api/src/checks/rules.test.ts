import { Environment } from '@marcbachmann/cel-js';
import { expect, test } from 'vitest';
import { definitions } from '../crds.ts';
import { ruleCases } from '../cases.ts';
import type { Definition } from '../kind.ts';
import { type Rule, rulesKey } from '../schema.ts';
import { brokenRules } from './rules.ts';

test.each(ruleCases)('$name', ({ definition, object, old, paths }) => {
  const got = brokenRules(definition, object as { spec: unknown }, old as { spec: unknown } | undefined);
  expect(got.map((problem) => problem.path)).toEqual(paths);
});

const cel = new Environment({ unlistedVariablesAreDyn: true });

/** As the API server hands objects to CEL: whole numbers are integers, and reserved words are escaped. */
function celValue(value: unknown): unknown {
  if (typeof value === 'number') return BigInt(value);
  if (Array.isArray(value)) return value.map(celValue);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, field]) => [key === 'namespace' ? '__namespace__' : key, celValue(field)]),
  );
}

/** The same rules, each asked in CEL instead. */
function inCel(definition: Definition): Definition {
  const swap = (schema: object): object => {
    const copy: Record<string, unknown> = { ...schema };
    if (copy[rulesKey]) copy[rulesKey] = (copy[rulesKey] as Rule[]).map(celRule);
    if (copy['items']) copy['items'] = swap(copy['items'] as object);
    if (copy['properties']) {
      copy['properties'] = Object.fromEntries(
        Object.entries(copy['properties'] as object).map(([name, field]) => [name, swap(field)]),
      );
    }
    return copy;
  };
  return {
    ...definition,
    spec: swap(definition.spec),
    rules: (definition.rules as Rule[]).map(celRule),
  };
}

const celRule = (rule: Rule): Rule => ({
  ...rule,
  holds: (self, oldSelf) => cel.evaluate(rule.cel, { self: celValue(self), oldSelf: celValue(oldSelf) }) === true,
});

test('the CEL of every rule says the same as its TypeScript', () => {
  const differing = ruleCases.filter(({ definition, object, old, paths }) => {
    const got = brokenRules(inCel(definition), object as { spec: unknown }, old as { spec: unknown } | undefined);
    return JSON.stringify(got.map((problem) => problem.path)) !== JSON.stringify(paths);
  });
  expect(differing.map(({ name }) => name)).toEqual([]);
});

function allRules(schema: object): Rule[] {
  const {
    properties = {},
    items,
    [rulesKey]: own = [],
  } = schema as { properties?: object; items?: object; [rulesKey]?: Rule[] };
  return [...own, ...Object.values(properties).flatMap(allRules), ...(items ? allRules(items) : [])];
}

test('every rule is broken by some case, and says what to do', () => {
  const rules = definitions.flatMap((definition) => [...allRules(definition.spec), ...(definition.rules as Rule[])]);
  const messages = ruleCases.flatMap(({ definition, object, old }) =>
    brokenRules(definition, object as { spec: unknown }, old as { spec: unknown } | undefined).map(
      (problem) => problem.message,
    ),
  );
  expect(rules.filter((rule) => !messages.includes(rule.message)).map((rule) => rule.message)).toEqual([]);
  expect(rules.filter((rule) => !/[:,] ?.+/.test(rule.message)).map((rule) => rule.message)).toEqual([]);
});

test('rules about change say so, and only they look at the object before', () => {
  const rules = definitions.flatMap((definition) => [...allRules(definition.spec), ...(definition.rules as Rule[])]);
  expect(rules.filter((rule) => rule.cel.includes('oldSelf') !== (rule.onChange === true))).toEqual([]);
});
