// What a Loadbalancer's VE is logged in to with: from its spec, or from the Secret that it refers to.
import type { Loadbalancer } from '@fairlead/api';
import { untilAborted } from '@fairlead/core';
import { secrets, store, type Kube, type LiveStore, type Secret } from '@fairlead/kube';
import { secretText } from './secret-text.ts';

export interface Credentials {
  /** Shown in the place of a login with user and password. */
  token?: string | undefined;
  user: string;
  password: string;
  /** PEM of the authority that signed the device's certificate; the system's authorities when absent. */
  ca?: string | undefined;
  insecure?: boolean | undefined;
}

export interface SecretReader {
  /** A value of a Secret as text; undefined while it is not there, or not read yet. */
  read(ref: { name: string; namespace?: string | undefined }, key: string): string | undefined;
  /** Calls back when a Secret that may have been asked for changed. Returns the way to stop. */
  listen(listener: () => void): () => void;
  run(signal: AbortSignal): Promise<void>;
}

/** Follows Secrets in the namespaces that are asked about and in no others. `own`: the namespace of references without one. */
export function secretReader(kube: Kube, own: string): SecretReader {
  const stores = new Map<string, LiveStore<Secret>>();
  const listeners = new Set<() => void>();
  const runs: Promise<void>[] = [];
  let running: AbortSignal | undefined;

  const follow = (namespace: string): LiveStore<Secret> => {
    const present = stores.get(namespace);
    if (present) return present;
    const made = store(kube, secrets, { namespace });
    stores.set(namespace, made);
    made.listen(() => listeners.forEach((listener) => listener()));
    if (running) runs.push(made.run(running));
    return made;
  };

  return {
    read({ name, namespace = own }, key) {
      return secretText(follow(namespace).get({ name, namespace }), key);
    },
    listen(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    async run(signal) {
      running = signal;
      for (const one of stores.values()) runs.push(one.run(signal));
      await untilAborted(signal);
      await Promise.all(runs);
    },
  };
}

/** Undefined while a Secret that is referred to is not there: nothing may be touched with half of the credentials. */
export function credentialsOf({ spec }: Loadbalancer, reader: Pick<SecretReader, 'read'>): Credentials | undefined {
  const { credentialsSecretRef: ref, tls } = spec.ve;
  const user = ref ? reader.read(ref, 'username') : spec.ve.user;
  const password = ref ? reader.read(ref, 'password') : spec.ve.passwd;
  const ca = tls?.caSecretRef ? reader.read(tls.caSecretRef, 'ca.crt') : undefined;
  if (user === undefined || password === undefined || (tls?.caSecretRef && ca === undefined)) return undefined;
  return { user, password, ca, insecure: tls?.insecureSkipVerify };
}

/** What a Loadbalancer's LTM is shown; undefined while the Secret that is referred to is not there. */
export function ltmCredentialsOf({ spec }: Loadbalancer, reader: Pick<SecretReader, 'read'>): Credentials | undefined {
  const { tokenSecretRef: ref, token: given } = spec.ltm;
  const token = ref ? reader.read(ref, 'token') : given;
  return token === undefined ? undefined : { token: token.trim(), user: '', password: '' };
}

/** The Secrets a Loadbalancer refers to, read once: for a command that asks and ends. What cannot be read reads as absent. */
export async function readCredentialSecrets(
  kube: Kube,
  { spec }: Loadbalancer,
  own: string,
): Promise<Pick<SecretReader, 'read'>> {
  const found = new Map<string, Secret>();
  for (const ref of [spec.ve.credentialsSecretRef, spec.ve.tls?.caSecretRef, spec.ltm.tokenSecretRef]) {
    if (!ref) continue;
    const namespace = ref.namespace ?? own;
    const got = await kube.get(secrets, { name: ref.name, namespace });
    if (got.ok) found.set(`${namespace}/${ref.name}`, got.value);
  }
  return { read: ({ name, namespace = own }, key) => secretText(found.get(`${namespace}/${name}`), key) };
}
