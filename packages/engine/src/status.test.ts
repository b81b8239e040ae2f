// What a ConfigMap is told: the annotation and its Events, each only on change.
import type { Origin, Problem } from '@fairlead/core';
import type { ConfigMap, KubeProblem } from '@fairlead/kube';
import { fakeClock } from '@fairlead/testkit';
import { expect, test } from 'vitest';
import type { Outcome } from './outcome.ts';
import { statuses } from './status.ts';

const origin: Origin = {
  cluster: 'c1',
  kind: 'ConfigMap',
  namespace: 'shop',
  name: 'cm',
  uid: 'u1',
  created: 0,
  revision: 'r1',
};
const good: Outcome = { origin, key: 't/app', address: '192.0.2.7' };
const bad = (problem: Problem): Outcome => ({ origin, key: 't/app', problem });
const settled: Outcome = { origin };
const busy: Problem = { code: 'busy', message: 'POST /declare/t: 503 busy' };

/** One ConfigMap in one cluster, and what is written to it. */
function world(annotation?: string) {
  const clock = fakeClock();
  const writes: string[] = [];
  const events: string[] = [];
  const lines: string[] = [];
  const faults: KubeProblem[] = [];
  let current: ConfigMap | undefined = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: {
      name: 'cm',
      namespace: 'shop',
      uid: 'u1',
      resourceVersion: '1',
      annotations: annotation === undefined ? {} : { 'fairlead.io/status': annotation },
    },
  };
  const stop = new AbortController();
  const reports = statuses({
    clock,
    random: () => 1,
    log: (line) => void lines.push(line),
    clusters: () => ({
      configmaps: { get: () => current },
      event: (_, { type, reason, message }) => void events.push(`${type} ${reason} ${message}`),
      kube: {
        async patch(kind, at, { body }) {
          const fault = faults.shift();
          if (fault) return { ok: false, problem: fault };
          const { uid, annotations } = (body as ConfigMap).metadata;
          writes.push(annotations?.['fairlead.io/status'] ?? '');
          expect({ plural: kind.plural, at, uid }).toEqual({
            plural: 'configmaps',
            at: { namespace: 'shop', name: 'cm' },
            uid: 'u1',
          });
          if (current)
            current = {
              ...current,
              metadata: {
                ...current.metadata,
                resourceVersion: `${writes.length + 1}`,
                annotations: { ...annotations },
              },
            };
          return { ok: true, value: current as never };
        },
      },
    }),
  });
  const ended = reports.run(stop.signal);
  return {
    clock,
    writes,
    events,
    lines,
    reports,
    failNext: (code: KubeProblem['code']) => void faults.push({ code, message: `PATCH: ${code}` }),
    replace: (configmap: ConfigMap | undefined) => void (current = configmap),
    get current() {
      return current;
    },
    async tell(...outcomes: Outcome[]): Promise<void> {
      reports.report(outcomes);
      await clock.advance(20);
    },
    async end(): Promise<void> {
      stop.abort();
      await ended;
    },
  };
}

test('what came of it is written in the words of the contract', async () => {
  const w = world();
  await w.tell(good, { origin, key: 't/api', problem: busy }, settled);
  expect(w.writes.map((text) => JSON.parse(text))).toEqual([
    { revision: 'r1', applications: { api: { ok: false, code: 'busy', message: busy.message }, app: { ok: true } } },
  ]);
  expect(w.events).toEqual([
    'Normal Programmed application app is on the device',
    'Warning Busy application api: busy: POST /declare/t: 503 busy',
  ]);
  await w.end();
});

test('the same again is not written again, and no Event is repeated', async () => {
  const w = world();
  await w.tell(good, settled);
  await w.tell(good, settled);
  expect([w.writes.length, w.events.length]).toEqual([1, 1]);
  await w.tell(bad(busy));
  await w.tell(good);
  expect([w.writes.length, w.events.length]).toEqual([3, 3]);
  await w.end();
});

test('after a restart with nothing new, nothing is written and nothing is told', async () => {
  const w = world('{"revision":"r1","applications":{"app":{"ok":true}}}');
  await w.tell(good, settled);
  expect([w.writes, w.events]).toEqual([[], []]);
  await w.end();
});

test('a revision is told only when all of the edit had its turn, or something is wrong with it', async () => {
  const w = world();
  await w.tell(good);
  expect(w.writes).toEqual([]);
  await w.tell(settled);
  expect(w.writes).toEqual(['{"revision":"r1","applications":{"app":{"ok":true}}}']);
  const edited = { ...origin, revision: 'r2' };
  await w.tell({ origin: edited, key: 't/app', problem: busy });
  expect(w.writes.at(-1)).toContain('"revision":"r2"');
  await w.end();
});

test('an object with nothing left says so under its revision', async () => {
  const w = world();
  await w.tell(good, settled);
  await w.tell({ origin: { ...origin, revision: 'r2' } });
  expect(w.writes.at(-1)).toBe('{"revision":"r2","applications":{}}');
  await w.end();
});

test('what was to go and did not is listed until it is gone', async () => {
  const w = world();
  await w.tell({ origin, key: 't/old', problem: busy }, good, settled);
  expect(w.writes.at(-1)).toContain('"old":{"ok":false');
  await w.tell({ origin, key: 't/old', gone: true });
  expect(w.writes.at(-1)).toBe('{"revision":"r1","applications":{"app":{"ok":true}}}');
  await w.end();
});

test('a template that cannot be read is told as a whole, and is over when it had its turn', async () => {
  const w = world();
  const problem: Problem = { code: 'invalid', message: 'not JSON', path: 'data.template' };
  await w.tell({ origin, problem });
  expect(w.writes.at(-1)).toBe(
    '{"revision":"r1","problem":{"code":"invalid","message":"not JSON","path":"data.template"},"applications":{}}',
  );
  expect(w.events).toEqual(['Warning Invalid template: invalid: not JSON']);
  await w.tell({ ...settled, origin: { ...origin, revision: 'r2' } });
  expect(w.writes.at(-1)).toBe('{"revision":"r2","applications":{}}');
  await w.end();
});

test('a pool without members for a reason is told beside its application', async () => {
  const w = world();
  await w.tell(good, settled, {
    origin,
    key: 't/app',
    pool: 'web',
    problem: { code: 'missing', message: 'Service shop/web is not there' },
  });
  expect(w.writes.at(-1)).toContain(
    '"app":{"ok":true,"pools":{"web":{"code":"missing","message":"Service shop/web is not there"}}}',
  );
  await w.tell({ origin, key: 't/app', pool: 'web' });
  expect(w.writes.at(-1)).toBe('{"revision":"r1","applications":{"app":{"ok":true}}}');
  await w.end();
});

test('applications of one name in two tenants are told apart', async () => {
  const w = world();
  await w.tell(good, { origin, key: 'u/app' }, settled);
  expect(w.writes.at(-1)).toBe('{"revision":"r1","applications":{"t/app":{"ok":true},"u/app":{"ok":true}}}');
  await w.end();
});

test('a write that fails is tried again, and what cannot be cured is logged', async () => {
  const w = world();
  w.failNext('unreachable');
  await w.tell(good, settled);
  expect(w.writes).toEqual([]);
  await w.clock.advance(1000);
  expect(w.writes.length).toBe(1);
  w.failNext('denied');
  await w.tell(bad(busy));
  await w.clock.advance(100_000);
  expect(w.writes.length).toBe(1);
  expect(w.lines.at(-1)).toBe('status of c1/shop/cm: denied: PATCH: denied');
  await w.end();
});

test.each(['missing', 'conflict'] as const)(
  'an object that is gone, or made anew meanwhile, is told nothing: %s',
  async (code) => {
    const w = world();
    w.failNext(code);
    await w.tell(good, settled);
    await w.clock.advance(100_000);
    expect([w.writes, w.events]).toEqual([[], []]);
    await w.end();
  },
);

test('another object of the same name is told nothing', async () => {
  const w = world();
  if (w.current) w.replace({ ...w.current, metadata: { ...w.current.metadata, uid: 'u2' } });
  await w.tell(good, settled);
  expect([w.writes, w.events]).toEqual([[], []]);
  await w.end();
});

test('while the store has not seen our own write yet, it is not made again', async () => {
  const w = world();
  const before = w.current;
  await w.tell(good, settled);
  w.replace(before);
  await w.tell(bad(busy), good);
  expect(w.writes.length).toBe(1);
  await w.end();
});

test('of an object that is gone, nothing is kept', async () => {
  const w = world();
  await w.tell(good, settled);
  expect(w.reports.size).toBe(1);
  w.replace(undefined);
  await w.tell({ asker: 'c1/shop/cm', key: 't/app', gone: true });
  expect(w.reports.size).toBe(0);
  await w.end();
});

test('an annotation that somebody else spoiled is written over', async () => {
  const w = world('nonsense');
  await w.tell(good, settled);
  expect(w.writes.length).toBe(1);
  await w.end();
});
