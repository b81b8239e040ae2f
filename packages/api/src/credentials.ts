// Credentials in the clear, as the seed's YAML has them: taken out of a Loadbalancer, to be kept in Secrets (spec/tickets.md §2).
import { type Refusal, refusal } from '@fairlead/core';
import type { Loadbalancer, LoadbalancerSpec } from './loadbalancer.ts';

/** What is to be kept in a Secret of that name in the controller's namespace; values in the clear. */
export interface SealedSecret {
  name: string;
  data: Record<string, string>;
  /** The field it comes from. */
  path: keyof typeof references;
}

/** By the field of a credential, the one that refers to a Secret of the user's own instead. */
const references = {
  'spec.ve.passwd': 'spec.ve.credentialsSecretRef',
  'spec.ltm.token': 'spec.ltm.tokenSecretRef',
} as const;

/** Why credentials cannot be kept. `at`: the Secret, as `namespace/name`. */
export const unkept = {
  nameless: (): Refusal =>
    refusal(
      'invalid',
      {
        en: 'the Secrets that keep credentials are named after it: give metadata.name, and no generateName',
        zh: '保存凭据的 Secret 以其命名:请填写 metadata.name,不要使用 generateName',
      },
      'metadata.name',
    ),
  foreign: (at: string, { path }: SealedSecret): Refusal => {
    const reference = references[path];
    const words = {
      en: `would be kept in Secret ${at}, which is somebody else's: refer to it by ${reference}, or remove that Secret`,
      zh: `应保存在 Secret ${at} 中,但该 Secret 不由 Fairlead 创建:请通过 ${reference} 引用它,或移除该 Secret`,
    };
    return refusal('taken', words, path);
  },
  /** `said`: by the API server. */
  failed: (at: string, { path }: SealedSecret, said: string): Refusal => {
    const reference = references[path];
    const words = {
      en: `cannot be kept in Secret ${at} (${said}), so the Loadbalancer is not stored: try again, or refer to a Secret of your own by ${reference}`,
      zh: `无法保存到 Secret ${at}(${said}),因此未保存 Loadbalancer:请重试,或通过 ${reference} 引用自己的 Secret`,
    };
    return refusal('unreachable', words, path);
  },
};

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
    secrets.push({ name: names.ve, data: { username: ve.user, password: ve.passwd }, path: 'spec.ve.passwd' });
    spec.ve.credentialsSecretRef = { name: names.ve };
  }
  if (ltm.token !== undefined && isOurs(ltm.tokenSecretRef, names.ltm)) {
    secrets.push({ name: names.ltm, data: { token: ltm.token }, path: 'spec.ltm.token' });
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
