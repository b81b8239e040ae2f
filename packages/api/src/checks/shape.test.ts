import { parseCidr } from '@fairlead/core';
import { Ajv } from 'ajv';
import { expect, test } from 'vitest';
import { duplicateCases, ruleCases, shapeCases } from '../cases.ts';
import { definitions } from '../crds.ts';
import { makeTicket } from '../make.ts';
import { structural } from '../structural.ts';
import { checkShape } from './shape.ts';

const paths = ({ definition, object }: (typeof shapeCases)[number]) =>
  checkShape(structural(definition.spec), (object as { spec: unknown }).spec, 'spec').map((problem) => problem.path);

test.each([...shapeCases, ...duplicateCases])('$name', (row) => {
  expect(paths(row)).toEqual(row.paths);
});

test('what only rules refuse has a good shape', () => {
  expect(ruleCases.flatMap(paths)).toEqual([]);
});

/** ajv has no pruning: unknown fields are what additionalProperties: false finds. */
function closed(schema: object): object {
  const copy = structuredClone(schema) as Record<string, unknown>;
  for (const [key, value] of Object.entries(copy)) {
    if (key === 'properties')
      for (const [name, field] of Object.entries(value as object))
        (value as Record<string, object>)[name] = closed(field);
    if (key === 'items') copy[key] = closed(value as object);
  }
  return copy['properties'] ? { ...copy, additionalProperties: false } : copy;
}

test('ajv finds the same objects good and bad', () => {
  const ajv = new Ajv({
    strict: false,
    formats: {
      cidr: (text: string) => parseCidr(text).ok,
      int32: true,
      int64: true,
      password: true,
      'date-time': true,
    },
  });
  const wrong = shapeCases.filter(({ definition, object, paths: at }) => {
    const spec = (object as { spec: unknown }).spec;
    return ajv.validate(closed(structural(definition.spec)), spec) !== (at.length === 0);
  });
  expect(wrong.map(({ name }) => name)).toEqual([]);
});

test('a near miss is answered with the field that was meant', () => {
  const row = shapeCases.find(({ name }) => name === 'an unknown field is named deep inside');
  if (!row) throw new Error('bug: no such case');
  const [problem] = checkShape(structural(row.definition.spec), (row.object as { spec: unknown }).spec, 'spec');
  expect(problem?.message).toContain('Known: name, port, protocal');
});

test('a null counts as absent where null is not allowed, as the server has it', () => {
  const [, lbticket] = definitions;
  const spec = { ...makeTicket().spec, listners: null, claimer: null };
  expect(checkShape(structural(lbticket.spec), spec, 'spec')).toEqual([]);
  expect(checkShape(structural(lbticket.spec), { ...spec, namespace: null }, 'spec')).toHaveLength(1);
});
