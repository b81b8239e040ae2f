// Long lists and the first events of a watch: sent in pieces, one at a time as the client takes them, and whole in the end.
import { expect, test } from 'vitest';
import { configMap, testServer, type TestServer } from './test-server.ts';

const maps = '/api/v1/namespaces/default/configmaps';
const count = 400;
const piece = 256 * 1024;
const letters = 'äx'.repeat(1000);

async function filled(): Promise<TestServer> {
  const server = await testServer();
  for (let i = 0; i < count; i++) await server.send('POST', maps, configMap(nameOf(i), { letters }));
  return server;
}

const nameOf = (i: number): string => `m${String(i).padStart(4, '0')}`;
const names = Array.from({ length: count }, (_, i) => nameOf(i));

const asked = (path: string, signal?: AbortSignal) =>
  new Request(`http://test${path}`, { headers: { authorization: 'Bearer admin' }, ...(signal ? { signal } : {}) });

async function chunksOf(response: Response): Promise<Uint8Array[]> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) chunks.push(chunk);
  return chunks;
}

interface List {
  metadata: { continue?: string };
  items: { metadata: { name: string }; data: { letters: string } }[];
}

test('a long list comes in pieces that make one document', async () => {
  const server = await filled();
  const chunks = await chunksOf(await server.answer(asked(maps)));
  const { items } = JSON.parse(Buffer.concat(chunks).toString('utf8')) as List;
  expect(items.map(({ metadata }) => metadata.name)).toEqual(names);
  expect(items.every(({ data }) => data.letters === letters)).toBe(true);
  expect(chunks.length).toBeGreaterThan(3);
  // Two bytes for a letter that is one in memory, and the object that filled the piece.
  expect(Math.max(...chunks.map(({ length }) => length))).toBeLessThan(2 * piece + 10_000);
  await server.close();
});

test('pages of a long list join without a gap, each whole', async () => {
  const server = await filled();
  const found: string[] = [];
  for (let token: string | undefined = ''; token !== undefined;) {
    const response = await server.answer(asked(`${maps}?limit=150&continue=${token}`));
    const page = JSON.parse(Buffer.concat(await chunksOf(response)).toString('utf8')) as List;
    found.push(...page.items.map(({ metadata }) => metadata.name));
    token = page.metadata.continue;
  }
  expect(found).toEqual(names);
  await server.close();
});

test('a long list is of one moment: what is deleted while it is sent is still in it', async () => {
  const server = await filled();
  const response = await server.answer(asked(maps));
  await server.send('DELETE', `${maps}/${names.at(-1) ?? ''}`);
  const { items } = JSON.parse(Buffer.concat(await chunksOf(response)).toString('utf8')) as List;
  expect(items).toHaveLength(count);
  await server.close();
});

test('the first events of a watch come in pieces, then the bookmark, then what happened meanwhile', async () => {
  const server = await filled();
  const stop = new AbortController();
  const query = '?watch=1&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan';
  const reader = (await server.answer(asked(maps + query, stop.signal))).body?.getReader();
  const first = await reader?.read();
  expect(first?.value?.length).toBeLessThan(2 * piece);
  // Happens while the client has taken one piece only.
  await server.send('PATCH', `${maps}/${nameOf(0)}`, { data: { letters: 'y' } });
  let text = Buffer.from(first?.value ?? []).toString('utf8');
  const decoder = new TextDecoder();
  while (!text.includes('"MODIFIED"')) text += decoder.decode((await reader?.read())?.value, { stream: true });
  stop.abort();
  const types = text
    .trim()
    .split('\n')
    .map((line) => (JSON.parse(line) as { type: string }).type);
  expect(types).toEqual([...names.map(() => 'ADDED'), 'BOOKMARK', 'MODIFIED']);
  await server.close();
});

test('watches that stand at the same place are sent the same bytes, others their own', async () => {
  const server = await testServer();
  const whole = [await server.watch(`${maps}?watch=1`), await server.watch(`${maps}?watch=1`)];
  const labelled = await server.watch(`${maps}?watch=1&labelSelector=a%3Db`);
  await server.send('POST', maps, configMap('one'));
  await server.send('POST', maps, configMap('two', {}, { labels: { a: 'b' } }));
  const seen = async (watch: (typeof whole)[number], n: number) =>
    (await watch.next(n)).map(({ object }) => object.metadata.name).filter((name) => name !== 'kube-root-ca.crt');
  for (const watch of whole) expect(await seen(watch, 2)).toEqual(['one', 'two']);
  expect(await seen(labelled, 1)).toEqual(['two']);
  for (const watch of [...whole, labelled]) watch.stop();
  await server.close();
});
