// A storage in memory: the reference, and what tests and `--ephemeral` use.
import type { Storage } from './storage.ts';

export function memory(): Storage {
  const texts = new Map<string, string>();
  let kept = 0;
  return {
    revision: async () => kept,
    async *entries() {
      for (const key of [...texts.keys()].sort()) yield [key, texts.get(key) ?? ''] as const;
    },
    async write(changes, revision) {
      for (const { key, text } of changes) {
        if (text === undefined) texts.delete(key);
        else texts.set(key, text);
      }
      kept = revision;
    },
    async size() {
      let bytes = 0;
      for (const [key, text] of texts) bytes += key.length + text.length;
      return bytes;
    },
    close: async () => undefined,
  };
}
