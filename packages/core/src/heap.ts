// A set of numbers that gives its smallest first: O(log n) in and out, a number is in it once.

export function minHeap(): { push(value: bigint): void; pop(): bigint | undefined } {
  const heap: bigint[] = [];
  const inside = new Set<bigint>();
  const at = (i: number): bigint => heap[i] ?? 0n;
  const swap = (i: number, j: number) => {
    const kept = at(i);
    heap[i] = at(j);
    heap[j] = kept;
  };

  const rise = (start: number) => {
    for (let i = start; i > 0;) {
      const parent = (i - 1) >> 1;
      if (at(parent) <= at(i)) return;
      swap(i, parent);
      i = parent;
    }
  };
  const sink = () => {
    for (let i = 0; ;) {
      let least = i;
      for (const child of [2 * i + 1, 2 * i + 2]) if (child < heap.length && at(child) < at(least)) least = child;
      if (least === i) return;
      swap(i, least);
      i = least;
    }
  };
  return {
    push(value) {
      if (inside.has(value)) return;
      inside.add(value);
      heap.push(value);
      rise(heap.length - 1);
    },
    pop() {
      const top = heap[0];
      const last = heap.pop();
      if (top === undefined || last === undefined) return undefined;
      inside.delete(top);
      if (heap.length > 0) {
        heap[0] = last;
        sink();
      }
      return top;
    },
  };
}
