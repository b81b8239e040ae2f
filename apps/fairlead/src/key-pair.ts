// What a `kubernetes.io/tls` Secret holds, checked before a device sees it. Nothing of it is ever in a message.
import { createHash, createPrivateKey, X509Certificate } from 'node:crypto';
import { fail, ok, type Result } from '@fairlead/core';
import type { Secret } from '@fairlead/kube';
import type { SecretPair } from '@fairlead/sources';
import { secretText } from './secret-text.ts';

/** The device answers for its certificates by this much of a digest; more would only make plans longer. */
const digits = 16;

export function readKeyPair(secret: Secret): Result<SecretPair> {
  const what = `Secret ${secret.metadata.namespace}/${secret.metadata.name}`;
  if (secret.type !== 'kubernetes.io/tls')
    return fail('invalid', `${what} is of type ${secret.type ?? 'Opaque'}, and kubernetes.io/tls is wanted`);
  const [leaf, ...chain] = certificatesIn(textOf(secret, 'tls.crt'));
  const key = keyIn(textOf(secret, 'tls.key'));
  if (leaf === undefined) return fail('invalid', `${what}: tls.crt is no certificate in PEM`);
  if (key === undefined) return fail('invalid', `${what}: tls.key is no private key in PEM`);
  const certificate = parsed(() => new X509Certificate(leaf));
  if (!certificate) return fail('invalid', `${what}: the first certificate in tls.crt cannot be read`);
  const privateKey = parsed(() => createPrivateKey(key));
  if (!privateKey) return fail('invalid', `${what}: tls.key cannot be read; a key under a passphrase cannot be used`);
  if (!certificate.checkPrivateKey(privateKey))
    return fail('invalid', `${what}: tls.key is not the key of the first certificate in tls.crt`);
  if (chain.some((one) => !parsed(() => new X509Certificate(one))))
    return fail('invalid', `${what}: a certificate of the chain in tls.crt cannot be read`);
  const digest = createHash('sha256')
    .update([leaf, ...chain, key].join('\n'))
    .digest('hex')
    .slice(0, digits);
  return ok({
    certificate: leaf,
    privateKey: key,
    ...(chain.length > 0 && { chain: chain.join('') }),
    digest,
    notAfter: Date.parse(certificate.validTo),
  });
}

const textOf = (secret: Secret, key: string): string => secretText(secret, key) ?? '';

/** Whatever stands around them, such as the comments that openssl writes, is left out. */
const certificatesIn = (text: string): string[] =>
  [...text.matchAll(/-----BEGIN CERTIFICATE-----[A-Za-z0-9+/=\s]+-----END CERTIFICATE-----/g)].map(tidy);

const keyIn = (text: string): string | undefined =>
  [...text.matchAll(/-----BEGIN ((?:[A-Z]+ )?PRIVATE KEY)-----[A-Za-z0-9+/=\s]+-----END \1-----/g)].map(tidy)[0];

const tidy = ([text]: RegExpMatchArray): string => `${text.replaceAll(/[ \t\r]+\n|\r?\n/g, '\n')}\n`;

/** Node throws what is no certificate or key. */
function parsed<T>(make: () => T): T | undefined {
  try {
    return make();
  } catch {
    return undefined;
  }
}
