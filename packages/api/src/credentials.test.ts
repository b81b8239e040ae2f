import { expect, test } from 'vitest';
import { sealed } from './credentials.ts';
import type { Loadbalancer } from './loadbalancer.ts';
import { makeLoadbalancer } from './make.ts';

const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration';

const withSpec = (ve: Partial<Loadbalancer['spec']['ve']>, ltm: Partial<Loadbalancer['spec']['ltm']> = {}) => {
  const made = makeLoadbalancer();
  const { passwd: _, user: __, credentialsSecretRef: ___, ...rest } = made.spec.ve;
  const { token: ____, ...first } = made.spec.ltm;
  return { ...made, spec: { ...made.spec, ve: { ...rest, ...ve }, ltm: { ...first, ...ltm } } };
};

test('credentials in the clear become Secrets that the object refers to', () => {
  const { object, secrets } = sealed(withSpec({ user: 'admin', passwd: 'pw' }, { token: 't' }));
  const { name } = object.metadata;
  expect(secrets).toEqual([
    { name: `${name}-ve`, data: { username: 'admin', password: 'pw' }, path: 'spec.ve.passwd' },
    { name: `${name}-ltm`, data: { token: 't' }, path: 'spec.ltm.token' },
  ]);
  expect(object.spec.ve).toMatchObject({ user: 'admin', credentialsSecretRef: { name: `${name}-ve` } });
  expect(object.spec.ltm).toMatchObject({ tokenSecretRef: { name: `${name}-ltm` } });
  expect(JSON.stringify(object)).not.toMatch(/"passwd"|"token"/);
});

test('an object without any stays the very same', () => {
  const object = withSpec({ credentialsSecretRef: { name: 'mine' } });
  expect(sealed(object).object).toBe(object);
});

test('a password beside a reference of the user goes, and the reference stays', () => {
  const { object, secrets } = sealed(
    withSpec({ user: 'admin', passwd: 'pw', credentialsSecretRef: { name: 'mine', namespace: 'x' } }),
  );
  expect(secrets).toEqual([]);
  expect(object.spec.ve).toMatchObject({ credentialsSecretRef: { name: 'mine', namespace: 'x' } });
  expect(object.spec.ve.passwd).toBeUndefined();
});

test('a password beside our reference is a new one', () => {
  const first = sealed(withSpec({ user: 'admin', passwd: 'pw' })).object;
  const again = sealed({ ...first, spec: { ...first.spec, ve: { ...first.spec.ve, passwd: 'new' } } });
  expect(again.secrets).toMatchObject([
    { name: `${first.metadata.name}-ve`, data: { username: 'admin', password: 'new' } },
  ]);
});

test.each([
  ['what kubectl applied', (object: Loadbalancer) => JSON.stringify({ spec: object.spec })],
  ['what only looks like it', () => '{"spec": "secret-word'],
  ['nothing at all', () => 'null'],
])('no credential is left in the annotation: %s', (_, text) => {
  const object = withSpec({ user: 'admin', passwd: 'secret-word' }, { token: 'secret-word' });
  const annotated = {
    ...object,
    metadata: { ...object.metadata, annotations: { [lastApplied]: text(object), a: 'b' } },
  };
  const got = sealed(annotated).object;
  expect(JSON.stringify(got)).not.toContain('secret-word');
  expect(got.metadata.annotations?.['a']).toBe('b');
});
