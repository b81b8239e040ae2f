// What a writer was told is kept, line by line, and what must therefore be found after a crash.
//
//   last line for a name | found afterwards
//   ---------------------+----------------------------------------------------------------------
//   `kept N c`           | the object, at count c or later; absent only where it was to be deleted next
//   `gone N`             | nothing
//   none                 | anything: nobody was told

/** Counts an object goes through: made with 1, changed until the last. */
export const lastCount = 3;

/** Every third object is deleted once it has its last count. */
export const isDoomed = (n: number): boolean => n % 3 === 0;

export interface Ledger {
  /** Takes in what the writer said; a last line that was cut off says nothing. */
  note(text: string): void;
  readonly size: number;
  /** What of it does not hold, given the counts of the objects that are there. */
  problems(found: ReadonlyMap<number, number>): string[];
}

export function ledger(): Ledger {
  const kept = new Map<number, number>();
  const gone = new Set<number>();
  return {
    note(text) {
      for (const line of text.split('\n').slice(0, -1)) {
        const [word, n, count] = line.split(' ');
        if (word === 'kept') kept.set(Number(n), Number(count));
        else if (word === 'gone') gone.add(Number(n));
        else throw new Error(`bug: the writer said ${line}`);
      }
    },
    get size() {
      return kept.size;
    },
    problems(found) {
      const returned = [...gone].filter((n) => found.has(n)).map((n) => `${n} was deleted and is back`);
      const lost = [...kept].filter(([n, count]) => !gone.has(n) && !holds(n, count, found.get(n)));
      return [
        ...returned,
        ...lost.map(([n, count]) => `${n} was kept at ${count}, found ${found.get(n) ?? 'nothing'}`),
      ];
    },
  };
}

function holds(n: number, count: number, found: number | undefined): boolean {
  if (found === undefined) return isDoomed(n) && count === lastCount;
  return found >= count;
}
