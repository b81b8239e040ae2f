// An approver that remembers what was filed, withdrawn or not, and decides when the test says so.
import { fail, ok } from '@fairlead/core';
import type { Answer, Approver } from '../approver.ts';

export interface TestApprover extends Approver {
  /** By id: the key it was filed with. Withdrawn ones are gone. */
  filed: Map<string, string>;
  /** Each filing that made a new application. */
  filings: string[];
  decide(answer: Answer): void;
  /** The next call is not answered. */
  failNext(): void;
}

export function testApprover(answer: Answer = { status: 'pending', message: '' }): TestApprover {
  const filed = new Map<string, string>();
  const filings: string[] = [];
  const ids = new Map<string, string>();
  let [decision, failing] = [answer, false];
  const broken = () => {
    const was = failing;
    failing = false;
    return was;
  };
  return {
    filed,
    filings,
    decide: (next) => void (decision = next),
    failNext: () => void (failing = true),
    async file(_at, application, key) {
      if (broken()) return fail('unreachable', 'no answer');
      const present = ids.get(key);
      if (present !== undefined) return ok(present);
      const id = `a${filings.push(`${application.ticket} ${application.veip} ${application.ltmip}`)}`;
      filed.set(id, key);
      ids.set(key, id);
      return ok(id);
    },
    async ask(_at, id) {
      if (broken()) return fail('unreachable', 'no answer');
      return filed.has(id) ? ok(decision) : fail('missing', `no application ${id}`);
    },
    async withdraw(_at, id) {
      if (broken()) return fail('unreachable', 'no answer');
      filed.delete(id);
      return ok(undefined);
    },
  };
}
