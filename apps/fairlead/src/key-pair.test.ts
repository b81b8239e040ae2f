// What is taken of a Secret, and what is refused: without a word of what it holds.
import { authority, issue } from '@fairlead/apiserver';
import type { Secret } from '@fairlead/kube';
import { expect, test } from 'vitest';
import { readKeyPair } from './key-pair.ts';

const now = Date.parse('2030-01-01T00:00:00Z');
const ca = await authority('An authority', now);
const pair = await issue(ca, { commonName: 'a.example.com', dnsNames: ['a.example.com'], usage: 'server' }, now);
const other = await issue(ca, { commonName: 'b.example.com', usage: 'server' }, now);

const read = (texts: Record<string, string>, type = 'kubernetes.io/tls') => {
  const data = Object.fromEntries(Object.entries(texts).map(([key, text]) => [key, btoa(text)]));
  const secret: Secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'a', namespace: 'shop' }, type, data };
  return readKeyPair(secret);
};

test('the first certificate, its chain, its key, and when it ends', () => {
  const got = read({ 'tls.crt': `Subject: what openssl writes\n${pair.cert}\r\n${ca.cert}`, 'tls.key': pair.key });
  if (!got.ok) throw new Error(got.problem.message);
  expect(got.value.certificate.trim()).toBe(pair.cert.trim());
  expect(got.value.chain?.trim()).toBe(ca.cert.trim());
  expect(got.value.privateKey.trim()).toBe(pair.key.trim());
  expect(new Date(got.value.notAfter).toISOString()).toBe('2031-01-01T00:00:00.000Z');
  expect(got.value.digest).toMatch(/^[0-9a-f]{16}$/);
});

test('the digest is of what is used, and not of how it is written', () => {
  const digest = (texts: Record<string, string>) => {
    const got = read(texts);
    return got.ok ? got.value.digest : got.problem.message;
  };
  const one = digest({ 'tls.crt': pair.cert, 'tls.key': pair.key });
  expect(digest({ 'tls.crt': pair.cert.replaceAll('\n', '\r\n'), 'tls.key': `${pair.key}\n\n` })).toBe(one);
  expect(digest({ 'tls.crt': other.cert, 'tls.key': other.key })).not.toBe(one);
  expect(digest({ 'tls.crt': pair.cert + ca.cert, 'tls.key': pair.key })).not.toBe(one);
});

const whole = { 'tls.crt': pair.cert, 'tls.key': pair.key };

test.each<[what: string, texts: Record<string, string>, words: string, type?: string]>([
  ['another type', whole, 'is of type Opaque, and kubernetes.io/tls is wanted', 'Opaque'],
  ['no certificate', { 'tls.key': pair.key }, 'tls.crt is no certificate in PEM'],
  ['no key', { 'tls.crt': pair.cert }, 'tls.key is no private key in PEM'],
  [
    'nonsense in PEM',
    { ...whole, 'tls.crt': '-----BEGIN CERTIFICATE-----\nabcd\n-----END CERTIFICATE-----' },
    'the first certificate in tls.crt cannot be read',
  ],
  [
    'a key that cannot be read',
    { ...whole, 'tls.key': '-----BEGIN PRIVATE KEY-----\nabcd\n-----END PRIVATE KEY-----' },
    'a key under a passphrase cannot be used',
  ],
  ['the key of another', { ...whole, 'tls.key': other.key }, 'tls.key is not the key of the first certificate'],
  [
    'a broken chain',
    { ...whole, 'tls.crt': `${pair.cert}\n-----BEGIN CERTIFICATE-----\nabcd\n-----END CERTIFICATE-----` },
    'a certificate of the chain in tls.crt cannot be read',
  ],
])('%s is refused', (_, texts, words, type) => {
  const got = read(texts, type);
  expect(got).toMatchObject({ ok: false, problem: { code: 'invalid' } });
  const message = got.ok ? '' : got.problem.message;
  expect(message).toContain('Secret shop/a');
  expect(message).toContain(words);
  expect(message).not.toContain('BEGIN');
});
