// A certificate authority of a cluster's own: kubectl sends a token only over TLS, so the server needs a certificate clients can check.
import type * as X509 from '@peculiar/x509';
import { loadX509 } from './x509.ts';

/** Certificate and private key, both PEM. */
export interface KeyPair {
  cert: string;
  key: string;
}

export interface Issue {
  /** CN; the user name, in a client certificate. */
  commonName: string;
  /** O; the groups, in a client certificate. */
  organizations?: string[];
  /** Names and addresses a server certificate is good for. */
  dnsNames?: string[];
  addresses?: string[];
  usage: 'server' | 'client';
}

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;
type Library = typeof X509;
const year = 365 * 24 * 3600 * 1000;

/** A new authority, good for ten years from `now` (ms since the epoch). */
export async function authority(commonName: string, now: number): Promise<KeyPair> {
  const x509 = await loadX509();
  const keys = await newKeys();
  const cert = await x509.X509CertificateGenerator.createSelfSigned({
    name: nameOf(commonName),
    keys,
    signingAlgorithm: algorithm,
    ...validity(now, 10),
    extensions: [
      new x509.BasicConstraintsExtension(true, undefined, true),
      new x509.KeyUsagesExtension(
        x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.digitalSignature | x509.KeyUsageFlags.cRLSign,
        true,
      ),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  return pair(x509, cert, keys.privateKey);
}

/** A certificate signed by `ca`, good for a year from `now`. */
export async function issue(ca: KeyPair, wanted: Issue, now: number): Promise<KeyPair> {
  const x509 = await loadX509();
  const usages = { server: x509.ExtendedKeyUsage.serverAuth, client: x509.ExtendedKeyUsage.clientAuth };
  const signer = new x509.X509Certificate(ca.cert);
  const keys = await newKeys();
  const cert = await x509.X509CertificateGenerator.create({
    subject: nameOf(wanted.commonName, wanted.organizations),
    issuer: signer.subject,
    publicKey: keys.publicKey,
    signingKey: await importKey(x509, ca.key),
    signingAlgorithm: algorithm,
    ...validity(now, 1),
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension([usages[wanted.usage]]),
      await x509.AuthorityKeyIdentifierExtension.create(signer),
      ...alternativeNames(x509, wanted),
    ],
  });
  return pair(x509, cert, keys.privateKey);
}

function alternativeNames(x509: Library, { dnsNames = [], addresses = [] }: Issue): X509.Extension[] {
  const names = [
    ...dnsNames.map((value) => ({ type: 'dns', value }) as const),
    ...addresses.map((value) => ({ type: 'ip', value }) as const),
  ];
  return names.length > 0 ? [new x509.SubjectAlternativeNameExtension(names)] : [];
}

// An array of parts keeps commas and equals signs in names from being read as syntax.
const nameOf = (commonName: string, organizations: string[] = []): X509.JsonName => [
  ...organizations.map((name) => ({ O: [name] })),
  { CN: [commonName] },
];

// An hour back: the clocks of two machines differ.
const validity = (now: number, years: number) => ({
  notBefore: new Date(now - 3_600_000),
  notAfter: new Date(now + years * year),
});

const newKeys = () => crypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);

async function pair(x509: Library, cert: X509.X509Certificate, key: CryptoKey): Promise<KeyPair> {
  const bytes = await crypto.subtle.exportKey('pkcs8', key);
  return { cert: cert.toString('pem'), key: x509.PemConverter.encode(bytes, 'PRIVATE KEY') };
}

async function importKey(x509: Library, pem: string): Promise<CryptoKey> {
  const [bytes] = x509.PemConverter.decode(pem);
  if (!bytes) throw new Error('the authority has no private key');
  return crypto.subtle.importKey('pkcs8', bytes, algorithm, false, ['sign']);
}
