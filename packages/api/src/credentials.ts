// Credentials in the clear, as the seed's YAML has them: taken out of a Loadbalancer, to be kept in Secrets (spec/tickets.md §2).
import type { Loadbalancer, LoadbalancerSpec } from './loadbalancer.ts';

/** What is to be kept in a Secret of that name in the controller's namespace; values in the clear. */
export interface SealedSecret {
  name: string;
  data: Record<string, string>;
}

export interface Sealed {
  /** Refers to the Secrets, and holds no credential. The very object given when it holds none. */
  object: Loadbalancer;
  secrets: SealedSecret[];
}

/** Where `kubectl apply` keeps what was applied last, credentials and all. */
const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration';

/**
 * A password beside a reference to a Secret of the user's own is dropped, since the reference wins; beside a reference to
 * ours it is a new password, of a file that was applied again.
 */
export function sealed(object: Loadbalancer): Sealed {
  const { ve, ltm } = object.spec;
  if (ve.passwd === undefined && ltm.token === undefined) return { object, secrets: [] };
  const names = sealedNames(object.metadata.name);
  const secrets: SealedSecret[] = [];
  const spec = { ...object.spec, ve: { ...ve }, ltm: { ...ltm } };
  delete spec.ve.passwd;
  delete spec.ltm.token;
  if (ve.passwd !== undefined && isOurs(ve.credentialsSecretRef, names.ve) && ve.user !== undefined) {
    secrets.push({ name: names.ve, data: { username: ve.user, password: ve.passwd } });
    spec.ve.credentialsSecretRef = { name: names.ve };
  }
  if (ltm.token !== undefined && isOurs(ltm.tokenSecretRef, names.ltm)) {
    secrets.push({ name: names.ltm, data: { token: ltm.token } });
    spec.ltm.tokenSecretRef = { name: names.ltm };
  }
  return { object: { ...object, metadata: withoutApplied(object.metadata), spec }, secrets };
}

/** Names of the Secrets that are made for a Loadbalancer. */
export const sealedNames = (loadbalancer: string): { ve: string; ltm: string } => ({
  ve: `${loadbalancer}-ve`,
  ltm: `${loadbalancer}-ltm`,
});

const isOurs = (ref: LoadbalancerSpec['ltm']['tokenSecretRef'], name: string): boolean =>
  ref === undefined || (ref.name === name && ref.namespace === undefined);

/** `kubectl apply` then sends the credentials anew each time, which changes nothing. */
function withoutApplied(metadata: Loadbalancer['metadata']): Loadbalancer['metadata'] {
  const text = metadata.annotations?.[lastApplied];
  if (text === undefined) return metadata;
  const { [lastApplied]: _, ...others } = metadata.annotations ?? {};
  const applied = withoutClear(text);
  return { ...metadata, annotations: applied === undefined ? others : { ...others, [lastApplied]: applied } };
}

/** Undefined for what kubectl has not written: it goes, since nobody knows what it holds. */
function withoutClear(text: string): string | undefined {
  try {
    const applied = JSON.parse(text) as { spec?: Partial<LoadbalancerSpec> };
    delete applied.spec?.ve?.passwd;
    delete applied.spec?.ltm?.token;
    return `${JSON.stringify(applied)}\n`;
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof TypeError) return undefined;
    throw error;
  }
}
