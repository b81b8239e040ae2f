// Several environments on one machine keep out of each other's loopback addresses: each holds a slot.
import { createServer } from 'node:net';

export interface Slot {
  /** 0 for the first environment on this machine. */
  number: number;
  /** A /16 of loopback addresses for the pods of the n-th cluster. */
  podCidr(cluster: number): string;
  release(): Promise<void>;
}

/** Slots use 127.16.0.0/16 and up, four clusters a slot, and stay below 127.64, where clients begin. */
export const slots = 12;

/** A listening socket on the slot's last address is the lock; the system takes it back when the process dies. */
export async function takeSlot(): Promise<Slot> {
  for (let number = 0; number < slots; number++) {
    const first = 16 + number * 4;
    const server = createServer();
    const got = await new Promise<boolean>((resolve) => {
      server.once('error', () => resolve(false));
      server.listen(47_001, `127.${first}.255.254`, () => resolve(true));
    });
    if (!got) continue;
    return {
      number,
      podCidr: (cluster) => `127.${first + cluster}.0.0/16`,
      release: () => new Promise((done) => server.close(() => done())),
    };
  }
  throw new Error(`bug or a crowd: ${slots} environments run on this machine already; stop one of them`);
}
