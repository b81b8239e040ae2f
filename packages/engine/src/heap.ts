// A binary heap: the smallest of many, without sorting them all.

export interface Heap<T> {
  push(item: T): void;
  /** The smallest; stays. */
  peek(): T | undefined;
  /** The smallest; goes. */
  pop(): T | undefined;
  readonly size: number;
}

export function heap<T>(order: (a: T, b: T) => number): Heap<T> {
  const items: T[] = [];
  const isBefore = (a: number, b: number): boolean => order(items[a] as T, items[b] as T) < 0;
  const swap = (a: number, b: number): void => {
    [items[a], items[b]] = [items[b] as T, items[a] as T];
  };

  const rise = (from: number): void => {
    for (let at = from; at > 0;) {
      const parent = (at - 1) >> 1;
      if (!isBefore(at, parent)) return;
      swap(at, parent);
      at = parent;
    }
  };

  const sink = (): void => {
    for (let at = 0; ;) {
      const left = 2 * at + 1;
      const right = left + 1;
      let least = at;
      if (left < items.length && isBefore(left, least)) least = left;
      if (right < items.length && isBefore(right, least)) least = right;
      if (least === at) return;
      swap(at, least);
      at = least;
    }
  };

  return {
    push(item) {
      items.push(item);
      rise(items.length - 1);
    },
    peek: () => items[0],
    pop() {
      const top = items[0];
      const last = items.pop();
      if (items.length > 0 && last !== undefined) {
        items[0] = last;
        sink();
      }
      return top;
    },
    get size() {
      return items.length;
    },
  };
}
