// What every part of the server works on: the store, the kinds, the clock, and the hooks around a write.
import type { Clock } from './clock.ts';
import type { KubeObject } from './object.ts';
import type { Registry } from './resource.ts';
import type { Send } from './send.ts';
import type { Store } from './store.ts';
import type { Cause, Result } from './status.ts';

export interface UserInfo {
  username: string;
  uid?: string;
  groups: string[];
  extra?: Record<string, string[]>;
}

/** A write under review, before it is validated and kept. `object` is absent on DELETE, `oldObject` on CREATE. */
export interface Review {
  operation: 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT';
  resource: { group: string; version: string; resource: string };
  subresource?: string;
  kind: { group: string; version: string; kind: string };
  namespace?: string;
  name: string;
  object?: KubeObject;
  oldObject?: KubeObject;
  userInfo: UserInfo;
  dryRun: boolean;
}

export type Verdict = { allowed: true; object?: unknown; warnings?: string[] } | { allowed: false; status?: Denial };

/** Why a write is refused; clients list the causes of what is `Invalid`. */
export interface Denial {
  code?: number;
  reason?: string;
  message: string;
  details?: { causes?: Cause[] };
}

/**
 * Lets a write pass, changed or not, or refuses it. Called in the order given, each with the object the one before left:
 * a change is another object in the verdict, and the one of the review stays as it is.
 */
export type Admit = (review: Review) => Promise<Verdict>;

export interface Addresses {
  /** Gives a service its cluster address and node ports; refuses what is taken or out of range. Changes it in place. */
  give(object: KubeObject, old: KubeObject | undefined): Result<void>;
  /** Takes back what `object` holds and `kept` does not. */
  release(object: KubeObject, kept?: KubeObject): void;
}

export interface Cluster {
  name: string;
  store: Store;
  registry: Registry;
  clock: Clock;
  random(bytes: number): Uint8Array;
  admit: Admit[];
  /** How the server calls webhooks and kubelets. */
  send: Send;
  /** PEM of the authority behind the server's certificate, told to pods; undefined where there is none. */
  authority: string | undefined;
  /** Told of the server's own failures. */
  report(message: string): void;
  addresses: Addresses;
}

const letters = 'bcdfghjklmnpqrstvwxz2456789';

/** Five letters and digits without vowels, as Kubernetes puts after a generated name. */
export const nameSuffix = (cluster: Cluster): string =>
  [...cluster.random(5)].map((byte) => letters[byte % letters.length]).join('');

/** A random UUID of version 4. */
export function uuid(cluster: Cluster): string {
  const bytes = Buffer.from(cluster.random(16));
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const hex = bytes.toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}
