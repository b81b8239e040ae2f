// The authority and the certificate that the embedded API servers are reached by: kubectl sends its token over TLS only.
import { authority, issue, type Issue, type KeyPair } from '@fairlead/apiserver';
import type { Clock } from '@fairlead/core';
import type { DataDir } from './data-dir.ts';

/** PEM texts. */
export interface Certificates extends KeyPair {
  /** The authority: its certificate stands in the kubeconfig, its key signs client certificates. */
  ca: KeyPair;
}

const file = 'authority.json';

/** The authority is made once and kept, so that a kubeconfig stays valid; the servers' certificate is new at each start. */
export async function certificates(dir: DataDir, clock: Clock): Promise<Certificates> {
  const kept = dir.load(file);
  const ca =
    kept === undefined ? await authority('Fairlead embedded authority', clock.now()) : (JSON.parse(kept) as KeyPair);
  if (kept === undefined) dir.save(file, JSON.stringify(ca));
  const commonName = 'Fairlead embedded API servers';
  const wanted: Issue = { commonName, dnsNames: ['localhost'], addresses: ['127.0.0.1'], usage: 'server' };
  return { ca, ...(await issue(ca, wanted, clock.now())) };
}
