// ConfigMaps whose certificates come from Secrets: what is known, what is waited for, and what a change touches.
import { fail, ok, type Result } from '@fairlead/core';
import {
  configMaps,
  endpointSlices,
  namespaces,
  services,
  type Name,
  type NamedStore,
  type Secret,
  type Seen,
} from '@fairlead/kube';
import { expect, test } from 'vitest';
import { configmapSource } from './configmap.ts';
import type { Template } from './reading.ts';
import type { Touch } from './source.ts';
import { endpointSliceIndexes, serviceIndexes } from './supply.ts';
import { makeConfigMap, makeNamespace } from './testing/make.ts';
import { ToldStore } from './testing/told-store.ts';

/** Secrets that show what a test puts there. */
class ToldSecrets implements NamedStore<Secret> {
  readonly followed = new Map<string, number>();
  readonly #seen = new Map<string, Seen<Secret>>();
  readonly #listeners = new Set<(at: Name) => void>();

  show(name: string, seen: Seen<Secret>): void {
    this.#seen.set(name, seen);
    for (const listener of this.#listeners) listener({ namespace: 'shop', name });
  }

  put = (name: string, text: string): void => {
    const data = { text };
    this.show(name, { state: 'here', object: { apiVersion: 'v1', kind: 'Secret', metadata: { name }, data } });
  };

  follow({ name }: Name): () => void {
    this.followed.set(name, (this.followed.get(name) ?? 0) + 1);
    return () => {
      const left = (this.followed.get(name) ?? 0) - 1;
      if (left > 0) this.followed.set(name, left);
      else this.followed.delete(name);
    };
  }

  see = ({ name }: Name): Seen<Secret> => this.#seen.get(name) ?? { state: 'unknown' };
  listen(listener: (at: Name) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }
  run = async (): Promise<void> => undefined;
}

/** Reads `{"t/app": ["secret", …]}`. */
function decode(text: string): Result<Template> {
  const told = JSON.parse(text) as Record<string, string[]>;
  const keys = Object.keys(told).map((key) => key.split('/'));
  const tenants: Record<string, Record<string, Record<string, unknown>>> = {};
  for (const [tenant = '', application = ''] of keys) (tenants[tenant] ??= {})[application] = { class: 'Application' };
  const secrets = keys.flatMap(([tenant = '', application = '']) =>
    (told[`${tenant}/${application}`] ?? []).map((secret) => ({ tenant, application, secret })),
  );
  return ok({ tenants, pools: [], secrets });
}

function world(
  before: (secrets: ToldSecrets, put: (template: unknown, name?: string) => void) => void = () => undefined,
) {
  const stores = {
    configmaps: new ToldStore(configMaps),
    services: new ToldStore(services, serviceIndexes),
    endpointslices: new ToldStore(endpointSlices, endpointSliceIndexes),
    namespaces: new ToldStore(namespaces),
  };
  const secrets = new ToldSecrets();
  const put = (template: unknown, name = 'cm') => stores.configmaps.put(makeConfigMap(name, template));
  stores.namespaces.put(makeNamespace());
  before(secrets, put);
  for (const store of Object.values(stores)) store.fill();
  const source = configmapSource({
    cluster: 'c1',
    stores,
    selects: () => true,
    decode,
    certificates: {
      secrets,
      readKeyPair({ data = {} }) {
        const { text = '' } = data;
        if (text === 'broken') return fail('invalid', 'it is broken');
        return ok({ certificate: text, privateKey: text, digest: `d-${text}`, notAfter: 1 });
      },
    },
  });
  const touches: Touch[] = [];
  source.listen((touch) => void touches.push(touch));
  return {
    stores,
    secrets,
    source,
    put,
    wanted: () => Object.fromEntries(source.wanted('t').map(({ key, secrets: digests }) => [key, digests])),
    touched: () => touches.splice(0).flatMap(({ scopes }) => scopes),
    certificate: (secret: string) => {
      const read = source.certificate?.('c1/shop/cm', secret);
      return read && (read.ok ? read.value.certificate : `${read.problem.code}: ${read.problem.message}`);
    },
  };
}

test('a load balancer carries the digests of what its Secrets hold, of those that can be used', () => {
  const w = world();
  w.secrets.put('a', 'one');
  w.secrets.put('b', 'broken');
  w.secrets.show('c', { state: 'absent' });
  w.put({ 't/app': ['a', 'b', 'c'], 't/plain': [] });
  expect(w.wanted()).toEqual({ 't/app': { a: 'd-one' }, 't/plain': undefined });
  expect(w.certificate('a')).toBe('one');
  expect(w.certificate('b')).toBe('invalid: it is broken');
  expect(w.certificate('c')).toContain('missing: Secret shop/c is not there');
  expect(w.certificate('unnamed')).toBeUndefined();
});

test('a Secret that may not be read says why', () => {
  const w = world();
  w.secrets.show('a', { state: 'hidden', problem: { code: 'denied', message: 'secrets "a" is forbidden' } });
  w.put({ 't/app': ['a'] });
  expect(w.certificate('a')).toBe('denied: Secret shop/a cannot be read: secrets "a" is forbidden');
});

test('a renewed Secret is a new wish and touches its scope; others stay the same objects', () => {
  const w = world();
  w.secrets.put('a', 'one');
  w.put({ 't/app': ['a'], 't/plain': [] });
  const plain = w.source.wanted('t').find(({ key }) => key === 't/plain');
  w.touched();
  w.secrets.put('a', 'two');
  expect(w.touched()).toEqual(['t']);
  expect(w.wanted()['t/app']).toEqual({ a: 'd-two' });
  expect(w.source.wanted('t').find(({ key }) => key === 't/plain')).toBe(plain);
});

test('an edit that names a Secret nothing is known of waits, and what was said before stays', () => {
  const w = world();
  w.put({ 't/app': [] });
  w.put({ 't/app': ['a'] });
  expect(w.wanted()).toEqual({ 't/app': undefined });
  w.secrets.put('a', 'one');
  expect(w.wanted()).toEqual({ 't/app': { a: 'd-one' } });
});

test('an edit that is taken back while it waits is forgotten', () => {
  const w = world();
  w.put({ 't/app': [] });
  w.put({ 't/app': ['a'] });
  w.put({ 't/app': [] });
  w.secrets.put('a', 'one');
  expect(w.wanted()).toEqual({ 't/app': undefined });
  expect([...w.secrets.followed]).toEqual([]);
});

test('at the start it is not full before something is known of every Secret, and then tells everything', async () => {
  const w = world((_, put) => put({ 't/app': ['a'] }));
  await Promise.resolve();
  expect(w.source.synced).toBe(false);
  w.touched();
  w.secrets.show('a', { state: 'absent' });
  expect(w.source.synced).toBe(true);
  expect(w.touched()).toContain('t');
  w.put({ 't/other': ['z'] }, 'late');
  expect(w.source.synced).toBe(true);
});

test('one that goes while the start waits for its Secret holds nothing up', () => {
  const w = world((_, put) => put({ 't/app': ['a'] }));
  w.stores.configmaps.remove({ namespace: 'shop', name: 'cm' });
  expect(w.source.synced).toBe(true);
});

test('Secrets are followed once for each that names them, and no longer than that', () => {
  const w = world();
  for (const name of ['a', 'b']) w.secrets.put(name, name);
  w.put({ 't/app': ['a', 'b'], 't/two': ['a'] });
  expect([...w.secrets.followed]).toEqual([
    ['a', 1],
    ['b', 1],
  ]);
  w.put({ 't/app': ['b'] });
  expect([...w.secrets.followed.keys()]).toEqual(['b']);
  w.stores.configmaps.remove({ namespace: 'shop', name: 'cm' });
  expect([...w.secrets.followed.keys()]).toEqual([]);
  w.put({ 't/app': ['a'] });
  w.source.close();
  expect([...w.secrets.followed.keys()]).toEqual([]);
});
