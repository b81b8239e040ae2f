import { expect, test } from 'vitest';
import { acceptNames } from './accepted-names.ts';
import type { KubeObject } from './object.ts';

const names = { plural: 'gadgets', singular: 'gadget', shortNames: ['gd'], kind: 'Gadget', listKind: 'GadgetList' };
const definition = (accepted: object = {}): KubeObject => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'gadgets.example.io' },
  spec: { names },
  status: { acceptedNames: accepted },
});
const taken = (resources: string[], kinds: string[] = []) => ({
  resources: new Set(resources),
  kinds: new Set(kinds),
});

const { kind: _, ...withoutKind } = names;
const { shortNames: __, ...withoutShort } = names;
const cases: [rule: string, found: ReturnType<typeof taken>, accepted: object, reason: string | undefined][] = [
  ['all names are given where nobody has them', taken(['widgets']), names, undefined],
  ['a kind that another has is not given', taken([], ['Gadget']), { ...withoutKind, kind: '' }, 'KindConflict'],
  ['a short name that another has is not given', taken(['gd']), withoutShort, 'ShortNamesConflict'],
  [
    'of several conflicts the last is told',
    taken(['gadgets'], ['GadgetList']),
    { plural: '', singular: 'gadget', shortNames: ['gd'], kind: 'Gadget' },
    'ListKindConflict',
  ],
];

test.each(cases)('%s', (_rule, found, accepted, reason) => {
  const result = acceptNames(definition(), found);
  expect([result.accepted, result.conflict?.reason]).toEqual([accepted, reason]);
});

test('names that were given once are kept, whoever asks for them later', () => {
  const result = acceptNames(definition(names), taken(['gadgets', 'gd'], ['Gadget']));
  expect([result.accepted, result.conflict]).toEqual([names, undefined]);
});
