// An engine in a world of its own: a place in memory that can fail, a source that says what it is told, a fake clock.
import {
  askerOf,
  fail,
  ok,
  type LoadBalancer,
  type Member,
  type Origin,
  type Plan,
  type PoolRef,
  type Problem,
  type Provider,
} from '@fairlead/core';
import { memory, type MemoryForm } from '@fairlead/providers';
import type { Edit, Refusal, Source, Supply, Touch } from '@fairlead/sources';
import { fakeClock } from '@fairlead/testkit';
import { engine, type EngineOptions } from '../engine.ts';
import type { Outcome } from '../outcome.ts';

/** A load balancer of `key` (`tenant/application`) on `address:port`, with the one pool `web`. */
export function make(
  key: string,
  port = 80,
  more: { address?: string; object?: string; created?: number } = {},
): LoadBalancer {
  const name = more.object ?? key.replace('/', '-');
  const origin = {
    cluster: 'c1',
    kind: 'ConfigMap',
    namespace: 'shop',
    name,
    uid: `uid-${name}`,
    created: more.created ?? 0,
    revision: 'r1',
  };
  const address = more.address ?? '192.0.2.7';
  return {
    key,
    scope: key.slice(0, key.indexOf('/')),
    origin,
    listeners: [
      {
        name: 'vs',
        address,
        port,
        protocol: 'tcp',
        persistence: 'none',
        routes: [],
        pools: [{ pool: 'web', weight: 1 }],
      },
    ],
    pools: [
      {
        name: 'web',
        service: { namespace: 'shop', name: 'web', port },
        monitor: { type: 'tcp' },
        balance: 'round-robin',
      },
    ],
  };
}

export const pod = (n: number, state: Member['state'] = 'enabled'): Member => ({
  address: `10.0.0.${n}`,
  port: 8080,
  state,
});

export const poolOf = (key: string, pool = 'web'): PoolRef => ({ scope: key.slice(0, key.indexOf('/')), key, pool });

/** A source that wants what it is told to. */
export class ToldSource implements Source {
  readonly name: string;
  synced = true;
  readonly #wants = new Map<string, LoadBalancer>();
  readonly #members = new Map<string, Supply>();
  readonly #refusals = new Map<string, Refusal>();
  readonly #listeners = new Set<(touch: Touch) => void>();

  constructor(name = 'c1') {
    this.name = name;
  }

  /** Wants `lb` from now on, in the place of what its object wanted under that key. */
  want(lb: LoadBalancer): void {
    this.#refusals.delete(askerOf(lb.origin));
    this.#wants.set(`${askerOf(lb.origin)} ${lb.key}`, lb);
    this.#tell({ scopes: [lb.scope], pools: this.#poolsOf(lb), edits: [editOf(lb)] });
  }

  forget(lb: LoadBalancer): void {
    this.#wants.delete(`${askerOf(lb.origin)} ${lb.key}`);
    const rest = [...this.#wants.values()].filter((one) => askerOf(one.origin) === askerOf(lb.origin));
    this.#tell({ scopes: [lb.scope], pools: this.#poolsOf(lb), edits: rest.length > 0 ? [editOf(lb)] : [] });
  }

  /** The object of `lb` cannot be read any longer; its pools still have members. */
  refuse(lb: LoadBalancer, problem: Problem): void {
    this.#wants.delete(`${askerOf(lb.origin)} ${lb.key}`);
    this.#refusals.set(askerOf(lb.origin), { origin: lb.origin, problem });
    this.#tell({ scopes: [lb.scope], pools: [], edits: [editOf(lb)] });
  }

  /** `lb`'s pool has these members now; undefined: nobody knows. */
  supplyWith(lb: LoadBalancer, members: Member[] | undefined, problem?: Problem): void {
    this.#members.set(`${askerOf(lb.origin)} ${lb.key}`, { origin: lb.origin, members, problem });
    this.#tell({ scopes: [], pools: this.#poolsOf(lb), edits: [] });
  }

  /** All caches are full. */
  fill(): void {
    this.synced = true;
    this.#tell({
      scopes: [...this.scopes()],
      pools: [...this.#wants.values()].flatMap((lb) => this.#poolsOf(lb)),
      edits: [],
    });
  }

  owns = (asker: string): boolean => asker.startsWith(`${this.name}/`);
  scopes = (): Set<string> => new Set([...this.#wants.values()].map(({ scope }) => scope));
  wanted = (scope: string): LoadBalancer[] => [...this.#wants.values()].filter((lb) => lb.scope === scope);
  pools = (scope: string): PoolRef[] => this.wanted(scope).flatMap((lb) => this.#poolsOf(lb));
  edits = (): Edit[] => [...this.#wants.values()].map(editOf);
  origin = (asker: string): Origin | undefined =>
    [...this.#wants.values(), ...this.#refusals.values()].find(({ origin }) => askerOf(origin) === asker)?.origin;
  refusals = (asker?: string): Refusal[] =>
    [...this.#refusals].flatMap(([one, refusal]) => (asker === undefined || asker === one ? [refusal] : []));
  supply = (pool: PoolRef, asker: string): Supply | undefined => this.#members.get(`${asker} ${pool.key}`);
  listen(listener: (touch: Touch) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }
  close(): void {
    this.#listeners.clear();
  }

  #poolsOf = (lb: LoadBalancer): PoolRef[] =>
    lb.pools.map(({ name }) => ({ scope: lb.scope, key: lb.key, pool: name }));

  #tell(touch: Touch): void {
    for (const listener of this.#listeners) listener(touch);
  }
}

const editOf = ({ origin, scope }: LoadBalancer): Edit => ({ origin, scopes: [scope] });

/** A place in memory that counts its calls, and fails or waits when told to. */
export function place() {
  const inner = memory();
  const calls: string[] = [];
  const faults: { call: string; problem: Problem }[] = [];
  const gates = new Map<string, Promise<void>>();
  /** Was the place changed in ways that reading does not show? Applying puts it right. */
  const hidden = { drift: false };
  /** Load balancers that the place calls invalid. */
  const refused = new Set<string>();

  const called = async (call: string, subject: string): Promise<Problem | undefined> => {
    calls.push(`${call} ${subject}`);
    await gates.get(call);
    const at = faults.findIndex((fault) => fault.call === call);
    return at < 0 ? undefined : faults.splice(at, 1)[0]?.problem;
  };
  const guarded = async <T>(call: string, subject: string, go: () => Promise<T>) => {
    const problem = await called(call, subject);
    return problem ? { ok: false as const, problem } : go();
  };
  const changed = (plan: Plan<MemoryForm>): string[] =>
    [...plan.create, ...plan.update.map(({ to }) => to)].map(({ key }) => key);

  const provider: Provider<MemoryForm> = {
    ...inner,
    owned: (owner, signal) => guarded('owned', owner, () => inner.owned(owner, signal)),
    read: (scope, signal) => guarded('read', scope, () => inner.read(scope, signal)),
    apply: (plan, signal) =>
      guarded('apply', plan.scope, async () => {
        hidden.drift = false;
        const bad = changed(plan).find((key) => refused.has(key));
        return bad === undefined ? inner.apply(plan, signal) : fail('invalid', `${bad} is not to its taste`);
      }),
    drifted: (scope) => guarded('drifted', scope, async () => ok(hidden.drift)),
    members: {
      read: (pool, signal) => guarded('members', pool.key, () => inner.members.read(pool, signal)),
      write: (pool, plan, signal) => guarded('write', pool.key, () => inner.members.write(pool, plan, signal)),
    },
  };
  return {
    provider: provider as Provider,
    inner,
    calls,
    hidden,
    refused,
    count: (call: string): number => calls.filter((one) => one.startsWith(`${call} `)).length,
    /** The next such call answers with this problem. */
    failNext: (call: string, code: Problem['code']): void =>
      void faults.push({ call, problem: { code, message: `${call} failed` } }),
    /** Such calls wait from now on, until what this returns is called. */
    hold(call: string): () => void {
      let open = (): void => undefined;
      gates.set(call, new Promise((done) => (open = done)));
      return () => {
        gates.delete(call);
        open();
      };
    },
  };
}

export type Place = ReturnType<typeof place>;

const never = new AbortController().signal;

export function world(options: { place?: Place; source?: ToldSource } & Partial<EngineOptions> = {}) {
  const clock = fakeClock();
  const reports: Outcome[] = [];
  const lines: string[] = [];
  const { place: at = place(), source = new ToldSource(), ...rest } = options;
  const stop = new AbortController();
  const running = engine({
    clock,
    random: () => 1,
    owner: 'us',
    provider: at.provider,
    sources: [source],
    report: (outcomes) => void reports.push(...outcomes),
    log: (line) => void lines.push(line),
    ...rest,
  });
  const ended = running.start(stop.signal);
  return {
    clock,
    reports,
    lines,
    place: at,
    source,
    engine: running,
    /** The last word on the load balancer `key`: `ok`, or the problem's code. */
    word(key: string): string | undefined {
      const last = reports.findLast((one) => one.key === key && one.pool === undefined);
      return last && (last.problem?.code ?? 'ok');
    },
    async standing(scope: string): Promise<string[]> {
      const found = await at.inner.read(scope, never);
      return found.ok ? found.value.map(({ key, owner, form }) => `${key} ${owner} ${form.listeners[0]?.port}`) : [];
    },
    async members(key: string): Promise<string[] | undefined> {
      const found = await at.inner.members.read(poolOf(key), never);
      return found.ok ? found.value?.map(({ address, state }) => `${address} ${state}`) : undefined;
    },
    async end(): Promise<void> {
      stop.abort();
      await ended;
    },
  };
}
