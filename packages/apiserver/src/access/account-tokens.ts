// Tokens of service accounts: signed for one account (and, if wanted, one pod), good until they expire or what they are for is gone.
import {
  calculateJwkThumbprint,
  errors,
  exportJWK,
  generateKeyPair,
  importJWK,
  jwtVerify,
  SignJWT,
  type JWK,
} from 'jose';
import { uuid, type Cluster, type UserInfo } from '../cluster.ts';
import { listOf, textOf, treeOf, type KubeObject, type Tree } from '../object.ts';
import { keyOf } from '../resource.ts';
import { decode } from '../store.ts';
import { accountGroups } from './impersonate.ts';

export const issuer = 'https://kubernetes.default.svc';

/** What a token is to say. */
export interface Grant {
  account: KubeObject;
  audiences: string[];
  /** Seconds from now. */
  seconds: number;
  /** What the token is for besides the account; it is good only while that is there. */
  bound?: KubeObject;
}

export type Verified = { ok: true; user: UserInfo; audiences: string[] } | { ok: false; problem: string };

export interface AccountTokens {
  sign(grant: Grant): Promise<string>;
  /** `audiences`: one of them must be the token's; the server's own unless given. */
  verify(token: string, audiences?: string[]): Promise<Verified>;
  /** The keys others may check tokens with. */
  publicKeys(): Promise<JWK[]>;
}

interface Signer {
  id: string;
  secret: JWK;
  shown: JWK;
}

const algorithm = 'ES256';
// Not of any served kind, so no request can read it.
const signerKey = '/registry/internal/signers/service-accounts';
const claim = 'kubernetes.io';

/** The key is made when it is first needed, and kept with the objects: tokens outlive a restart. */
export function accountTokens(cluster: Cluster): AccountTokens {
  let signer: Promise<Signer> | undefined;
  const current = () => (signer ??= storedSigner(cluster));
  return {
    async sign(grant) {
      const { id, secret } = await current();
      const now = Math.floor(cluster.clock.now() / 1000);
      const { name = '', namespace = '' } = grant.account.metadata;
      return new SignJWT({ [claim]: claimOf(grant) })
        .setProtectedHeader({ alg: algorithm, kid: id })
        .setAudience(grant.audiences)
        .setIssuer(issuer)
        .setSubject(`system:serviceaccount:${namespace}:${name}`)
        .setIssuedAt(now)
        .setNotBefore(now)
        .setExpirationTime(now + grant.seconds)
        .setJti(uuid(cluster))
        .sign(await importJWK(secret, algorithm));
    },
    async verify(token, audiences = [issuer]) {
      if (token.split('.').length !== 3) return { ok: false, problem: 'invalid bearer token' };
      const { shown } = await current();
      const checked = await payloadOf(token, shown, cluster.clock.now());
      return checked.ok ? believed(cluster, checked.payload, audiences) : checked;
    },
    publicKeys: async () => [(await current()).shown],
  };
}

function storedSigner(cluster: Cluster): Promise<Signer> {
  return cluster.store.locked(signerKey, async () => {
    const entry = cluster.store.get(signerKey);
    if (entry) return signerOf(decode(entry.text).key as JWK);
    const { privateKey } = await generateKeyPair(algorithm, { extractable: true });
    const key = await exportJWK(privateKey);
    await cluster.store.put(signerKey, {
      kind: 'Signer',
      apiVersion: 'internal',
      metadata: { name: 'service-accounts', uid: uuid(cluster) },
      key,
    });
    return signerOf(key);
  });
}

async function signerOf(secret: JWK): Promise<Signer> {
  const { d: _, ...open } = secret;
  const id = await calculateJwkThumbprint(open);
  return { id, secret, shown: { ...open, use: 'sig', kid: id, alg: algorithm } };
}

const named = ({ metadata }: KubeObject): Tree => ({ name: metadata.name, uid: metadata.uid });

function claimOf({ account, bound }: Grant): Tree {
  return {
    namespace: account.metadata.namespace,
    serviceaccount: named(account),
    ...(bound ? { [bound.kind.toLowerCase()]: named(bound) } : {}),
  };
}

async function payloadOf(
  token: string,
  key: JWK,
  now: number,
): Promise<{ ok: true; payload: Tree } | { ok: false; problem: string }> {
  try {
    const options = { algorithms: [algorithm], issuer, currentDate: new Date(now) };
    const { payload } = await jwtVerify(token, await importJWK(key, algorithm), options);
    return { ok: true, payload };
  } catch (error) {
    if (!(error instanceof errors.JOSEError)) throw error;
    const why = error instanceof errors.JWTExpired ? 'service account token has expired' : error.message;
    return { ok: false, problem: `[invalid bearer token, ${why}]` };
  }
}

/** The kinds a token may be bound to, and where they are. */
export const boundKinds: Record<string, { resource: string; isNamespaced: boolean }> = {
  pod: { resource: 'pods', isNamespaced: true },
  secret: { resource: 'secrets', isNamespaced: true },
  node: { resource: 'nodes', isNamespaced: false },
};

/** A signature is not enough: the account, and what the token is bound to, must still be the ones it was made for. */
function believed(cluster: Cluster, payload: Tree, audiences: string[]): Verified {
  const about = treeOf(payload[claim]);
  const namespace = textOf(about.namespace);
  const account = treeOf(about.serviceaccount);
  const refused = (why: string): Verified => ({ ok: false, problem: `[invalid bearer token, ${why}]` });
  const own = listOf([payload.aud].flat()).map(String);
  const common = audiences.filter((one) => own.includes(one));
  if (common.length === 0)
    return refused(
      `token audiences ${JSON.stringify(own)} is invalid for the target audiences ${JSON.stringify(audiences)}`,
    );
  if (!isThere(cluster, { resource: 'serviceaccounts', isNamespaced: true }, namespace, account))
    return refused(`service account ${namespace}/${textOf(account.name)} has been deleted`);
  const extra: Record<string, string[]> = {
    'authentication.kubernetes.io/credential-id': [`JTI=${textOf(payload.jti)}`],
  };
  for (const [kind, at] of Object.entries(boundKinds)) {
    if (about[kind] === undefined) continue;
    const bound = treeOf(about[kind]);
    if (!isThere(cluster, at, namespace, bound)) return refused('service account token has been invalidated');
    if (kind === 'secret') continue;
    extra[`authentication.kubernetes.io/${kind}-name`] = [textOf(bound.name)];
    extra[`authentication.kubernetes.io/${kind}-uid`] = [textOf(bound.uid)];
  }
  const groups = [...accountGroups(namespace), 'system:authenticated'];
  const user = { username: textOf(payload.sub), uid: textOf(account.uid), groups, extra };
  return { ok: true, user, audiences: common };
}

function isThere(
  cluster: Cluster,
  at: { resource: string; isNamespaced: boolean },
  namespace: string,
  wanted: Tree,
): boolean {
  const entry = cluster.store.get(keyOf({ group: '', ...at }, namespace, textOf(wanted.name)));
  return entry !== undefined && decode(entry.text).metadata.uid === wanted.uid;
}
