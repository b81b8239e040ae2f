// The tenants of one device: read, and written whole, one at a time.
import { declaration, discoverablePools, markOf, type Application, type As3 } from '@fairlead/as3';
import { ok, type Item, type Placed, type Plan, type PoolRef, type Result, type Scope } from '@fairlead/core';
import { addressOf, applicationsOf, itemOf, nameOf, problemOf } from './applications.ts';
import type { Call } from './call.ts';
import type { Declarations, DeclaredTenant } from './declare.ts';
import { isJson, type Json } from './json.ts';
import { membersIn, type DeviceMember, type MemberTemplate } from './member-lane.ts';

export class Tenants {
  readonly #call: Call;
  readonly #declared: Declarations;
  /** As read or written last: the words around a tenant's applications, and the key that notices another writer. */
  readonly #seen = new Map<Scope, Pick<DeclaredTenant, 'words' | 'lock'>>();
  readonly #templates = new Map<Scope, Map<string, MemberTemplate>>();
  readonly #exclusive = oneAtATime();

  constructor(call: Call, declared: Declarations) {
    this.#call = call;
    this.#declared = declared;
  }

  /** What members of `pool` get besides an address, as its tenant was read or written last. */
  readonly templateOf = (pool: PoolRef): MemberTemplate => this.#templates.get(pool.scope)?.get(poolId(pool)) ?? {};

  async owned(owner: string, signal: AbortSignal): Promise<Result<Scope[]>> {
    const all = await this.#declared.all(signal);
    if (!all.ok) return all;
    const isOurs = ({ applications }: DeclaredTenant): boolean =>
      applications.some(([, one]) => markOf(one)?.owner === owner);
    return ok([...all.value].filter(([, tenant]) => isOurs(tenant)).map(([name]) => name));
  }

  async read(scope: Scope, signal: AbortSignal): Promise<Result<Item<Application>[]>> {
    const tenant = await this.#declared.tenant(scope, signal);
    if (!tenant.ok) return tenant;
    const items = tenant.value.applications.map(([name, application]) => itemOf(`${scope}/${name}`, application));
    this.#seen.set(scope, tenant.value);
    this.#learn(scope, items);
    return ok(items);
  }

  async apply(plan: Plan<Application>, signal: AbortSignal): Promise<Result<Placed[]>> {
    const written = await this.#exclusive(() => this.#write(plan, signal));
    if (!written.ok) return written;
    const ours = plan.after.filter(({ owner }) => owner === plan.owner);
    return ok(ours.map(({ key, form }) => ({ key, address: addressOf(form) })));
  }

  /**
   * AS3 compares a declaration with the device itself, though it shows only what was declared last. So a dry run of what
   * stands finds what was changed by hand.
   */
  async drifted(scope: Scope, found: readonly Item<Application>[], signal: AbortSignal): Promise<Result<boolean>> {
    const plan = { scope, owner: '', create: [], update: [], remove: [], after: [...found] };
    const said = await this.#exclusive(async () => {
      const body = await this.#bodyOf(plan, signal);
      return body.ok ? this.#declared.post(scope, { ...body.value, action: 'dry-run' }, signal) : body;
    });
    return said.ok ? ok(said.value !== 'no change') : said;
  }

  async #write(plan: Plan<Application>, signal: AbortSignal): Promise<Result<void>> {
    const body = await this.#bodyOf(plan, signal);
    if (!body.ok) return body;
    const problem = problemOf(plan, body.value);
    if (problem) return { ok: false, problem };
    const posted = await this.#declared.post(plan.scope, body.value, signal);
    if (!posted.ok) return posted;
    // The key is another one from now on; a write before the next read goes without.
    this.#seen.set(plan.scope, { words: this.#seen.get(plan.scope)?.words ?? {}, lock: undefined });
    this.#learn(plan.scope, plan.after);
    return ok(undefined);
  }

  async #bodyOf(plan: Plan<Application>, signal: AbortSignal): Promise<Result<As3>> {
    const live = await this.#live(plan, signal);
    if (!live.ok) return live;
    const body = declaration({ [plan.scope]: applicationsOf(plan, live.value) });
    const { words = {}, lock } = this.#seen.get(plan.scope) ?? {};
    const tenant = body.declaration[plan.scope];
    const whole = {
      // A tenant with nothing but words would stay; without any it goes.
      ...(plan.after.length > 0 ? words : {}),
      ...(isJson(tenant) ? tenant : {}),
      ...(lock === undefined ? {} : { optimisticLockKey: lock }),
    };
    return ok({ ...body, declaration: { ...body.declaration, [plan.scope]: whole } });
  }

  /** Members that the device has now. Where all is new there is nothing to ask for, and maybe no partition yet. */
  async #live(plan: Plan<Application>, signal: AbortSignal): Promise<Result<Map<string, DeviceMember[]>>> {
    if (plan.create.length === plan.after.length && plan.remove.length === 0) return ok(new Map());
    return membersIn(this.#call, plan.scope, this.templateOf, signal);
  }

  #learn(scope: Scope, items: readonly Item<Application>[]): void {
    const pools = items
      .filter(({ owner }) => owner !== '')
      .flatMap(({ key, form }) => discoverablePools(form).map((one) => ({ key, ...one })));
    this.#templates.set(scope, new Map(pools.map((one) => [poolId(one), attributesOf(one.template)])));
    if (items.length > 0) return;
    this.#templates.delete(scope);
    this.#seen.delete(scope);
  }
}

const poolId = ({ key, pool }: Pick<PoolRef, 'key' | 'pool'>): string => `${nameOf(key)}/${pool}`;

function attributesOf({ shareNodes, ratio, ...rest }: Json): MemberTemplate {
  const number = (word: string): number | undefined => (typeof rest[word] === 'number' ? rest[word] : undefined);
  const template: MemberTemplate = {
    connectionLimit: number('connectionLimit'),
    priorityGroup: number('priorityGroup'),
  };
  return { ...template, shareNodes: shareNodes === true, ratio: typeof ratio === 'number' ? ratio : undefined };
}

/** Runs one at a time, in order: a device refuses a declaration while it works on another. */
function oneAtATime(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const next = last.then(work);
    // The next in line goes on whatever became of this one; who asked for it hears of that.
    last = next.then(
      () => undefined,
      () => undefined,
    );
    return next;
  };
}
