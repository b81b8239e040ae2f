// What of ours stands in the place, by scope: who holds what, and which load balancers may have members written.
import type { Item, Key, Provider, Scope } from '@fairlead/core';
import { claimsOf, nameOf } from './wishes.ts';

export interface Ledger {
  /** What stands in `scope` now. Returns the keys that came or changed their asker, and whether something was freed. */
  enter(scope: Scope, ours: readonly Item<unknown>[]): { changed: Set<Key>; freed: boolean };
  /** The object whose load balancer stands in `scope` under `key`. */
  asker(scope: Scope, key: Key): string | undefined;
  /** Does anything of ours stand in `scope`? */
  has(scope: Scope): boolean;
  /** Who holds `claim` by what stands in another scope than this one. */
  elsewhere(scope: Scope, claim: string): string | undefined;
}

interface Page {
  askers: Map<Key, string>;
  claims: Map<string, string>;
}

export function ledger(provider: Provider): Ledger {
  const pages = new Map<Scope, Page>();
  const holders = new Map<string, { scope: Scope; name: string }>();
  return {
    enter(scope, ours) {
      const before = pages.get(scope);
      const page = pageOf(provider, ours);
      if (ours.length > 0) pages.set(scope, page);
      else pages.delete(scope);
      for (const claim of before?.claims.keys() ?? []) if (holders.get(claim)?.scope === scope) holders.delete(claim);
      for (const [claim, name] of page.claims) holders.set(claim, { scope, name });
      const changed = new Set(
        [...page.askers].filter(([key, asker]) => before?.askers.get(key) !== asker).map(([key]) => key),
      );
      const freed = [...(before?.claims.keys() ?? [])].some((claim) => !page.claims.has(claim));
      return { changed, freed };
    },
    asker: (scope, key) => pages.get(scope)?.askers.get(key),
    has: (scope) => pages.has(scope),
    elsewhere(scope, claim) {
      const holder = holders.get(claim);
      return holder?.scope === scope ? undefined : holder?.name;
    },
  };
}

function pageOf(provider: Provider, ours: readonly Item<unknown>[]): Page {
  const page: Page = { askers: new Map(), claims: new Map() };
  for (const { key, asker = '', form } of ours) {
    page.askers.set(key, asker);
    for (const claim of claimsOf(provider, key, form)) page.claims.set(claim, nameOf(asker, key));
  }
  return page;
}
