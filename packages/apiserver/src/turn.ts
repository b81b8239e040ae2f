// A turn at one object: it is read, decided on and written, and nobody else writes it in between.
import type { Entry, Store } from './store.ts';

/** Writes what was decided; undefined when somebody has written the object since it was read. */
export type Keep = <T extends object>(write: () => Promise<T>) => Promise<T | undefined>;

/** So often a turn begins again: after that its client is told of the conflict. */
const tries = 5;

/**
 * Holds `key` while `work` decides, or with `isFree` only while it writes: webhooks that are asked in the meantime may
 * then write the very object, and `work` begins again with what they made of it. Undefined after too many of those.
 */
export async function turn<T extends object>(
  store: Store,
  key: string,
  isFree: boolean,
  work: (entry: Entry | undefined, keep: Keep) => Promise<T | undefined>,
): Promise<T | undefined> {
  if (!isFree) return store.locked(key, () => work(store.get(key), (write) => write()));
  for (let left = tries; left > 0; left--) {
    const entry = store.get(key);
    const done = await work(entry, (write) =>
      store.locked(key, async () => (store.get(key) === entry ? write() : undefined)),
    );
    if (done) return done;
  }
  return undefined;
}
