// A memory of texts that forgets the oldest.

export interface Recent {
  has(text: string): boolean;
  add(text: string): void;
}

/** Remembers the last `most` texts that were added or asked for, and up to twice as many. */
export function recent(most: number): Recent {
  let young = new Set<string>();
  let old = new Set<string>();
  function add(text: string): void {
    if (young.size >= most) [old, young] = [young, new Set()];
    young.add(text);
  }
  return {
    has(text) {
      if (young.has(text)) return true;
      if (!old.has(text)) return false;
      add(text);
      return true;
    },
    add,
  };
}
