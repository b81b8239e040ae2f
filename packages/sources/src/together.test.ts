import { expect, test } from 'vitest';
import type { Source, Touch } from './source.ts';
import { together } from './together.ts';

/** A source that wants one load balancer in the scope of its name. */
function one(name: string) {
  const heard = new Set<(touch: Touch) => void>();
  const pool = { scope: name, key: `${name}/app`, pool: 'web' };
  const source = {
    name,
    synced: false,
    owns: (asker: string) => asker === name,
    scopes: () => [name],
    wanted: (scope: string) => (scope === name ? [{ key: pool.key }] : []),
    pools: (scope: string) => (scope === name ? [pool] : []),
    edits: () => [{ origin: { name }, scopes: [name] }],
    origin: (asker: string) => (asker === name ? { name } : undefined),
    refusals: () => [{ key: name }],
    supply: (_: unknown, asker: string) => (asker === name ? { members: [] } : undefined),
    listen: (listener: (touch: Touch) => void) => (heard.add(listener), () => void heard.delete(listener)),
    close: () => heard.clear(),
  };
  const tell = () => heard.forEach((listener) => listener({ scopes: [name], pools: [], edits: [] }));
  return { source: source as unknown as Source & { synced: boolean }, tell, heard };
}

function world() {
  const [main, other] = [one('main'), one('other')];
  const both = together(main.source, other.source);
  const touches: Touch[] = [];
  const stop = both.listen((touch) => void touches.push(touch));
  return { main, other, both, touches, stop };
}

test('the other may fill late: until then what it may own is nobody’s, and so is not removed', () => {
  const { main, other, both } = world();
  expect(both.synced).toBe(false);
  main.source.synced = true;
  expect([both.synced, both.owns('main'), both.owns('other')]).toEqual([true, true, false]);
  expect([both.wanted('main').length, both.wanted('other').length]).toEqual([1, 0]);
  expect([...both.edits()]).toHaveLength(1);
  other.source.synced = true;
  expect([both.owns('other'), both.wanted('other').length, [...both.scopes()]]).toEqual([true, 1, ['main', 'other']]);
  expect(both.supply({ scope: 'other', key: 'other/app', pool: 'web' }, 'other')).toBeDefined();
  expect(both.origin('other')).toBeDefined();
});

test('what the other told before the main one was full is told with it', () => {
  const { main, other, touches, stop, both } = world();
  other.source.synced = true;
  other.tell();
  main.source.synced = true;
  main.tell();
  expect(touches.at(-1)).toMatchObject({ scopes: ['main', 'other'], edits: [{}, {}] });
  other.tell();
  expect(touches.at(-1)).toMatchObject({ scopes: ['other'], edits: [] });
  stop();
  both.close();
  expect([main.heard.size, other.heard.size]).toEqual([0, 0]);
});
