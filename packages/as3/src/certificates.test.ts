// Certificates that stand open for a Secret: named, pinned to what it holds, left out or kept while it cannot be used.
import type { KeyPair, LoadBalancer } from '@fairlead/core';
import { expect, test } from 'vitest';
import type { Application } from './application.ts';
import { keyPairsIn, pinned, secretsOf, unpinned } from './certificates.ts';
import { check } from './check/check.ts';
import { compile } from './compile.ts';
import { complete } from './complete.ts';
import { declaration } from './declaration.ts';
import { fill, strip } from './members.ts';

const listener = (name: string, port: number, sni: { secretName: string; host?: string }[] = []) => ({
  name,
  address: '20.1.0.10',
  port,
  protocol: 'https' as const,
  persistence: 'none' as const,
  routes: [],
  pools: [{ pool: 'web_80_pool', weight: 1 }],
  tls: { secretName: `${name}-tls`, sni },
});

const balancer = (secrets?: LoadBalancer['secrets']): LoadBalancer => ({
  key: 't1/app',
  scope: 't1',
  origin: { cluster: 'c', kind: 'ConfigMap', namespace: 'n', name: 'm', uid: 'u', created: 0, revision: '1' },
  listeners: [listener('aa', 443, [{ secretName: 'other-tls', host: 'o.example.com' }]), listener('bb', 8443)],
  pools: [
    {
      name: 'web_80_pool',
      service: { namespace: 'n', name: 'web', port: 80 },
      monitor: { type: 'http' },
      balance: 'round-robin',
    },
  ],
  secrets,
});

const compiled = (secrets?: LoadBalancer['secrets']): Application => {
  const form = compile(balancer(secrets));
  if (!form.ok) throw new Error(form.problem.message);
  return form.value;
};

const pem = (word: string) => ({
  certificate: `-----BEGIN CERTIFICATE-----\n${word}\n-----END CERTIFICATE-----\n`,
  privateKey: `-----BEGIN PRIVATE KEY-----\n${word}\n-----END PRIVATE KEY-----\n`,
});

const all = { 'aa-tls': 'a1', 'bb-tls': 'b1', 'other-tls': 'c1' };

test('the form names Secrets and digests, never their texts; a new digest is another form', () => {
  expect(secretsOf(compiled())).toEqual(['aa-tls', 'bb-tls', 'other-tls']);
  expect(compiled(all)['aa_certificate']).toEqual({
    class: 'Certificate',
    certificate: 'secret:aa-tls/tls.crt#a1',
    privateKey: 'secret:aa-tls/tls.key#a1',
  });
  expect(compiled({ ...all, 'aa-tls': 'a2' })).not.toEqual(compiled(all));
  expect(unpinned(compiled(all))).toEqual(compiled());
});

test('what is filled in is sound, reads back as the texts, and is taken out again', () => {
  const pairs = new Map<string, KeyPair>([
    ['aa-tls#a1', { ...pem('A'), chain: pem('CA').certificate }],
    ['bb-tls#b1', pem('B')],
    ['other-tls#c1', pem('C')],
  ]);
  const sent = fill(compiled(all), new Map(), pairs);
  expect(check(declaration({ t1: { app: sent } }))).toEqual([]);
  expect(sent['aa_certificate']).toMatchObject({ ...pem('A'), chainCA: pem('CA').certificate });
  expect(keyPairsIn(sent)).toEqual(pairs);
  expect(strip(sent)).toEqual(compiled(all));
});

test('a chain of the template stays the template\u2019s', () => {
  const form = pinned(
    { class: 'Application', c1: { ...compiled()['aa_certificate']!, class: 'Certificate', chainCA: 'own' } },
    all,
  );
  const sent = fill(form, new Map(), new Map([['aa-tls#a1', { ...pem('A'), chain: 'theirs' }]]));
  expect(sent['c1']).toMatchObject({ chainCA: 'own' });
  expect(strip(sent)).toEqual(form);
});

test('without its Secret a certificate stays as the place has it', () => {
  const before = compiled(all);
  const { form, open } = complete(compiled({ ...all, 'aa-tls': undefined! }), before);
  expect(form).toEqual(before);
  expect(open).toEqual([{ name: 'aa_certificate', secret: 'aa-tls', kept: true }]);
});

test('without its Secret, and with none in the place, its listener is left out and the others stay', () => {
  const { form, open } = complete(compiled({ 'aa-tls': 'a1', 'other-tls': 'c1' }), undefined);
  expect(open).toEqual([{ name: 'bb_certificate', secret: 'bb-tls', kept: false }]);
  expect([form['bb'], form['bb_tls'], form['bb_certificate']]).toEqual([undefined, undefined, undefined]);
  const [{ bb: _, bb_tls: _tls, bb_certificate: _certificate, ...rest }] = [
    compiled({ 'aa-tls': 'a1', 'other-tls': 'c1' }),
  ];
  expect(form).toEqual(rest);
});

test('of several certificates the one that is missing is left out, and the listener goes on with the rest', () => {
  const { form } = complete(compiled({ 'aa-tls': 'a1', 'bb-tls': 'b1' }), undefined);
  expect(form['aa']).toBeDefined();
  expect(form['aa_tls']).toEqual({
    class: 'TLS_Server',
    certificates: [{ certificate: 'aa_certificate', sniDefault: true }],
  });
});
