// One change, a hundred watchers: how many events a second reach all of them, and how long one takes to reach the last.
import { mapName, mapsPath, mapText } from './objects.ts';
import { client as clientOf, must, type Client, type Round, type Subject } from './subject.ts';

const watchers = 100;
const storm = 300;
const single = 20;
const lanes = 32;

/** Events a second delivered to every watcher while many write, and milliseconds of single events on a quiet server. */
export async function fanOut(client: Client, subject: Subject, n: number): Promise<Round> {
  const crowd = await follow(client);
  try {
    const took: number[] = [];
    for (let i = 0; i < single; i++) {
      const began = performance.now();
      await Promise.all([change(client, 900_000 + i, `${n} alone`), crowd.seen(i + 1)]);
      took.push(performance.now() - began);
    }
    const writer = clientOf(subject, lanes);
    const began = performance.now();
    const writing = Array.from({ length: storm }, (_, i) => change(writer, 900_000 + i, `${n} storm`));
    await Promise.all([...writing, crowd.seen(single + storm)]);
    const ms = performance.now() - began;
    writer.close();
    return { rate: (storm * watchers * 1000) / ms, took };
  } finally {
    crowd.stop();
  }
}

const change = (client: Client, i: number, value: string) =>
  must(client.ask({ method: 'PUT', path: `${mapsPath}/${mapName(i)}`, body: mapText(i, value) }), 'update');

interface Crowd {
  /** Resolves when every watcher was told of `count` events. */
  seen(count: number): Promise<void>;
  stop(): void;
}

async function follow(client: Client): Promise<Crowd> {
  const { text } = await must(client.ask({ path: `${mapsPath}?limit=1`, keep: true }), 'list');
  const { metadata } = JSON.parse(text) as { metadata: { resourceVersion: string } };
  const counts: number[] = [];
  let wanted = Infinity;
  let behind = 0;
  let reached: () => void = () => undefined;
  const path = `${mapsPath}?watch=1&resourceVersion=${metadata.resourceVersion}`;
  const open = async (i: number) => {
    counts[i] = 0;
    return client.follow(path, (bytes) => {
      const before = counts[i] ?? 0;
      const now = before + linesIn(bytes);
      counts[i] = now;
      if (before < wanted && now >= wanted && --behind === 0) reached();
    });
  };
  const stops = await Promise.all(Array.from({ length: watchers }, (_, i) => open(i)));
  return {
    seen(count) {
      wanted = count;
      behind = counts.filter((seen) => seen < count).length;
      return behind === 0 ? Promise.resolve() : new Promise((resolve) => (reached = resolve));
    },
    stop: () => stops.forEach((stop) => stop()),
  };
}

/** Every event is a line, and JSON has no line break of its own. */
function linesIn(bytes: Buffer): number {
  let count = 0;
  for (let at = bytes.indexOf(10); at >= 0; at = bytes.indexOf(10, at + 1)) count++;
  return count;
}
