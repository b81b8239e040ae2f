// The store between requests and storage: nothing is seen before it is kept, and writers of one key take turns.
import { expect, test } from 'vitest';
import { configMap, testServer } from './test-server.ts';
import { memory } from './storage/memory.ts';
import type { Storage } from './storage/storage.ts';

const maps = '/api/v1/namespaces/default/configmaps';

/** A storage whose writes wait for a gate, or fail. */
function gated(): { storage: Storage; gate: { opens: Promise<void> | undefined; isBroken: boolean } } {
  const storage = memory();
  const gate: { opens: Promise<void> | undefined; isBroken: boolean } = { opens: undefined, isBroken: false };
  const write: Storage['write'] = async (changes, revision) => {
    if (gate.isBroken) throw new Error('no space left');
    await gate.opens;
    await storage.write(changes, revision);
  };
  return { storage: { ...storage, write }, gate };
}

test('a write is neither answered nor seen before storage has kept it', async () => {
  const { storage, gate } = gated();
  const server = await testServer({ storage });
  let open: () => void = () => undefined;
  gate.opens = new Promise((resolve) => (open = resolve));
  let isAnswered = false;
  const writing = server.send('POST', maps, configMap('a')).then((reply) => {
    isAnswered = true;
    return reply.code;
  });
  expect((await server.send('GET', `${maps}/a`)).code).toBe(404);
  expect(isAnswered).toBe(false);
  open();
  expect(await writing).toBe(201);
  expect((await server.send('GET', `${maps}/a`)).code).toBe(200);
  await server.close();
});

test('writers of one object take turns, so no change is lost', async () => {
  const { storage, gate } = gated();
  const server = await testServer({ storage });
  await server.send('POST', maps, configMap('a'));
  let open: () => void = () => undefined;
  gate.opens = new Promise((resolve) => (open = resolve));
  const writing = Array.from({ length: 10 }, (_, i) => server.send('PATCH', `${maps}/a`, { data: { [`k${i}`]: '1' } }));
  open();
  await Promise.all(writing);
  const read = await server.send('GET', `${maps}/a`);
  expect(Object.keys(read.body.data as object)).toHaveLength(10);
  await server.close();
});

test('when storage fails the writer gets 500, readers see no change, and the next write goes through', async () => {
  const { storage, gate } = gated();
  const server = await testServer({ storage });
  gate.isBroken = true;
  const failed = await server.send('POST', maps, configMap('a'));
  expect([failed.code, failed.body.message]).toEqual([500, 'Internal error occurred: no space left']);
  expect(server.reports[0]).toContain('no space left');
  expect((await server.send('GET', `${maps}/a`)).code).toBe(404);
  gate.isBroken = false;
  expect((await server.send('POST', maps, configMap('a'))).code).toBe(201);
  await server.close();
});
