// What one life of a container wrote: its newest lines, and word of new ones for those who follow.

export interface LogLine {
  /** Milliseconds since the epoch. */
  at: number;
  text: string;
}

/** So many lines are kept at least, and at most twice as many. */
const kept = 1000;

export class ContainerLog {
  #lines: LogLine[] = [];
  /** The number of the oldest line still here; lines are numbered from 0. */
  #first = 0;
  #isEnded = false;
  readonly #waiting = new Set<() => void>();

  /** The log of a life that nothing is left of. */
  static ended(): ContainerLog {
    const log = new ContainerLog();
    log.end();
    return log;
  }

  get isEnded(): boolean {
    return this.#isEnded;
  }

  /** The number the next line will have. */
  get next(): number {
    return this.#first + this.#lines.length;
  }

  append(at: number, text: string): void {
    this.#lines.push({ at, text });
    // Many at once: taking the oldest off for each new line would move all of them each time.
    if (this.#lines.length > 2 * kept) this.#first += this.#lines.splice(0, kept).length;
    this.#wake();
  }

  /** The container has ended: who follows it need wait no longer. */
  end(): void {
    this.#isEnded = true;
    this.#wake();
  }

  /** The lines from number `n` on that are still here. */
  from(n: number): LogLine[] {
    return this.#lines.slice(Math.max(0, n - this.#first));
  }

  /** Resolves when there is a line of number `n`, or can be none any more, or `signal` aborts. */
  reached(n: number, signal: AbortSignal): Promise<void> {
    if (this.next > n || this.#isEnded || signal.aborted) return Promise.resolve();
    return new Promise((done) => {
      const wake = () => {
        this.#waiting.delete(wake);
        signal.removeEventListener('abort', wake);
        done();
      };
      this.#waiting.add(wake);
      signal.addEventListener('abort', wake, { once: true });
    });
  }

  #wake(): void {
    for (const wake of this.#waiting) wake();
  }
}
