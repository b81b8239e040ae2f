// Of all candidates at most one leads, whatever clocks, networks and shutdowns do.
import { fakeClock } from '@fairlead/testkit';
import { expect, test } from 'vitest';
import { kube } from './client.ts';
import type { Clock } from './clock.ts';
import type { Lease } from './kinds.ts';
import type { KubeProblem } from './kube.ts';
import { lead, type Leader } from './lease.ts';
import { json, refused } from './scripted.ts';
import type { Send } from './send.ts';

/** A server that holds one Lease, with optimistic locking. */
function leaseServer() {
  let lease: Lease | undefined;
  let version = 0;
  const write = (body: string | undefined) => {
    const given = JSON.parse(body ?? '') as Lease;
    lease = { ...given, metadata: { ...given.metadata, resourceVersion: `${++version}` } };
    return json(lease);
  };
  const send: Send = async ({ method, body }) => {
    if (method === 'POST') return lease ? refused(409, 'AlreadyExists') : write(body);
    if (!lease) return refused(404, 'NotFound');
    if (method === 'GET') return json(lease);
    const { resourceVersion } = (JSON.parse(body ?? '') as Lease).metadata;
    return resourceVersion === lease.metadata.resourceVersion ? write(body) : refused(409, 'Conflict');
  };
  return {
    send,
    get spec() {
      return lease?.spec;
    },
    /** Someone edits a label. */
    touch: () => (lease &&= { ...lease, metadata: { ...lease.metadata, resourceVersion: `${++version}` } }),
    /** Someone else takes it. */
    seize: () =>
      write(JSON.stringify({ ...lease, spec: { ...lease?.spec, holderIdentity: 'z', leaseTransitions: 99 } })),
    forget: () => (lease = undefined),
  };
}

type Server = ReturnType<typeof leaseServer>;

function contest() {
  const clock = fakeClock(Date.parse('2026-01-01T00:00:00Z'));
  const server = leaseServer();
  const story: string[] = [];
  const begun = clock.now();
  const say = (what: string) => story.push(`${what} ${Math.round((clock.now() - begun) / 100) / 10}`);
  return {
    clock,
    server,
    story,
    say,
    enter: (identity: string, how: Entry = {}) => enter({ clock, server, say }, identity, how),
  };
}

interface Entry {
  /** Milliseconds that this one's clock is ahead. */
  ahead?: number;
  /** How long its work takes to end, in milliseconds. */
  windDown?: number;
  /** How long its requests are on the way, in milliseconds. */
  delay?: number;
}

function enter(
  { clock, server, say }: { clock: Clock; server: Server; say(what: string): void },
  identity: string,
  how: Entry,
) {
  const { ahead = 0, windDown = 0, delay = 0 } = how;
  const own: Clock = { now: () => clock.now() + ahead, sleep: clock.sleep };
  const net = { cut: false, losing: 0, hangs: false };
  const send: Send = async (request) => {
    if (net.hangs) return new Promise(() => {});
    await clock.sleep(delay);
    if (net.cut) throw new Error('cut');
    const answer = await server.send(request);
    if (request.method !== 'PUT' || net.losing-- <= 0) return answer;
    throw new Error('answer lost');
  };
  const client = kube({ server: 'http://test', send, clock: own, random: () => 0.999 });
  const stop = new AbortController();
  const troubles: KubeProblem[] = [];
  const leader: Leader = {
    async started(signal) {
      say(`${identity} leads`);
      await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
      await clock.sleep(windDown);
    },
    stopped: () => say(`${identity} stopped`),
    trouble: (problem) => troubles.push(problem),
  };
  const options = {
    kube: client,
    clock: own,
    random: () => 0.999,
    namespace: 'fairlead',
    name: 'leader',
    identity,
    duration: 14_000,
  };
  const running = lead(options, leader, stop.signal);
  return { net, troubles, running, stop: () => stop.abort() };
}

test('the first to come leads, and renews', async () => {
  const { clock, server, story, enter } = contest();
  const a = enter('a');
  await clock.advance(60_000);
  expect(story).toEqual(['a leads 0']);
  expect(server.spec).toEqual({
    holderIdentity: 'a',
    leaseDurationSeconds: 14,
    acquireTime: '2026-01-01T00:00:00.000000Z',
    renewTime: '2026-01-01T00:01:00.000000Z',
    leaseTransitions: 0,
  });
  a.stop();
  await clock.advance(0);
  await a.running;
});

test.each([0, 3_600_000, -3_600_000])(
  'a second waits while the first renews, its clock ahead by %i ms or not',
  async (ahead) => {
    const { clock, story, enter } = contest();
    const [a, b] = [enter('a'), enter('b', { ahead })];
    await clock.advance(120_000);
    expect(story).toEqual(['a leads 0']);
    for (const one of [a, b]) one.stop();
    await clock.advance(5_000);
  },
);

test.each([0, 3_600_000, -3_600_000])(
  'who is cut off stops before another begins, clocks differing by %i ms',
  async (ahead) => {
    const { clock, story, enter } = contest();
    const [a, b] = [enter('a'), enter('b', { ahead })];
    await clock.advance(20_000);
    a.net.cut = true;
    await clock.advance(40_000);
    expect(story.map((line) => line.replace(/ [\d.]+$/, ''))).toEqual(['a leads', 'a stopped', 'b leads']);
    const [stopped, leads] = story.slice(1).map((line) => Number(line.split(' ').at(-1)));
    expect((leads ?? 0) - (stopped ?? 0)).toBeGreaterThan(4);
    expect(a.troubles[0]).toMatchObject({ code: 'unreachable' });
    for (const one of [a, b]) one.stop();
    await clock.advance(5_000);
  },
);

test('a call that hangs does not keep a leader in office', async () => {
  const { clock, story, enter } = contest();
  const a = enter('a');
  await clock.advance(4_000);
  a.net.hangs = true;
  await clock.advance(14_000);
  expect(story[1]).toMatch(/^a stopped 13\.3/);
  a.stop();
  await clock.advance(300_000);
  await a.running;
});

test('a term counts from when its claim was sent, not from when the answer came', async () => {
  const { clock, story, enter } = contest();
  const a = enter('a', { delay: 5_000 });
  await clock.advance(10_000);
  a.net.hangs = true;
  await clock.advance(10_000);
  expect(story).toEqual(['a leads 10', 'a stopped 14.3']);
  a.stop();
  await clock.advance(300_000);
  await a.running;
});

test('a clean end gives the lease back, once the work has ended', async () => {
  const { clock, server, story, enter } = contest();
  const [a, b] = [enter('a', { windDown: 20_000 }), enter('b')];
  await clock.advance(10_000);
  a.stop();
  await clock.advance(19_999);
  expect(server.spec?.holderIdentity).toBe('a');
  await clock.advance(3_001);
  expect(story.slice(0, 2)).toEqual(['a leads 0', 'a stopped 30']);
  expect(story[2]).toMatch(/^b leads 3[012]/);
  await a.running;
  b.stop();
  await clock.advance(0);
  await b.running;
  expect(server.spec).toMatchObject({ holderIdentity: '', leaseDurationSeconds: 1, leaseTransitions: 1 });
});

test('whose lease is seized stops at once, and takes it again only when it has run out', async () => {
  const { clock, server, story, enter } = contest();
  const a = enter('a');
  await clock.advance(4_000);
  server.seize();
  await clock.advance(2_000);
  expect(story).toEqual(['a leads 0', 'a stopped 6']);
  await clock.advance(13_000);
  expect(story.length).toBe(2);
  await clock.advance(5_000);
  expect(story.at(-1)).toMatch(/^a leads 2/);
  a.stop();
  await clock.advance(0);
});

test.each<[string, (server: Server, net: { losing: number }) => void]>([
  ['a label is edited', (server) => server.touch()],
  ['the answer to a renewal is lost', (_, net) => (net.losing = 1)],
  ['the answers to a renewal and all its repeats are lost', (_, net) => (net.losing = 4)],
])('when %s the leader stays', async (_, meddle) => {
  const { clock, server, story, enter } = contest();
  const a = enter('a');
  await clock.advance(5_000);
  meddle(server, a.net);
  await clock.advance(30_000);
  expect(story).toEqual(['a leads 0']);
  a.stop();
  await clock.advance(60_000);
  await a.running;
});

test('a lease that was deleted ends the term, and may be had again', async () => {
  const { clock, server, story, enter } = contest();
  const a = enter('a');
  await clock.advance(5_000);
  server.forget();
  await clock.advance(5_000);
  expect(story).toEqual(['a leads 0', 'a stopped 6', 'a leads 8']);
  a.stop();
  await clock.advance(0);
});

test('our own name in a lease that we did not write is not trusted', async () => {
  const { clock, story, enter } = contest();
  const [one, two] = [enter('a'), enter('a')];
  await clock.advance(60_000);
  expect(story).toEqual(['a leads 0']);
  for (const each of [one, two]) each.stop();
  await clock.advance(5_000);
});

test('work that throws ends the term, gives the lease back, and is thrown on', async () => {
  const { clock, server } = contest();
  const client = kube({ server: 'http://test', send: server.send, clock, random: () => 0 });
  const options = { kube: client, clock, random: () => 0, namespace: 'fairlead', name: 'leader', identity: 'a' };
  const stopped: boolean[] = [];
  const leader: Leader = { started: () => Promise.reject(new Error('bug')), stopped: () => void stopped.push(true) };
  const failed = expect(lead(options, leader, new AbortController().signal)).rejects.toThrow('bug');
  await clock.advance(0);
  await failed;
  expect([stopped, server.spec?.holderIdentity, clock.sleeping]).toEqual([[true], '', 0]);
});
