// Golden cases: load balancers to their declaration and rules, each valid by F5's schema and by our own check.
import { as3Schema, golden, noAs3Schema } from '@fairlead/testkit';
import { expect, test } from 'vitest';
import { isRecord, objectsOf, type Application } from './application.ts';
import { check } from './check/check.ts';
import { compile } from './compile.ts';
import { declaration } from './declaration.ts';
import { decode } from './decode.ts';
import { fill, strip } from './members.ts';
import { marked, unmarked } from './mark.ts';
import { readCase } from './read-case.ts';

const schema = as3Schema();
const schemaProblems = schema ?? (() => []);

test("goldens are held against F5's schema, which refuses what is wrong", (context) => {
  if (!schema) return context.skip(noAs3Schema);
  const wrong = { ...declaration({ t1: {} }), declaration: { class: 'ADC', schemaVersion: '2.0.0' } };
  expect(schemaProblems(wrong)).not.toEqual([]);
});

const certificates = new Map([['shop-tls', { certificate: pem('CERTIFICATE'), privateKey: pem('PRIVATE KEY') }]]);

function pem(what: string): string {
  return `-----BEGIN ${what}-----\nAAAA\n-----END ${what}-----\n`;
}

golden(new URL('../testdata/', import.meta.url), ({ documents }) => {
  const wanted = documents.map(readCase);
  const tenants: Record<string, Record<string, Application>> = {};
  for (const lb of wanted) {
    const compiled = compile(lb);
    if (!compiled.ok) return { 'problem.json': compiled.problem };
    const [tenant = '', application = ''] = lb.key.split('/');
    (tenants[tenant] ??= {})[application] = compiled.value;
    expectReversible(compiled.value);
    expect(compile(structuredClone(lb)), 'the same twice').toEqual(compiled);
  }
  const body = declaration(tenants);
  expect(decode(JSON.stringify(body)), 'what is read back').toMatchObject({
    ok: true,
    value: { tenants, ignored: [] },
  });
  const problems = problemsOf(tenants);
  return { 'want.json': body, ...rulesOf(tenants), ...(problems.length > 0 && { 'check.json': problems }) };
});

/** Members, certificates and the mark go in and come out again without a trace. */
function expectReversible(application: Application): void {
  const mark = { owner: 'fairlead', key: 't/a', source: 'c/n/m' };
  expect(unmarked(strip(fill(marked(application, mark), members(application), certificates)))).toEqual(application);
}

const members = (application: Application) =>
  new Map(
    objectsOf(application).map(([name]) => [name, [{ address: '10.8.0.1', port: 8080, state: 'enabled' as const }]]),
  );

/** Of the declaration as it is sent: members and certificates filled in. */
function problemsOf(tenants: Record<string, Record<string, Application>>): unknown[] {
  const filled = Object.entries(tenants).map(([tenant, applications]) => {
    const each = Object.entries(applications).map(
      ([name, body]) => [name, fill(body, members(body), certificates)] as const,
    );
    return [tenant, Object.fromEntries(each)] as const;
  });
  const sent = declaration(Object.fromEntries(filled));
  expect(schemaProblems(sent), 'as sent, by the schema').toEqual([]);
  expect(schemaProblems(declaration(tenants)), 'as a template, by the schema').toEqual([]);
  return check(sent);
}

/** `<rule>.tcl`: the text as it is, to be read. */
function rulesOf(tenants: Record<string, Record<string, Application>>): Record<string, string> {
  const objects = Object.values(tenants).flatMap((applications) => Object.values(applications).flatMap(objectsOf));
  const rules = objects.filter(([, object]) => object.class === 'iRule');
  return Object.fromEntries(rules.map(([name, { iRule }]) => [`${name}.tcl`, String(iRule)]));
}

test('a case with a field that is not one is refused', () => {
  expect(() => readCase({ key: 't/a', listners: [] })).toThrow('no field listners');
  expect(isRecord(readCase({ key: 't/a' }))).toBe(true);
});
