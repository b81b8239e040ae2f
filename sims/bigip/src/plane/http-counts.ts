// What the HTTP profile of each virtual server counts: requests, and responses by their class.

export interface HttpCount {
  requests: number;
  /** By first digit, 2 to 5: the device has no counter for 1xx. */
  responses: Record<2 | 3 | 4 | 5, number>;
  /** Connections that were handed over to WebSocket, or whatever else was upgraded to. */
  upgrades: number;
}

export class HttpCounts {
  #byVirtual = new Map<string, HttpCount>();

  of(virtual: string): HttpCount {
    const known = this.#byVirtual.get(virtual);
    if (known) return known;
    const made: HttpCount = { requests: 0, responses: { 2: 0, 3: 0, 4: 0, 5: 0 }, upgrades: 0 };
    this.#byVirtual.set(virtual, made);
    return made;
  }

  response(virtual: string, status: number): void {
    const kind = Math.floor(status / 100);
    if (kind === 2 || kind === 3 || kind === 4 || kind === 5) this.of(virtual).responses[kind] += 1;
  }

  /** A virtual server that is made anew counts from 0. */
  forget(virtual: string): void {
    this.#byVirtual.delete(virtual);
  }
}
