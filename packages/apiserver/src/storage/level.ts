// Storage on disk with classic-level: every batch is synced, and batches that arrive while a sync runs share the next one.
import type { Change, Storage } from './storage.ts';

interface Waiting {
  changes: readonly Change[];
  revision: number;
  kept: () => void;
  failed: (error: unknown) => void;
}

type Operation = { type: 'put'; key: string; value: string } | { type: 'del'; key: string };

// Objects live under `/`, which sorts after `!`: the counter never shows among them.
const counterKey = '!revision';

/** Opens (or makes) the storage in `directory`; one process at a time may hold it. */
export async function level(directory: string): Promise<Storage> {
  // Has a native part that a bundle leaves out, and who keeps nothing on disk is to run without it.
  const { ClassicLevel } = await import('classic-level');
  const db = new ClassicLevel<string, string>(directory);
  await db.open();
  let waiting: Waiting[] = [];
  let flushing: Promise<void> | undefined;

  async function flush(): Promise<void> {
    while (waiting.length > 0) {
      const turn = waiting;
      waiting = [];
      try {
        await db.batch(operations(turn), { sync: true });
        for (const { kept } of turn) kept();
      } catch (error) {
        for (const { failed } of turn) failed(error);
      }
    }
    flushing = undefined;
  }

  return {
    async revision() {
      const text = await db.get(counterKey);
      return text === undefined ? 0 : Number(text);
    },
    async *entries() {
      for await (const [key, text] of db.iterator({ gte: '/' })) yield [key, text] as const;
    },
    write(changes, revision) {
      return new Promise((kept, failed) => {
        waiting.push({ changes, revision, kept, failed });
        flushing ??= flush();
      });
    },
    async size() {
      return db.approximateSize('/', '0');
    },
    async close() {
      await flushing;
      await db.close();
    },
  };
}

/** One batch of several: later changes of a key win because they come later. */
function operations(turn: readonly Waiting[]): Operation[] {
  const out: Operation[] = [];
  let revision = 0;
  for (const batch of turn) {
    revision = Math.max(revision, batch.revision);
    for (const { key, text } of batch.changes) {
      out.push(text === undefined ? { type: 'del', key } : { type: 'put', key, value: text });
    }
  }
  out.push({ type: 'put', key: counterKey, value: String(revision) });
  return out;
}
