// Which target clusters are wanted: Secrets of the management cluster, in CIS-C's form (spec/f5.md §1.6), as entries. Pure.
import { fail, ok, type Result } from '@fairlead/core';
import type { Secret } from '@fairlead/kube';
import { secretText } from '../secret-text.ts';

/** On a Secret: each key is the name of a cluster, each value a kubeconfig. The value does not matter. */
export const clustersLabel = 'fairlead.io/clusters';

/** One cluster that somebody wants. */
export interface Entry {
  name: string;
  /** For messages: `Secret fairlead-system/clusters, key a`. */
  from: string;
  /** The Secret, to tell Events of; absent for clusters that the command line names. */
  secret?: Secret | undefined;
  /** A kubeconfig; empty: the cluster that the controller itself works in. Undefined: a client was given. */
  text?: string | undefined;
}

export interface Entries {
  wanted: Map<string, Entry>;
  /** Those that cannot even be tried, and why. */
  refused: { entry: Entry; why: string }[];
}

/**
 *   two entries of one name       | wanted
 *   ------------------------------+--------------------------
 *   one is of the command line    | that one
 *   both are of Secrets           | that of the older Secret, then by the Secret's name
 */
export function entriesOf(fixed: Iterable<string>, secrets: Iterable<Secret>): Entries {
  const wanted = new Map<string, Entry>();
  const refused: Entries['refused'] = [];
  for (const name of fixed) wanted.set(name, { name, from: `--cluster ${name}` });
  for (const secret of [...secrets].sort(byAge)) {
    for (const name of Object.keys(secret.data ?? {}).sort()) {
      const entry = entryOf(secret, name);
      const present = wanted.get(name);
      const why = wrongName(name) ?? (present && `cluster "${name}" is registered already by ${present.from}`);
      if (why === undefined) wanted.set(name, entry);
      else refused.push({ entry, why: `${why}; give this one another name, or take it out` });
    }
  }
  return { wanted, refused };
}

function entryOf(secret: Secret, name: string): Entry {
  const { namespace = '', name: own } = secret.metadata;
  const text = secretText(secret, name) ?? '';
  return { name, from: `Secret ${namespace}/${own}, key ${name}`, secret, text: text.trim() === '' ? '' : text };
}

const byAge = (a: Secret, b: Secret): number => {
  const [x, y] = [a, b].map(({ metadata }) => `${metadata.creationTimestamp ?? ''} ${metadata.name}`);
  return (x ?? '') < (y ?? '') ? -1 : 1;
};

const wrongName = (name: string): string | undefined => {
  const found = clusterName(name);
  return found.ok ? undefined : found.problem.message;
};

/** The same names that `spec.cluster` of a Loadbalancer takes. */
export const clusterName = (name: string): Result<string> =>
  /^[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/.test(name)
    ? ok(name)
    : fail('invalid', `"${name}" is no name of a cluster: letters, digits, -, _ and . inside, 63 at most`);
