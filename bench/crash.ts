// kill -9 in a storm of writes over HTTPS, again and again over one database: what was answered is there, and it starts by itself.
import { client, must, type Client } from './apiserver/subject.ts';
import { launcher, type Launch } from './apiserver/embedded.ts';
import { mapsPath } from './apiserver/objects.ts';
import { spread, type Benchmark } from './figure.ts';
import { isDoomed, lastCount, ledger, type Ledger } from '../packages/apiserver/src/crash/ledger.ts';

const kills = 200;
/** How many a database lives through: it grows, and reading it back is most of the time. */
const killsEach = 10;
const lanes = 16;
const apart = 10_000;
/** A storm lasts up to this long; its end falls anywhere in it. */
const stormMs = 400;

export const crash: Benchmark = {
  name: 'crash',
  about: `kill -9 of the embedded API server in a storm of writes, ${kills} times: what was answered and then lost`,
  async run(say) {
    const launch = await launcher();
    try {
      const starts: number[] = [];
      let [lost, written] = [0, 0];
      let kept = ledger();
      for (let i = 0; i < kills; i++) {
        if (i % killsEach === 0) kept = ledger();
        const before = kept.size;
        const began = performance.now();
        const server = await launch.start(`crash-${Math.floor(i / killsEach)}`);
        starts.push(performance.now() - began);
        const problems = await check(server, kept);
        for (const problem of problems) say(`after kill ${i}: ${problem}`);
        lost += problems.length;
        await storm(server, i * apart, kept);
        written += kept.size - before;
        if ((i + 1) % 20 === 0) say(`${i + 1} kills, ${written} objects written, ${lost} lost`);
      }
      return {
        lost_writes: { median: lost, unit: `of ${written} objects, ${kills} kills`, goal: { max: 0 } },
        start_after_kill_ms: { ...spread(starts), unit: 'ms' },
      };
    } finally {
      launch.close();
    }
  },
};

/** What the server has against what earlier storms were told. */
async function check({ subject }: Launch, kept: Ledger): Promise<string[]> {
  const reader = client(subject, lanes);
  const { text } = await must(reader.ask({ path: mapsPath, keep: true }), 'list');
  const { items } = JSON.parse(text) as { items: { metadata: { name: string }; data?: { count?: string } }[] };
  const found = new Map<number, number>();
  for (const { metadata, data } of items) {
    const n = /^m(\d+)$/.exec(metadata.name)?.[1];
    if (n !== undefined) found.set(Number(n), Number(data?.count));
  }
  reader.close();
  return kept.problems(found);
}

async function storm(server: Launch, first: number, kept: Ledger): Promise<void> {
  const writer = client(server.subject, lanes);
  let next = first;
  const killed = new AbortController();
  const lane = async () => {
    while (!killed.signal.aborted) await live(writer, next++, kept);
  };
  // A request that was under way at the kill was promised nothing; one that fails before it is a finding.
  const running = Array.from({ length: lanes }, () =>
    lane().catch((error: unknown) => {
      if (!killed.signal.aborted) throw error;
    }),
  );
  await Promise.race([new Promise((over) => setTimeout(over, Math.random() * stormMs)), Promise.all(running)]);
  killed.abort();
  await server.kill();
  await Promise.all(running);
  writer.close();
}

/** The life of one object: made, changed, and every third deleted; noted as it is answered. */
async function live(writer: Client, n: number, kept: Ledger): Promise<void> {
  const path = `${mapsPath}/m${n}`;
  for (let count = 1; count <= lastCount; count++) {
    const data = { count: String(count), padding: 'x'.repeat(500) };
    const body = JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: `m${n}` }, data });
    const ask = count === 1 ? { method: 'POST', path: mapsPath, body } : { method: 'PUT', path, body };
    await must(writer.ask(ask), `write of ${n}`);
    kept.note(`kept ${n} ${count}\n`);
  }
  if (!isDoomed(n)) return;
  await must(writer.ask({ method: 'DELETE', path }), `delete of ${n}`);
  kept.note(`gone ${n}\n`);
}
