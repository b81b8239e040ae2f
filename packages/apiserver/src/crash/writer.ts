// A program that writes as fast as it can and says what was kept, until it is killed. Arguments: the database, the first number.
import { randomBytes } from 'node:crypto';
import { apiServer } from '../api-server.ts';
import { level } from '../storage/level.ts';
import { isDoomed, lastCount } from './ledger.ts';

const [directory = '', first = '0'] = process.argv.slice(2);
const lanes = 16;
const maps = 'http://own.invalid/api/v1/namespaces/default/configmaps';

const server = await apiServer({
  storage: await level(directory),
  // Nothing here depends on the time.
  clock: { now: () => Date.UTC(2026, 0, 1), sleep: () => new Promise(() => undefined) },
  random: (bytes) => randomBytes(bytes),
  name: 'crash',
  tokens: [{ token: 'writer', user: 'writer', groups: ['system:masters'] }],
  report(message) {
    throw new Error(message);
  },
});

let next = Number(first);
await Promise.all(Array.from({ length: lanes }, lane));

async function lane(): Promise<void> {
  for (;;) {
    const n = next++;
    for (let count = 1; count <= lastCount; count++) {
      await send(count === 1 ? 'POST' : 'PUT', count === 1 ? maps : `${maps}/m${n}`, body(n, count));
      process.stdout.write(`kept ${n} ${count}\n`);
    }
    if (!isDoomed(n)) continue;
    await send('DELETE', `${maps}/m${n}`);
    process.stdout.write(`gone ${n}\n`);
  }
}

function body(n: number, count: number): string {
  const data = { count: String(count), padding: 'x'.repeat(500) };
  return JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: `m${n}` }, data });
}

async function send(method: string, url: string, text?: string): Promise<void> {
  const headers = { authorization: 'Bearer writer', 'content-type': 'application/json' };
  const response = await server.answer(
    new Request(url, { method, headers, ...(text === undefined ? {} : { body: text }) }),
  );
  if (!response.ok) throw new Error(`${method} ${url}: ${response.status} ${await response.text()}`);
}
