// Users who prove who they are with a certificate: its subject's CN is the name, each O a group.
import { createHash } from 'node:crypto';
import type * as X509 from '@peculiar/x509';
import type { Clock } from '../clock.ts';
import type { UserInfo } from '../cluster.ts';
import { loadX509 } from '../x509.ts';

export interface ClientCertificates {
  /** The user of a certificate (DER); undefined when the authority did not sign it, or it is not good for clients or not now. */
  userOf(certificate: Uint8Array): Promise<UserInfo | undefined>;
}

/** Certificates are checked once each; this many are remembered. */
const most = 1000;

/** Believes certificates that `authority` (PEM) has signed itself. */
export function clientCertificates(authority: string, clock: Clock): ClientCertificates {
  const known = new Map<string, X509.X509Certificate | undefined>();

  async function checked(bytes: Uint8Array, print: string): Promise<X509.X509Certificate | undefined> {
    if (known.has(print)) return known.get(print);
    const found = await signedBy(authority, bytes);
    if (known.size >= most) known.clear();
    known.set(print, found);
    return found;
  }

  return {
    async userOf(bytes) {
      const print = createHash('sha256').update(bytes).digest('hex');
      const certificate = await checked(bytes, print);
      const now = clock.now();
      if (!certificate || now < certificate.notBefore.getTime() || now > certificate.notAfter.getTime())
        return undefined;
      const name = certificate.subjectName;
      const [username = ''] = name.getField('CN');
      if (username === '') return undefined;
      const extra = { 'authentication.kubernetes.io/credential-id': [`X509SHA256=${print}`] };
      return { username, groups: [...name.getField('O'), 'system:authenticated'], extra };
    },
  };
}

async function signedBy(authority: string, bytes: Uint8Array): Promise<X509.X509Certificate | undefined> {
  const x509 = await loadX509();
  const signer = new x509.X509Certificate(authority);
  const certificate = parsed(x509, bytes);
  if (!certificate || certificate.issuer !== signer.subject) return undefined;
  const usage = certificate.getExtension(x509.ExtendedKeyUsageExtension);
  if (!usage?.usages.includes(x509.ExtendedKeyUsage.clientAuth)) return undefined;
  return (await certificate.verify({ publicKey: signer.publicKey, signatureOnly: true })) ? certificate : undefined;
}

function parsed(x509: typeof X509, bytes: Uint8Array): X509.X509Certificate | undefined {
  try {
    return new x509.X509Certificate(Uint8Array.from(bytes));
  } catch {
    // Bytes that are no certificate prove nothing: the caller answers 401, as for any other it does not believe.
    return undefined;
  }
}
