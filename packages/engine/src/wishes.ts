// What is wanted in one scope, compiled, and who gets what two ask for.
import {
  askerOf,
  settle,
  type Item,
  type Key,
  type LoadBalancer,
  type Problem,
  type Provider,
  type Result,
  type Scope,
} from '@fairlead/core';
import type { SecretPair, Source } from '@fairlead/sources';
import { keyPairsOf } from './certificates.ts';

/** One load balancer that an object asks for, in the words of the place or with what keeps it from that. */
export interface Wish {
  lb: LoadBalancer;
  asker: string;
  form?: unknown;
  /** What its Secrets held when it was asked for. */
  keyPairs?: ReadonlyMap<string, SecretPair> | undefined;
  problem?: Problem | undefined;
}

/** `provider.compile`, once for each reading of a load balancer: a turn of a scope with many compiles those that changed. */
export function compiler(provider: Provider): Compile {
  const known = new WeakMap<LoadBalancer, Result<unknown>>();
  return (lb) => {
    const form = known.get(lb) ?? provider.compile(lb);
    known.set(lb, form);
    return form;
  };
}

export type Compile = (lb: LoadBalancer) => Result<unknown>;

export function wishesIn(scope: Scope, sources: Iterable<Source>, compile: Compile): Wish[] {
  const wishes: Wish[] = [];
  for (const source of sources) {
    for (const lb of source.synced ? source.wanted(scope) : []) {
      const asker = askerOf(lb.origin);
      const form = compile(lb);
      const keyPairs = lb.secrets && keyPairsOf(source, asker, lb.secrets);
      wishes.push(form.ok ? { lb, asker, form: form.value, keyPairs } : { lb, asker, problem: form.problem });
    }
  }
  return wishes;
}

export interface ClaimQuestion {
  wishes: readonly Wish[];
  found: readonly Item<unknown>[];
  owner: string;
  provider: Provider;
  /** Keys that stay as they are found, wanted or not. */
  held: ReadonlySet<Key>;
  /** Who holds `claim` by what stands in another scope. */
  elsewhere(claim: string): string | undefined;
}

/** Marks the wishes that ask for a key, or an address and port, that another has the better right to. */
export function settleWishes({ wishes, found, owner, provider, held, elsewhere }: ClaimQuestion): Wish[] {
  const asking = new Set(wishes.map(nameOfWish));
  const compiled = wishes.filter(({ problem }) => !problem);
  const asks = compiled.map((wish) => ({
    by: nameOfWish(wish),
    claims: claimsOf(provider, wish.lb.key, wish.form),
    created: wish.lb.origin.created,
  }));
  const holders = new Map<string, string>();
  for (const claim of asks.flatMap(({ claims }) => claims)) {
    const holder = elsewhere(claim);
    if (holder !== undefined) holders.set(claim, holder);
  }
  for (const item of found) {
    const name = item.owner === owner ? nameOf(item.asker ?? '', item.key) : nameOf(item.owner, item.key);
    if (item.owner === owner && !asking.has(name) && !held.has(item.key)) continue;
    for (const claim of claimsOf(provider, item.key, item.form)) holders.set(claim, name);
  }
  const refused = new Map(settle(asks, holders).map((one) => [one.by, one]));
  return wishes.map((wish) => {
    const loss = wish.problem ? undefined : refused.get(nameOfWish(wish));
    if (!loss) return wish;
    return { ...wish, problem: { code: 'taken', message: `${loss.claim} is held by ${loss.holder}` } };
  });
}

/** What a load balancer asks for alone: its key, and what its form takes in the place. */
export const claimsOf = (provider: Provider, key: Key, form: unknown): string[] => [
  `key ${key}`,
  ...(provider.claims?.(form) ?? []),
];

export const nameOf = (asker: string, key: Key): string => `${asker} (${key})`;

const nameOfWish = ({ lb, asker }: Wish): string => nameOf(asker, lb.key);
