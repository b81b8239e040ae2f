import { expect, test } from 'vitest';
import { parseManifests } from './manifests.ts';

const object = (name: string) => `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}}\n`;

test('several documents and lists give their objects, each with its place', () => {
  const got = parseManifests(
    `${object('a')}---\n${object('b')}---\n---\n{"apiVersion":"v1","kind":"List","items":[{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c"}}]}\n`,
    'x.yaml',
  );
  expect(got.ok && got.value.map((m) => `${m.at} ${m.object.metadata.name}`)).toEqual([
    'x.yaml:1 a',
    'x.yaml:5 b',
    'x.yaml:10 c',
  ]);
});

test('values are read by YAML 1.1, as kubectl reads them', () => {
  const got = parseManifests(`${object('a')}data: {on: yes, mode: 014}\n`, 'x.yaml');
  expect(got.ok && got.value[0]?.object).toMatchObject({ data: { true: true, mode: 12 } });
});

test.each([
  ['YAML that does not parse', 'a: [1\nb: 2\n', 'x.yaml:'],
  ['a document that is no object', 'just: words\n', 'apiVersion, kind and metadata.name'],
])('%s is refused with its place', (_, text, words) => {
  const got = parseManifests(text, 'x.yaml');
  expect(!got.ok && got.problem.message).toContain(words);
});
