// The rules every storage keeps, as named checks a test file runs against its own storage.
import { expect, test } from 'vitest';
import type { Storage } from './storage.ts';

/** A storage that can be closed and opened again; `reopen` is absent where nothing outlives the storage. */
export interface Subject {
  open(): Promise<Storage>;
  /** Opens what an earlier `open` of this subject kept. */
  reopen?(): Promise<Storage>;
}

export function testStorage(name: string, make: () => Promise<Subject>): void {
  const within = async (check: (storage: Storage) => Promise<void>) => {
    const storage = await (await make()).open();
    await check(storage);
    await storage.close();
  };

  test(`${name}: a new storage is empty at revision 0`, () =>
    within(async (storage) => {
      expect(await storage.revision()).toBe(0);
      expect(await all(storage)).toEqual([]);
    }));

  test(`${name}: entries come in the order of their keys`, () =>
    within(async (storage) => {
      await storage.write([put('/b', '2'), put('/a/z', '1'), put('/a', '0')], 3);
      expect(await all(storage)).toEqual([
        ['/a', '0'],
        ['/a/z', '1'],
        ['/b', '2'],
      ]);
      expect(await storage.revision()).toBe(3);
    }));

  test(`${name}: a removed key is gone, and removing an absent key is no failure`, () =>
    within(async (storage) => {
      await storage.write([put('/a', '1'), put('/b', '2')], 1);
      await storage.write(
        [
          { key: '/a', text: undefined },
          { key: '/none', text: undefined },
        ],
        2,
      );
      expect(await all(storage)).toEqual([['/b', '2']]);
    }));

  test(`${name}: of two writes to one key without waiting, the later wins`, () =>
    within(async (storage) => {
      await Promise.all(Array.from({ length: 50 }, (_, i) => storage.write([put('/a', String(i))], i + 1)));
      expect(await all(storage)).toEqual([['/a', '49']]);
      expect(await storage.revision()).toBe(50);
    }));

  test(`${name}: text of any alphabet comes back equal`, () =>
    within(async (storage) => {
      const text = JSON.stringify({ a: '负载均衡 \u0000 \ud83d\ude80 "' });
      await storage.write([put('/a', text)], 1);
      expect(await all(storage)).toEqual([['/a', text]]);
    }));

  test(`${name}: size grows with what is kept`, () =>
    within(async (storage) => {
      expect(await storage.size()).toBeGreaterThanOrEqual(0);
      await storage.write([put('/a', 'x'.repeat(1000))], 1);
      expect(await storage.size()).toBeGreaterThanOrEqual(0);
    }));

  testReopening(name, make);
}

function testReopening(name: string, make: () => Promise<Subject>): void {
  test(`${name}: what was kept is there after opening again`, async () => {
    const subject = await make();
    if (!subject.reopen) return;
    const first = await subject.open();
    await first.write([put('/a', '1')], 7);
    await first.close();
    const second = await subject.reopen();
    expect(await all(second)).toEqual([['/a', '1']]);
    expect(await second.revision()).toBe(7);
    await second.close();
  });
}

const put = (key: string, text: string) => ({ key, text });

async function all(storage: Storage): Promise<[string, string][]> {
  const out: [string, string][] = [];
  for await (const [key, text] of storage.entries()) out.push([key, text]);
  return out;
}
