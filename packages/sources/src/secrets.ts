// The Secrets that certificates come from: which objects name which, and what each holds now.
import { fail, type KeyPair, type Result } from '@fairlead/core';
import type { Name, NamedStore, Secret } from '@fairlead/kube';

/** What a `kubernetes.io/tls` Secret holds. */
export interface SecretPair extends KeyPair {
  /** Of its texts, in lowercase hexadecimal; nobody can tell the key from it. */
  digest: string;
  /** When the certificate ends: milliseconds since the epoch. */
  notAfter: number;
}

export interface SecretOptions {
  /** Secrets of the cluster, by name; run by whoever made it. */
  secrets: NamedStore<Secret>;
  /** Reads a Secret, or says what is wrong with it: without a word of what it holds. */
  readKeyPair(secret: Secret): Result<SecretPair>;
}

/** The Secrets of one source. */
export interface Secrets {
  /** From now on `asker`, of `namespace`, names these and no others. True when something is known of each. */
  name(asker: string, namespace: string, names: readonly string[]): boolean;
  isKnown(at: Name): boolean;
  /** What the Secret holds now, or why it cannot be used. */
  read(at: Name): Result<SecretPair>;
  /** Calls back with those who name a Secret when it holds something else. */
  listen(listener: (askers: string[]) => void): void;
  close(): void;
}

export function secretsOf({ secrets, readKeyPair }: SecretOptions): Secrets {
  const followed = new Map<string, Map<string, () => void>>();
  const askers = new Map<string, Set<string>>();
  const read = new WeakMap<Secret, Result<SecretPair>>();
  let stop = (): void => undefined;

  const parse = (secret: Secret): Result<SecretPair> => {
    const known = read.get(secret) ?? readKeyPair(secret);
    read.set(secret, known);
    return known;
  };

  const letGo = (asker: string, id: string): void => {
    followed.get(asker)?.get(id)?.();
    followed.get(asker)?.delete(id);
    askers.get(id)?.delete(asker);
    if (askers.get(id)?.size === 0) askers.delete(id);
  };

  return {
    name(asker, namespace, names) {
      const mine = followed.get(asker) ?? new Map<string, () => void>();
      const wanted = new Set(names.map((name) => idOf({ namespace, name })));
      for (const name of names) {
        const id = idOf({ namespace, name });
        if (!mine.has(id)) mine.set(id, secrets.follow({ namespace, name }));
        askers.set(id, (askers.get(id) ?? new Set()).add(asker));
      }
      followed.set(asker, mine);
      for (const id of mine.keys()) if (!wanted.has(id)) letGo(asker, id);
      if (mine.size === 0) followed.delete(asker);
      return names.every((name) => secrets.see({ namespace, name }).state !== 'unknown');
    },
    isKnown: (at) => secrets.see(at).state !== 'unknown',
    read(at) {
      const seen = secrets.see(at);
      const what = `Secret ${at.namespace}/${at.name}`;
      switch (seen.state) {
        case 'here':
          return parse(seen.object);
        case 'absent':
          return fail(
            'missing',
            `${what} is not there: make it with kubectl create secret tls ${at.name} -n ${at.namespace} --cert=FILE --key=FILE`,
          );
        case 'hidden':
          return fail(seen.problem.code, `${what} cannot be read: ${seen.problem.message}`);
        case 'unknown':
          return fail('busy', `${what} is not read yet`);
      }
    },
    listen(listener) {
      stop = secrets.listen((at) => {
        const concerned = [...(askers.get(idOf(at)) ?? [])];
        if (concerned.length > 0) listener(concerned);
      });
    },
    close() {
      stop();
      for (const [asker, mine] of followed) for (const id of mine.keys()) letGo(asker, id);
    },
  };
}

const idOf = ({ namespace = '', name }: Name): string => `${namespace}/${name}`;
