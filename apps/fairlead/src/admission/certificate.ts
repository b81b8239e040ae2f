// The certificate that the webhooks are served with: made by ourselves, kept in a Secret that all replicas share, renewed.
import { X509Certificate } from 'node:crypto';
import { authority, issue } from '@fairlead/apiserver';
import { fail, ok, type Clock, type Result } from '@fairlead/core';
import { secrets, type Kube, type Secret } from '@fairlead/kube';
import { secretData, secretText } from '../secret-text.ts';

export interface ServedCertificate {
  /** PEM. */
  cert: string;
  key: string;
  /** PEM of the authority, for the API server to check it by. */
  ca: string;
}

export interface CertificateOptions {
  management: Kube;
  namespace: string;
  /** DNS names and IP addresses the server is reached by. */
  hosts: readonly string[];
  clock: Clock;
}

const name = 'fairlead-webhook';
/** Good for a year; a new one is made when this much is left. */
const renewBefore = 30 * 24 * 3600 * 1000;

/** The one in the Secret, or a new one that is then there. Two replicas that make one at once end with the same. */
export async function servedCertificate(options: CertificateOptions): Promise<Result<ServedCertificate>> {
  const { management, namespace, hosts, clock } = options;
  const present = await management.get(secrets, { name, namespace });
  if (!present.ok && present.problem.status !== 404) return unavailable(namespace, present.problem.message);
  const kept = present.ok ? readKept(present.value) : undefined;
  if (kept && isGood(kept, hosts, clock.now())) return ok(kept);
  const made = await makeCertificate(hosts, clock.now());
  const secret: Secret = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {
      name,
      namespace,
      // Absent for a new one; else the lock that lets one of two replicas win.
      ...(present.ok ? { resourceVersion: present.value.metadata.resourceVersion } : {}),
    },
    type: 'kubernetes.io/tls',
    data: secretData({ 'tls.crt': made.cert, 'tls.key': made.key, 'ca.crt': made.ca }),
  };
  const written = present.ok ? await management.replace(secrets, secret) : await management.create(secrets, secret);
  if (written.ok) return ok(made);
  if (written.problem.code === 'conflict' || written.problem.code === 'exists') return servedCertificate(options);
  return unavailable(namespace, written.problem.message);
}

const unavailable = (namespace: string, why: string) =>
  fail('unreachable', `the certificate of the webhooks (Secret ${namespace}/${name}): ${why}`);

async function makeCertificate(hosts: readonly string[], now: number): Promise<ServedCertificate> {
  const ca = await authority('Fairlead webhooks', now);
  const isAddress = (host: string) => /^[0-9.]+$|:/.test(host);
  const made = await issue(
    ca,
    {
      commonName: name,
      dnsNames: hosts.filter((host) => !isAddress(host)),
      addresses: hosts.filter(isAddress),
      usage: 'server',
    },
    now,
  );
  return { ...made, ca: ca.cert };
}

function readKept(secret: Secret): ServedCertificate | undefined {
  const [cert, key, ca] = ['tls.crt', 'tls.key', 'ca.crt'].map((file) => secretText(secret, file));
  return cert && key && ca ? { cert, key, ca } : undefined;
}

function isGood({ cert }: ServedCertificate, hosts: readonly string[], now: number): boolean {
  try {
    const parsed = new X509Certificate(cert);
    const isNamed = (host: string) => (parsed.checkHost(host) ?? parsed.checkIP(host)) !== undefined;
    return Date.parse(parsed.validTo) - now > renewBefore && hosts.every(isNamed);
  } catch {
    // Whatever somebody else has put there: a new one replaces it.
    return false;
  }
}
