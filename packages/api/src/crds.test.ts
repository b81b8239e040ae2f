import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { crds, definitions } from './crds.ts';
import { filled } from './fill.ts';
import { crdFiles } from './gen.ts';
import { makeTicket } from './make.ts';
import { type Structural, structural } from './structural.ts';

const root = new URL('../../../', import.meta.url);

test('generated files are what is committed', () => {
  const stale = Object.entries(crdFiles()).filter(([path, text]) => {
    const file = new URL(path, root);
    return !existsSync(file) || readFileSync(file, 'utf8') !== text;
  });
  expect(stale.map(([path]) => path)).toEqual([]);
});

/** Every node below a schema, with its path. */
function nodes(schema: Structural, path: string): { path: string; node: Structural }[] {
  return [
    { path, node: schema },
    ...Object.entries(schema.properties ?? {}).flatMap(([name, field]) => nodes(field, `${path}.${name}`)),
    ...(schema.items ? nodes(schema.items, `${path}[]`) : []),
    ...(schema.additionalProperties ? nodes(schema.additionalProperties, `${path}{}`) : []),
  ];
}

const all = definitions.flatMap((d) => [
  ...nodes(structural(d.spec), `${d.kind.kind}.spec`),
  ...nodes(structural(d.status), `${d.kind.kind}.status`),
]);
const pathsWhere = (test: (node: Structural) => boolean) =>
  all.filter(({ node }) => test(node)).map(({ path }) => path);

test.each([
  ['no field lacks a type', (n: Structural) => n.type === undefined],
  [
    'no object has both fields and free keys',
    (n: Structural) => n.properties !== undefined && n.additionalProperties !== undefined,
  ],
  ['no list lacks the type of its elements', (n: Structural) => n.type === 'array' && n.items === undefined],
  [
    'no list lacks its kind of list',
    (n: Structural) => n.type === 'array' && n['x-kubernetes-list-type'] === undefined,
  ],
  [
    'every key of a list-map is required of its elements, or has a default',
    (n: Structural) =>
      (n['x-kubernetes-list-map-keys'] ?? []).some(
        (key) => !n.items?.required?.includes(key) && n.items?.properties?.[key]?.default === undefined,
      ),
  ],
  ['every choice is text', (n: Structural) => n.enum !== undefined && n.type !== 'string'],
  [
    'no text is without a bound',
    (n: Structural) => n.type === 'string' && n.maxLength === undefined && n.enum === undefined,
  ],
])('%s', (_, isWrong) => {
  expect(pathsWhere(isWrong)).toEqual([]);
});

test('every list a user writes is bounded, for the server multiplies the cost of rules by it', () => {
  const unbounded = all.filter(
    ({ path, node }) => path.includes('.spec') && node.type === 'array' && node.maxItems === undefined,
  );
  expect(unbounded.map(({ path }) => path)).toEqual([]);
});

test('every field says what it is', () => {
  const silent = all.filter(({ path, node }) => /[a-zA-Z]$/.test(path) && (!node.description || !node.title));
  expect(silent.map(({ path }) => path)).toEqual([]);
});

test('every rule points to a field that is there', () => {
  const wrong = all.flatMap(({ path, node }) =>
    (node['x-kubernetes-validations'] ?? [])
      .filter(({ fieldPath }) => fieldPath && !all.some((other) => other.path === `${path}${fieldPath}`))
      .map(({ rule }) => `${path}: ${rule}`),
  );
  expect(wrong).toEqual([]);
});

test('a schema word without a structural form is a bug, not a weaker CRD', () => {
  expect(() => structural({ type: 'string', contains: 'x' } as object)).toThrow('contains');
});

test('kubectl get shows each kind under its short name, with columns whose paths exist', () => {
  expect(crds().map((crd) => [crd.metadata.name, crd.spec.names.shortNames[0], crd.spec.scope])).toEqual([
    ['loadbalancers.ebcpaas.lb', 'flb', 'Cluster'],
    ['lbtickets.ebcpaas.io', 'lbt', 'Namespaced'],
    ['lbrules.ebcpaas.lb', 'lbr', 'Namespaced'],
    ['lbcanaries.ebcpaas.lb', 'lbc', 'Namespaced'],
  ]);
  const known = new Set(all.map(({ path }) => path));
  const wrong = definitions.flatMap((d) =>
    d.columns.filter(({ jsonPath }) => {
      const path = jsonPath.replaceAll(/\[[^\]]*\]/g, '[]');
      return !path.startsWith('.metadata') && !known.has(`${d.kind.kind}${path}`);
    }),
  );
  expect(wrong).toEqual([]);
});

test('what may be left out is filled in as the server does, deep inside too', () => {
  const { spec } = makeTicket();
  const sent = {
    ...makeTicket(),
    spec: {
      loadbalancer: 'demo',
      namespace: 'default',
      listners: [{ ...spec.listners?.[0], session: undefined, balance: null }],
    },
  };
  const got = filled(definitions[1].kind, sent as unknown as ReturnType<typeof makeTicket>);
  expect(got.spec).toMatchObject({
    lbtype: 'listner',
    state: 'enabled',
    listners: [{ session: 'none', balance: 'round-robin' }],
  });
  expect(sent.spec).not.toHaveProperty('state');
});
