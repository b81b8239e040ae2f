// Makes gen/words.ts from F5's schema and compares; `GOLDEN=update` writes it.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { isRecord } from '../application.ts';

const schemaFile = new URL('../../../../../shared/data/as3-schema.json', import.meta.url);
const wordsFile = new URL('../gen/words.ts', import.meta.url);
const emitted = {
  AS3: 'AS3',
  ADC: 'ADC',
  Tenant: 'Tenant',
  Application: 'Application',
  Service_HTTP: 'Service_HTTP',
  Service_HTTPS: 'Service_HTTPS',
  Service_TCP: 'Service_TCP',
  Service_UDP: 'Service_UDP',
  Pool: 'Pool',
  Pool_Member: 'Pool_Member',
  Monitor: 'Monitor',
  iRule: 'IRule',
  Data_Group: 'Data_Group',
  TLS_Server: 'TLS_Server',
  Certificate: 'Certificate',
};

/** Property names of an object under `schema`, whatever branch it takes. */
function words(schema: unknown, definitions: Record<string, unknown>, seen: Set<unknown> = new Set()): string[] {
  if (Array.isArray(schema)) return schema.flatMap((each) => words(each, definitions, seen));
  if (!isRecord(schema) || seen.has(schema)) return [];
  seen.add(schema);
  const reference = typeof schema['$ref'] === 'string' ? definitions[schema['$ref'].replace('#/definitions/', '')] : [];
  const branches = ['allOf', 'anyOf', 'oneOf', 'if', 'then', 'else'].map((word) => schema[word]);
  const own = isRecord(schema['properties']) ? Object.keys(schema['properties']) : [];
  return [...own, ...words([reference, ...branches], definitions, seen)];
}

test('the words of each class are those of the schema', (context) => {
  if (!existsSync(schemaFile)) return context.skip("F5's schema is not beside this repository");
  const schema: unknown = JSON.parse(readFileSync(schemaFile, 'utf8'));
  const definitions = isRecord(schema) && isRecord(schema['definitions']) ? schema['definitions'] : {};
  const lines = Object.entries(emitted).map(([name, definition]) => {
    const list = [...new Set(words(definitions[definition], definitions))].toSorted();
    return `  ${name}: ${JSON.stringify(list.join(' ')).replaceAll('"', "'")},`;
  });
  const text = [
    "// Made from F5's AS3 schema 3.56.0 by check/words.test.ts: the property names each class takes. Do not edit.",
    'export const words: Readonly<Record<string, string>> = {',
    ...lines,
    '};',
    '',
  ].join('\n');
  if (process.env['GOLDEN'] === 'update') writeFileSync(wordsFile, text);
  expect(readFileSync(wordsFile, 'utf8')).toBe(text);
});
