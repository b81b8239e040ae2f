// The contract of a place that load balancers can be put.
import type { Key, LoadBalancer, Scope } from './load-balancer.ts';
import type { Member, MemberPlan, PoolRef } from './member.ts';
import type { Problem, Result } from './problem.ts';
import type { Statistics, StatisticsQuestion } from './statistics.ts';

/** One load balancer in the words of a place, and whose it is. */
export interface Item<Form> {
  key: Key;
  /** Without members: these have a lane of their own, so the plan never compares them. */
  form: Form;
  owner: string;
  /** The object that asked, as `askerOf` names it; absent on what others put there. */
  asker?: string | undefined;
  address?: string | undefined;
  /** By pool name, what a write of the whole scope puts in so that it takes no member away. */
  members?: ReadonlyMap<string, readonly Member[]> | undefined;
  /** By Secret and digest, as `keyPairId` names them, what a write of the whole scope puts in for certificates. */
  keyPairs?: ReadonlyMap<string, KeyPair> | undefined;
}

/** PEM texts. Never part of a form: forms are compared, shown and logged. */
export interface KeyPair {
  certificate: string;
  privateKey: string;
  /** Certificates between this one and an authority. */
  chain?: string | undefined;
}

/** A certificate of a form whose Secret cannot be used now. */
export interface OpenCertificate {
  /** Its name in the form. */
  name: string;
  secret: string;
  /** The place has one under that name, which stays; without it, what leans on it is left out. */
  kept: boolean;
}

/** A rule that a listener of a form names, and that is not on the device. */
export interface AbsentRule {
  rule: string;
  /** The listener stays with the rules it has there; otherwise it is left out. */
  kept: boolean;
}

export interface Completed<Form> {
  form: Form;
  open: OpenCertificate[];
  absent: AbsentRule[];
}

export interface Plan<Form> {
  scope: Scope;
  owner: string;
  create: Item<Form>[];
  update: { from: Item<Form>; to: Item<Form> }[];
  remove: Item<Form>[];
  /** What the scope holds afterwards, others' items included, for places that are written whole. */
  after: Item<Form>[];
}

export interface Placed {
  key: Key;
  address?: string | undefined;
  problem?: Problem | undefined;
}

/** A place that load balancers can be put: a BIG-IP, a cloud account, memory. */
export interface Provider<Form = unknown> {
  readonly name: string;
  /** The part written in one step: a BIG-IP tenant, one cloud load balancer. */
  scopeOf(lb: LoadBalancer): Scope;
  /** `lb` in the words of the place. Pure; golden files test it. */
  compile(lb: LoadBalancer): Result<Form>;
  /**
   * `wanted` without what cannot be told of it now: a certificate whose Secret is missing stays as `found` has it, or is
   * left out with the listeners that need it; so for rules that are not on the device. Absent where forms name neither.
   */
  complete?(wanted: Form, found: Form | undefined, signal: AbortSignal): Promise<Completed<Form>>;
  /** Scopes with something of `owner` in them, to sweep after deletes and restarts. */
  owned(owner: string, signal: AbortSignal): Promise<Result<Scope[]>>;
  /** What `scope` holds now, ours and not ours. */
  read(scope: Scope, signal: AbortSignal): Promise<Result<Item<Form>[]>>;
  /**
   * Was anything of `found` changed in the place in ways that `read` does not show? Asked now and then, for it may cost
   * the place as much as a write; absent where `read` shows everything.
   */
  drifted?(scope: Scope, found: readonly Item<Form>[], signal: AbortSignal): Promise<Result<boolean>>;
  /** Make `scope` match `plan`. Safe to repeat. */
  apply(plan: Plan<Form>, signal: AbortSignal): Promise<Result<Placed[]>>;
  /** Is the place there, and may we work with it? Costs it next to nothing; absent where there is nothing to ask. */
  check?(signal: AbortSignal): Promise<Result<void>>;
  /**
   * What `form` takes for itself alone, such as `192.0.2.7:80/tcp`. Two load balancers that claim the same are told
   * apart before a write; absent where a place lets any two live side by side.
   */
  claims?(form: Form): string[];
  /** What the place has counted so far; absent where nothing is counted. */
  statistics?(question: StatisticsQuestion, signal: AbortSignal): Promise<Result<Statistics>>;
  /** The member lane, for places that take members without a redeclaration; absent where they do not. */
  members?: MemberLane;
}

export interface MemberLane {
  /** What the pool holds now, or undefined when there is no such pool (yet). */
  read(pool: PoolRef, signal: AbortSignal): Promise<Result<Member[] | undefined>>;
  /** Write just these changes. Safe to repeat; what an operator disabled by hand stays disabled. */
  write(pool: PoolRef, plan: MemberPlan, signal: AbortSignal): Promise<Result<void>>;
}
