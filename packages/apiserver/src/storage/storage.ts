// The storage contract: an ordered set of texts under keys, written in batches that survive a crash.

/** One change of a batch: a text put under a key, or `undefined` to remove the key. */
export interface Change {
  key: string;
  text: string | undefined;
}

/** The server keeps every object in memory and reads storage only when it starts; storage is what makes writes last. */
export interface Storage {
  /** The revision given with the last batch that was kept; 0 for a storage never written. */
  revision(): Promise<number>;
  /** Every key with its text, in the order of the keys, as of now. */
  entries(): AsyncIterable<readonly [key: string, text: string]>;
  /** Keeps a batch, all of it or none, and `revision` with it; resolved means a crash cannot lose it. Batches are kept in the order of the calls. */
  write(changes: readonly Change[], revision: number): Promise<void>;
  /** Bytes that the texts and keys take, about; for metrics. */
  size(): Promise<number>;
  /** Waits for the batches under way and lets go of what is held. A storage that was closed is not used again. */
  close(): Promise<void>;
}
