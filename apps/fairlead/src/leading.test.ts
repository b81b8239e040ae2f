// Two controllers, one Lease: no two act, one that is cut off stops before the other begins, and nothing is lost.
import { lbtickets, loadbalancers } from '@fairlead/api';
import { leases } from '@fairlead/kube';
import { expect, onTestFinished, test } from 'vitest';
import { leading } from './leading.ts';
import {
  kubeconfigOf,
  loadbalancerOf,
  made,
  ownNamespace,
  serve,
  ticketOf,
  world,
  type Net,
  type World,
} from './testing/world.ts';

interface Candidate {
  net: Net;
  /** Milliseconds since the epoch of each write but those of the Lease. */
  wrote: number[];
  /** When terms began and ended. */
  terms: { from: number; to?: number }[];
  overdue: number;
  stop(): Promise<void>;
}

function candidate(here: World, identity: string): Candidate {
  const { clock } = here;
  const stop = new AbortController();
  const one: Candidate = {
    net: { way: 'open', wrote: (line) => line.includes('/leases') || one.wrote.push(clock.now()) },
    wrote: [],
    terms: [],
    overdue: 0,
    stop: async () => {
      stop.abort();
      await clock.advance(1);
      await done;
    },
  };
  const log = { debug() {}, info() {}, warn() {}, error() {}, bug() {} };
  const overdue = (): void => void one.overdue++;
  const seat = leading({
    kube: here.client(one.net),
    clock,
    random: () => 0.5,
    namespace: ownNamespace,
    identity,
    log,
    overdue,
  });
  const work = async (term: AbortSignal): Promise<void> => {
    const own: Candidate['terms'][number] = { from: clock.now() };
    one.terms.push(own);
    await here.run({ net: one.net }, term);
    own.to = clock.now();
  };
  const done = seat.run(work, stop.signal);
  onTestFinished(() => one.stop());
  return one;
}

async function contest() {
  const here = await world(['east']);
  const east = here.servers.get('east');
  if (!east) throw new Error('bug: no server');
  await here.secret('clusters', { east: kubeconfigOf('east') });
  await made(here.management.kube.create(loadbalancers, loadbalancerOf('lb', 'east', 1)));
  const a = candidate(here, 'a');
  await here.clock.advance(1_000);
  const b = candidate(here, 'b');
  const file = async (name: string) => {
    await serve(east.kube, `svc-${name}`, ['10.1.1.1']);
    await made(here.management.kube.create(lbtickets, ticketOf(name, 'lb', `svc-${name}`)));
  };
  await file('first');
  await here.clock.advance(10_000);
  const ready = async (name: string) =>
    (await here.ticket(name)).status?.conditions?.find(({ type }) => type === 'Ready')?.status;
  const lease = async () =>
    (await made(here.management.kube.get(leases, { name: 'fairlead', namespace: ownNamespace }))).spec;
  return { here, a, b, file, ready, lease, clock: here.clock };
}

test('the first works alone; the other writes nothing', async () => {
  const { a, b, ready, lease, clock } = await contest();
  expect(await ready('first')).toBe('True');
  await clock.advance(120_000);
  expect([a.terms.length, b.terms.length, b.wrote]).toEqual([1, 0, []]);
  expect(await lease()).toMatchObject({ holderIdentity: 'a', leaseDurationSeconds: 15, leaseTransitions: 0 });
});

test('one that ends gives the Lease back, and the other goes on at once', async () => {
  const { a, b, file, ready, lease, clock } = await contest();
  await a.stop();
  const ended = clock.now();
  await file('second');
  await clock.advance(10_000);
  expect(b.terms[0]!.from - ended).toBeLessThan(4_000);
  expect(await ready('second')).toBe('True');
  expect(await lease()).toMatchObject({ holderIdentity: 'b', leaseTransitions: 1 });
  expect(Math.max(...a.wrote)).toBeLessThanOrEqual(b.terms[0]!.from);
});

test.each(['cut', 'hangs'] as const)(
  'one whose way %s stops before the other begins, and stays out when it is back',
  async (way) => {
    const { a, b, file, ready, lease, clock } = await contest();
    const cut = clock.now();
    a.net.way = way;
    // It has something to do, and cannot.
    await file('second');
    await clock.advance(60_000);
    const ended = a.terms[0]?.to ?? Infinity;
    expect(ended - cut).toBeLessThanOrEqual(10_000);
    expect(b.terms[0]!.from - ended).toBeGreaterThanOrEqual(3_000);
    expect(b.terms[0]!.from - cut).toBeLessThanOrEqual(20_000);
    expect(await ready('second')).toBe('True');
    const before = a.wrote.length;
    a.net.way = 'open';
    await file('third');
    await clock.advance(60_000);
    expect(await ready('third')).toBe('True');
    expect([a.terms.length, a.wrote.length - before, a.overdue]).toEqual([1, 0, 0]);
    expect(await lease()).toMatchObject({ holderIdentity: 'b', leaseTransitions: 1 });
  },
);

test('work that does not end with its term ends the process before another begins', async () => {
  const { here, clock } = await contest();
  const net: Net = { way: 'open' };
  const stop = new AbortController();
  const told: number[] = [];
  const log = { debug() {}, info() {}, warn() {}, error() {}, bug() {} };
  const seat = leading({
    kube: here.client(net),
    clock,
    random: () => 0.5,
    namespace: ownNamespace,
    name: 'other',
    identity: 'c',
    log,
    overdue: () => told.push(clock.now()),
  });
  const done = seat.run(() => clock.sleep(100_000), stop.signal);
  await clock.advance(2_000);
  expect(seat.isLeading).toBe(true);
  net.way = 'cut';
  const cut = clock.now();
  await clock.advance(30_000);
  expect(told).toHaveLength(1);
  expect(told[0]! - cut).toBeLessThan(15_000);
  stop.abort();
  await clock.advance(100_000);
  await done;
});
