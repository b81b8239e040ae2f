// The contract of a source: code that reads Kubernetes objects and says which load balancers are wanted.
import type { Key, LoadBalancer, Member, Origin, PoolRef, Problem, Result, Scope } from '@fairlead/core';
import type { SecretPair } from './secrets.ts';

/** An object, or one load balancer in it, that cannot be told now. What it has in a place stays there as it is. */
export interface Refusal {
  origin: Origin;
  /** The one load balancer at fault; absent when nothing of the object can be told. */
  key?: Key | undefined;
  problem: Problem;
}

/** The members of a pool now. `members` undefined: not known now, so what the place holds stays. */
export interface Supply {
  /** The object that wants the pool: it is told what is wrong with it. */
  origin: Origin;
  members: readonly Member[] | undefined;
  /** What is wrong with the way from pool to Service, though `members` may be good. */
  problem?: Problem | undefined;
}

/** What to look at again. It carries no content: whoever looks reads the source. */
export interface Touch {
  scopes: readonly Scope[];
  pools: readonly PoolRef[];
  edits: readonly Edit[];
}

/** An object that says something else than before, and the scopes it has or had a part in. */
export interface Edit {
  origin: Origin;
  scopes: readonly Scope[];
}

/** Reads never wait and cost what they give back, whatever else the source holds. */
export interface Source {
  /** For messages, such as `acp-region01/demo`. */
  readonly name: string;
  /** Are the caches full that say what is wanted? Until then it wants nothing, and nothing it may own is removed. */
  readonly synced: boolean;
  /**
   * Is `asker`, read from a place, an object that this source answers for, or did before it was deleted? What no source
   * answers for is never removed: its own may be late, or served by another engine.
   */
  owns(asker: string): boolean;
  /** Scopes in which it wants something now. */
  scopes(): Iterable<Scope>;
  /** What is wanted in `scope`. The same key may come twice, from two objects: the engine settles that. */
  wanted(scope: Scope): LoadBalancer[];
  /** Pools of `scope` that want members, those of refused load balancers included. */
  pools(scope: Scope): PoolRef[];
  /** All objects that ask for something now, as edits. */
  edits(): Iterable<Edit>;
  /** The object `asker`, while it asks for something here. */
  origin(asker: string): Origin | undefined;
  /** What cannot be told now: of all objects, or of the one that `asker` names. */
  refusals(asker?: string): Iterable<Refusal>;
  /** Members of the pool that the object `asker` wants; undefined when it wants no such pool. */
  supply(pool: PoolRef, asker: string): Supply | undefined;
  /**
   * What the Secret holds that a certificate of `asker` comes from, or why it cannot be used; undefined when `asker`
   * names no such Secret. Absent where no certificates come from Secrets.
   */
  certificate?(asker: string, secret: string): Result<SecretPair> | undefined;
  /** Calls back when something changed, and once with everything when the caches are full. Returns the way to stop. */
  listen(listener: (touch: Touch) => void): () => void;
  /** Forgets all and listens to no store any longer. */
  close(): void;
}
