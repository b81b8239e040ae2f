// The authority and the certificate that the embedded API servers are reached by: kubectl sends its token over TLS only.
import 'reflect-metadata';
import { webcrypto } from 'node:crypto';
import {
  BasicConstraintsExtension,
  ExtendedKeyUsageExtension,
  KeyUsageFlags,
  KeyUsagesExtension,
  SubjectAlternativeNameExtension,
  X509CertificateGenerator,
  cryptoProvider,
  type X509Certificate,
} from '@peculiar/x509';
import type { Clock } from '@fairlead/core';
import type { DataDir } from './data-dir.ts';

/** PEM texts. */
export interface Certificates {
  ca: string;
  cert: string;
  key: string;
}

const file = 'certificates.json';
const day = 86_400_000;
const lifetime = 3650 * day;
const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
const serverAuth = '1.3.6.1.5.5.7.3.1';

/** Made once and kept in the data folder, so that a kubeconfig stays valid over restarts. For 127.0.0.1 and localhost. */
export async function certificates(dir: DataDir, clock: Clock): Promise<Certificates> {
  const kept = dir.load(file);
  if (kept !== undefined) return JSON.parse(kept) as Certificates;
  const made = await make(clock.now());
  dir.save(file, JSON.stringify(made));
  return made;
}

async function make(now: number): Promise<Certificates> {
  cryptoProvider.set(webcrypto as Crypto);
  const [authority, server] = [await keys(), await keys()];
  const validity = { notBefore: new Date(now - day), notAfter: new Date(now + lifetime) };
  const ca = await X509CertificateGenerator.createSelfSigned({
    ...validity,
    serialNumber: '01',
    name: 'CN=Fairlead embedded authority',
    keys: authority,
    signingAlgorithm: algorithm,
    extensions: [
      new BasicConstraintsExtension(true, 0, true),
      new KeyUsagesExtension(KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign, true),
    ],
  });
  const cert = await X509CertificateGenerator.create({
    ...validity,
    serialNumber: '02',
    subject: 'CN=Fairlead embedded API servers',
    issuer: ca.subject,
    publicKey: server.publicKey,
    signingKey: authority.privateKey,
    signingAlgorithm: algorithm,
    extensions: [
      new ExtendedKeyUsageExtension([serverAuth]),
      new SubjectAlternativeNameExtension([
        { type: 'ip', value: '127.0.0.1' },
        { type: 'dns', value: 'localhost' },
      ]),
    ],
  });
  return { ca: pem(ca), cert: pem(cert), key: await privatePem(server.privateKey) };
}

const keys = (): Promise<CryptoKeyPair> =>
  webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']) as Promise<CryptoKeyPair>;

const pem = (certificate: X509Certificate): string => `${certificate.toString('pem')}\n`;

async function privatePem(key: CryptoKey): Promise<string> {
  const der = await webcrypto.subtle.exportKey('pkcs8', key as webcrypto.CryptoKey);
  const lines =
    Buffer.from(der)
      .toString('base64')
      .match(/.{1,64}/g) ?? [];
  return `-----BEGIN PRIVATE KEY-----\n${lines.join('\n')}\n-----END PRIVATE KEY-----\n`;
}
