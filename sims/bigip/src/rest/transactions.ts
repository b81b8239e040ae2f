// iControl REST transactions: writes queued under an id, then made together or not at all.

import type { Clock } from '../clock.ts';
import { Refusal } from '../configuration/refusal.ts';
import type { Device } from '../device.ts';
import type { Json } from './body.ts';
import { write, type Write } from './collections.ts';

interface Command extends Write {
  uri: string;
}

interface Transaction {
  id: number;
  commands: Command[];
  touched: number;
}

const lifetime = 120_000;

/*
 *   POST        writes with the id        PATCH {state: VALIDATING}
 *   ────▶ STARTED ──────────────▶ STARTED ─────────────────────────▶ COMPLETED, or 400 and nothing made
 *                                    └── 120 s without a word ──▶ gone (404)
 */
export class Transactions {
  #clock: Clock;
  #device: Device;
  #open = new Map<number, Transaction>();
  #next: number;

  constructor(device: Device, clock: Clock) {
    this.#device = device;
    this.#clock = clock;
    // A device's ids are large and grow; clients must not take them for small numbers.
    this.#next = clock.now();
  }

  begin(): Json {
    this.#next += 1;
    const transaction: Transaction = { id: this.#next, commands: [], touched: this.#clock.now() };
    this.#open.set(transaction.id, transaction);
    return show(transaction, 'STARTED');
  }

  list(): Json[] {
    return [...this.#open.keys()].flatMap((id) => (this.#find(id) ? [show(this.#at(id), 'STARTED')] : []));
  }

  get(id: number): Json {
    return show(this.#at(id), 'STARTED');
  }

  commands(id: number): Json[] {
    return this.#at(id).commands.map(({ method, uri, body }, i) => ({
      commandId: i + 1,
      evalOrder: i + 1,
      method,
      uri,
      body,
    }));
  }

  /** Queues a write; nothing is checked but that the body is JSON. */
  add(id: number, uri: string, command: Write): Json {
    const transaction = this.#at(id);
    transaction.touched = this.#clock.now();
    transaction.commands.push({ ...command, uri });
    return {
      method: command.method,
      uri,
      commandId: transaction.commands.length,
      evalOrder: transaction.commands.length,
      transactionId: id,
      body: command.body,
    };
  }

  cancel(id: number): void {
    this.#at(id);
    this.#open.delete(id);
  }

  async commit(id: number, state: unknown): Promise<{ shown: Json; commands: Command[] }> {
    if (state !== 'VALIDATING') throw new Refusal(400, `transaction ${id}: the state must be VALIDATING`);
    const transaction = this.#at(id);
    this.#open.delete(id);
    try {
      await this.#device.change((draft) => {
        for (const command of transaction.commands) write(draft, command, this.#device.plane.members);
      });
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      throw new Refusal(400, `transaction failed:${error.message}`);
    }
    return { shown: show(transaction, 'COMPLETED'), commands: transaction.commands };
  }

  #at(id: number): Transaction {
    const transaction = this.#find(id);
    if (!transaction) throw new Refusal(404, `there is no transaction with transId ${id}`);
    return transaction;
  }

  #find(id: number): Transaction | undefined {
    const transaction = this.#open.get(id);
    if (!transaction || this.#clock.now() - transaction.touched <= lifetime) return transaction;
    this.#open.delete(id);
    return undefined;
  }
}

function show({ id }: Transaction, state: string): Json {
  return {
    kind: 'tm:transaction:transactionsstate',
    transId: id,
    state,
    timeoutSeconds: lifetime / 1000,
    asyncExecution: false,
    validateOnly: false,
    executionTimeout: 300,
    executionTime: 0,
    failureReason: '',
    selfLink: `https://localhost/mgmt/tm/transaction/${id}?ver=16.1.3`,
  };
}
