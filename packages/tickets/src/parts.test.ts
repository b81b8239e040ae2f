// What is kept of a compiled part, and when its objects are taken from the ConfigMap instead.
import type { ConfigMap } from '@fairlead/kube';
import { expect, test } from 'vitest';
import { configMap, heldIn } from './configmap.ts';
import { Directory } from './directory.ts';
import { tenantOf } from './names.ts';
import { part } from './part.ts';
import { parts } from './parts.ts';
import { lb, listner, ticket } from './testing/objects.ts';

const one = { ...ticket('test', { listners: [listner()] }), status: { veip: '20.1.0.1' } };
const compiled = part({ loadbalancer: lb(), ticket: one, rules: [] });
if (!compiled.ok) throw new Error(compiled.problem.message);

function begin() {
  const random = () => 0.5;
  const directory = new Directory();
  const own = parts({ directory, lbcanaries: { read: () => undefined } as never, random });
  const held = (text?: string) => () =>
    text === undefined ? undefined : heldIn(mapWith(text), tenantOf(lb(), 'shop'))('project/test');
  return { ...own, held };
}

const written = configMap({
  loadbalancer: lb(),
  namespace: 'shop',
  contributions: [{ ticket: 'project/test', created: 0, part: compiled }],
  existing: undefined,
}).object;
const template = written.data?.['template'] ?? '';
const mapWith = (text: string): ConfigMap => ({ ...written, data: { template: text } });

test('the outline says what the part does, without its objects', () => {
  const { outlineOf } = begin();
  const { pools, digest } = compiled.value;
  expect(outlineOf(one, lb())).toEqual({ ok: true, value: { pools, digest, foreigners: [] } });
});

test('what the ConfigMap has is the part, once it is written', () => {
  const { partOf, partWritten, held } = begin();
  expect(partOf(one, lb(), held())).toEqual(compiled);
  partWritten('project/test');
  expect(partOf(one, lb(), held(template))).toEqual(compiled);
});

test.each([
  ['was changed by somebody', template.replace('round-robin', 'least-connections-member')],
  ['was emptied', '{}'],
])('what %s there is not taken, and compiled again', (_, text) => {
  expect(text).not.toBe(template);
  const { partOf, partWritten, held } = begin();
  partOf(one, lb(), held());
  partWritten('project/test');
  expect(partOf(one, lb(), held(text))).toEqual(compiled);
});

test('an edit makes another part, and what was there before is not taken for it', () => {
  const { partOf, outlineOf, held } = begin();
  outlineOf(one, lb());
  const edited = { ...one, spec: { ...one.spec, listners: [listner(81)] } };
  const now = part({ loadbalancer: lb(), ticket: edited, rules: [] });
  expect(partOf(edited, lb(), held(template))).toEqual(now);
});

test('the address that we wrote into the spec ourselves is no edit, and another address is', () => {
  const { outlineOf } = begin();
  const wants = ticket('test', { listners: [listner()], veip: '20.1.0.1' });
  const outlines = [one, wants, { ...one, status: { veip: '20.1.0.2' } }].map((each) => outlineOf(each, lb()));
  expect(outlines[1]).toEqual(outlines[0]);
  expect(outlines[2]).not.toEqual(outlines[0]);
});

test('why it does not compile is kept too', () => {
  const { outlineOf, partOf, held } = begin();
  const bad = { ...one, spec: { ...one.spec, listners: [{ ...listner(), services: [] }] } };
  const refused = part({ loadbalancer: lb(), ticket: bad, rules: [] });
  expect(refused.ok).toBe(false);
  expect(outlineOf(bad, lb())).toEqual(refused);
  expect(partOf(bad, lb(), held(template))).toEqual(refused);
});
