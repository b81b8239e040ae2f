// What every provider must do, as tests: one call for each implementation.
import { isPlanEmpty, plan } from '@fairlead/core';
import type {
  Item,
  LoadBalancer,
  Member,
  MemberLane,
  Plan,
  PlanAnswer,
  PoolRef,
  Provider,
  Result,
  Scope,
} from '@fairlead/core';
import { expect, test } from 'vitest';

/** A fresh place with nothing in it, and what the suite may do to it behind the provider's back. */
export interface ProviderPlace<Form> {
  provider: Provider<Form>;
  /** Another client of the same place, as a second controller would be. */
  other: Provider<Form>;
  /** The next request to the place fails in this way. Absent where a place cannot fail so. */
  failNext(code: FaultCode): void;
  /** What an operator does by hand. Absent where there is no member lane. */
  disable?(pool: PoolRef, member: Member): Promise<void>;
  close?(): Promise<void>;
}

export type FaultCode = 'busy' | 'denied' | 'unreachable' | 'invalid';

export interface ProviderSuite<Form> {
  make(): Promise<ProviderPlace<Form>>;
  /** Rules that do not hold, by name, and why; the reason is printed. */
  skip?: Readonly<Record<string, string>>;
  /** `/24` that virtual addresses are taken from, as `192.0.2`. Default that. */
  network?: string;
}

type Rule = <Form>(world: World<Form>) => Promise<void>;

/** Registers one test for each rule. */
export function testProvider<Form>({ make, skip = {}, network = '192.0.2' }: ProviderSuite<Form>): void {
  for (const [name, rule] of Object.entries({ ...structureRules, ...failureRules, ...memberRules })) {
    const reason = skip[name];
    test.runIf(reason === undefined)(reason === undefined ? name : `${name} (not here: ${reason})`, async () => {
      const place = await make();
      try {
        await rule(worldOf(place, network));
      } finally {
        await place.close?.();
      }
    });
  }
}

const structureRules: Record<string, Rule> = {
  'an unknown scope reads as empty': async ({ found }) => {
    expect(await found()).toEqual([]);
  },
  'what was applied reads back equal, so a second turn does nothing': async ({ turn, web }) => {
    expect((await turn('us', [web()])).plan.create.length).toBe(1);
    expect(isPlanEmpty((await turn('us', [web()])).plan)).toBe(true);
  },
  'a change is an update': async ({ turn, web }) => {
    await turn('us', [web()]);
    expect((await turn('us', [web(8081)])).plan.update.length).toBe(1);
    expect(isPlanEmpty((await turn('us', [web(8081)])).plan)).toBe(true);
  },
  'who asked is remembered beside it': async ({ turn, web, found }) => {
    await turn('us', [web()]);
    expect((await found()).map(({ key, owner, asker }) => `${key} ${owner} ${asker}`)).toEqual([
      'conform/web us c1/shop/web',
    ]);
  },
  'what is placed says at which address': async ({ turn, web, found, network }) => {
    await turn('us', [web()]);
    expect((await found())[0]?.address).toBe(`${network}.7`);
  },
  'a scope with something of ours is listed, and no longer once emptied': async ({ turn, web, found, owned }) => {
    await turn('us', [web()]);
    expect(await owned('us')).toEqual(['conform']);
    expect(await owned('them')).toEqual([]);
    await turn('us', []);
    expect(await owned('us')).toEqual([]);
    expect(await found()).toEqual([]);
  },
  'what others own is left alone': async ({ turn, web, found }) => {
    await turn('them', [web()]);
    expect((await turn('us', [web(8081)])).taken.length).toBe(1);
    await turn('us', []);
    expect((await found()).map(({ owner }) => owner)).toEqual(['them']);
  },
  'what others own survives when we write beside it': async ({ turn, web, api, found }) => {
    await turn('them', [web()]);
    await turn('us', [web(), api()]);
    expect((await found()).map(({ key, owner }) => `${key} ${owner}`).sort()).toEqual([
      'conform/api us',
      'conform/web them',
    ]);
    expect(isPlanEmpty((await turn('them', [web()])).plan)).toBe(true);
  },
  'of two scopes, writing one leaves the other': async ({ turn, web, found, network }) => {
    await turn('us', [web()]);
    await turn('us', [{ ...make('api', `${network}.9`, 8080), key: 'second/api', scope: 'second' }], 'second');
    await turn('us', [], 'second');
    expect((await found()).length).toBe(1);
  },
};

const failureRules: Record<string, Rule> = {
  'an aborted call leaves no half scope': async ({ place, web, api, todo, found, turn }) => {
    const stop = new AbortController();
    const applied = place.provider.apply(await todo('us', [web(), api()]), stop.signal);
    stop.abort();
    await applied;
    expect([0, 2]).toContain((await found()).length);
    await turn('us', [web(), api()]);
    expect((await found()).length).toBe(2);
  },
  'a call with an aborted signal does not throw': async ({ place }) => {
    await expect(place.provider.read('conform', AbortSignal.abort())).resolves.toBeDefined();
  },
  'busy, denied, unreachable and invalid are told apart': async ({ place, web, todo, found }) => {
    for (const code of ['busy', 'denied', 'unreachable', 'invalid'] as const) {
      const plan = await todo('us', [web()]);
      place.failNext(code);
      const applied = await place.provider.apply(plan, never);
      expect(applied.ok ? 'ok' : applied.problem.code).toBe(code);
      expect(await found()).toEqual([]);
    }
  },
  'a place that cannot be read says so, and is not taken for an empty one': async ({ place, turn, web }) => {
    await turn('us', [web()]);
    place.failNext('unreachable');
    expect((await place.provider.read('conform', never)).ok).toBe(false);
    place.failNext('busy');
    expect((await place.provider.owned('us', never)).ok).toBe(false);
  },
  'two writers are noticed': async ({ place, web, api, todo, found, turn }) => {
    await turn('us', [web()]);
    const stale = await todo('us', [web(8081)]);
    must(await place.other.apply(await todo('us', [web(), api()], place.other), never));
    const applied = await place.provider.apply(stale, never);
    expect(applied.ok ? 'ok' : applied.problem.code).toBe('conflict');
    expect((await found()).length).toBe(2);
  },
};

const memberRules: Record<string, Rule> = {
  'a pool that is not there has no members to read, and takes none': async (world) => {
    const lane = laneOf(world);
    expect(must(await lane.read(world.pool, never))).toBeUndefined();
    await world.turn('us', [world.web()]);
    const absent = { ...world.pool, pool: 'absent_pool' };
    expect(must(await lane.read(absent, never))).toBeUndefined();
    const written = await lane.write(absent, { add: [pod(1)], change: [], remove: [] }, never);
    expect(written.ok ? 'ok' : written.problem.code).toBe('missing');
  },
  'a new pool starts with the members of its plan': async (world) => {
    await world.turn('us', [world.web()], 'conform', [pod(1), pod(2, 'draining')]);
    expect(await world.members()).toEqual(['127.77.32.1 enabled', '127.77.32.2 draining']);
  },
  'members are added, drained, enabled again and removed': async (world) => {
    const lane = laneOf(world);
    await world.turn('us', [world.web()]);
    must(await lane.write(world.pool, { add: [pod(1), pod(2), pod(3)], change: [], remove: [] }, never));
    must(await lane.write(world.pool, { add: [], change: [pod(1, 'draining')], remove: [pod(2)] }, never));
    expect(await world.members()).toEqual(['127.77.32.1 draining', '127.77.32.3 enabled']);
    must(await lane.write(world.pool, { add: [], change: [pod(1)], remove: [] }, never));
    expect(await world.members()).toEqual(['127.77.32.1 enabled', '127.77.32.3 enabled']);
  },
  'a write of members may be repeated': async (world) => {
    const lane = laneOf(world);
    await world.turn('us', [world.web()], 'conform', [pod(1), pod(2)]);
    for (let n = 0; n < 2; n++) {
      must(
        await lane.write(
          world.pool,
          { add: [pod(3, 'draining'), pod(4)], change: [pod(1, 'draining')], remove: [pod(2)] },
          never,
        ),
      );
    }
    expect(await world.members()).toEqual(['127.77.32.1 draining', '127.77.32.3 draining', '127.77.32.4 enabled']);
  },
  'IPv6 members have their own way of being named': async (world) => {
    const lane = laneOf(world);
    const six: Member = { address: '2001:db8::1', port: 8080, state: 'enabled' };
    await world.turn('us', [world.web()]);
    must(await lane.write(world.pool, { add: [six], change: [], remove: [] }, never));
    must(await lane.write(world.pool, { add: [], change: [{ ...six, state: 'draining' }], remove: [] }, never));
    expect(await world.members()).toEqual(['2001:db8::1 draining']);
    must(await lane.write(world.pool, { add: [], change: [], remove: [six] }, never));
    expect(await world.members()).toEqual([]);
  },
  'a write of the whole scope takes no member away, and members are no difference': async (world) => {
    const { turn, web, api } = world;
    await turn('us', [web()], 'conform', [pod(1)]);
    must(await laneOf(world).write(world.pool, { add: [pod(2)], change: [pod(1, 'draining')], remove: [] }, never));
    expect(isPlanEmpty((await turn('us', [web()])).plan)).toBe(true);
    await turn('us', [web(8081), api()], 'conform', [pod(9)]);
    expect(await world.members()).toEqual(['127.77.32.1 draining', '127.77.32.2 enabled']);
    must(await laneOf(world).write(world.pool, { add: [], change: [pod(1)], remove: [] }, never));
    expect(await world.members()).toEqual(['127.77.32.1 enabled', '127.77.32.2 enabled']);
  },
  'what an operator disabled by hand stays disabled': async (world) => {
    const { place, turn, web } = world;
    await turn('us', [web()], 'conform', [pod(1), pod(2)]);
    await place.disable?.(world.pool, pod(1));
    must(await laneOf(world).write(world.pool, { add: [], change: [pod(1)], remove: [] }, never));
    await turn('us', [web(8081)], 'conform', [pod(1), pod(2)]);
    const found = must(await laneOf(world).read(world.pool, never));
    expect(found?.map(({ state, byHand }) => `${state} ${byHand}`).sort()).toEqual([
      'draining disabled',
      'enabled undefined',
    ]);
  },
};

interface World<Form> {
  place: ProviderPlace<Form>;
  network: string;
  pool: PoolRef;
  /** Two load balancers of one scope. */
  web(port?: number): LoadBalancer;
  api(): LoadBalancer;
  /** One turn of `owner`, who wants `lbs`; new pools start with `members`. */
  turn(owner: string, lbs: LoadBalancer[], scope?: Scope, members?: Member[]): Promise<PlanAnswer<Form>>;
  todo(owner: string, lbs: LoadBalancer[], provider?: Provider<Form>): Promise<Plan<Form>>;
  found(): Promise<Item<Form>[]>;
  owned(owner: string): Promise<Scope[]>;
  /** `address state` of the members of `pool`, sorted. */
  members(): Promise<string[] | undefined>;
}

function worldOf<Form>(place: ProviderPlace<Form>, network: string): World<Form> {
  const { provider } = place;
  const ask = async (owner: string, { lbs, scope, members, by }: Ask<Form>): Promise<PlanAnswer<Form>> => {
    const wanted = lbs.map((lb) => ({
      key: lb.key,
      form: must(by.compile(lb)),
      owner,
      asker: `c1/${lb.origin.namespace}/${lb.origin.name}`,
      members: new Map(lb.pools.map(({ name }) => [name, members])),
    }));
    return plan({ scope, owner, wanted, found: must(await by.read(scope, never)) });
  };
  return {
    place,
    network,
    pool: { scope: 'conform', key: 'conform/web', pool: 'web_8080_pool' },
    web: (port = 8080) => make('web', `${network}.7`, port),
    api: () => make('api', `${network}.8`, 8090),
    async turn(owner, lbs, scope = 'conform', members = []) {
      const answer = await ask(owner, { lbs, scope, members, by: provider });
      if (!isPlanEmpty(answer.plan)) must(await provider.apply(answer.plan, never));
      return answer;
    },
    todo: async (owner, lbs, by = provider) => (await ask(owner, { lbs, scope: 'conform', members: [], by })).plan,
    found: async () => must(await provider.read('conform', never)),
    owned: async (owner) => must(await provider.owned(owner, never)),
    members: async () =>
      must(await laneOf({ place }).read({ scope: 'conform', key: 'conform/web', pool: 'web_8080_pool' }, never))
        ?.map(({ address, state }) => `${address} ${state}`)
        .sort(),
  };
}

interface Ask<Form> {
  lbs: LoadBalancer[];
  scope: Scope;
  members: Member[];
  by: Provider<Form>;
}

const never = new AbortController().signal;

const pod = (n: number, state: Member['state'] = 'enabled'): Member => ({
  address: `127.77.32.${n}`,
  port: 8080,
  state,
});

function laneOf<Form>({ place }: Pick<World<Form>, 'place'>): MemberLane {
  if (!place.provider.members)
    throw new Error('the place has no member lane: skip the rules on members, with that reason');
  return place.provider.members;
}

function must<T>(result: Result<T>): T {
  if (!result.ok) throw new Error(`${result.problem.code}: ${result.problem.message}`);
  return result.value;
}

function make(name: string, address: string, port: number): LoadBalancer {
  const origin = { cluster: 'c1', kind: 'ConfigMap', namespace: 'shop', name, uid: name, created: 0, revision: '1' };
  const pool = `${name}_8080_pool`;
  const service = { namespace: 'shop', name, port: 8080 };
  return {
    key: `conform/${name}`,
    scope: 'conform',
    origin,
    listeners: [
      {
        name: `${name}_vs`,
        address,
        port,
        protocol: 'tcp',
        persistence: 'none',
        routes: [],
        pools: [{ pool, weight: 1 }],
      },
    ],
    pools: [{ name: pool, service, monitor: { type: 'icmp' }, balance: 'round-robin' }],
  };
}
