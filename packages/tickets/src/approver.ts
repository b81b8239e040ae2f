// Who opens the network between the two addresses of a ticket: the contract (spec/tickets.md §6), and the one that is always open.
import type { LoadbalancerSpec, Lbticket } from '@fairlead/api';
import { ok, type Problem, type Result } from '@fairlead/core';

/** What is applied for: all ports between the two addresses. */
export interface Application {
  /** `namespace/name`. */
  ticket: string;
  cluster: string;
  namespace: string;
  veip: string;
  ltmip: string;
  claimer: string;
}

/** Where to ask: `spec.policy` of the Loadbalancer. */
export type PolicyAt = LoadbalancerSpec['policy'];

export interface Answer {
  status: 'pending' | 'opened' | 'rejected';
  /** For people; empty when there is nothing to say. */
  message: string;
  /** The user who answered, where that is known. */
  who?: string | undefined;
}

/** `isUnheard`: of this call the approver has nothing for sure. Otherwise it may have the application, and its answer was lost. */
export type Filed = { ok: true; value: string } | { ok: false; problem: Problem; isUnheard?: boolean | undefined };

export interface Approver {
  /**
   * It answers from what is in memory here, so it is asked at every turn rather than now and then; and filing tells
   * nobody, so that a crash forgets nothing.
   */
  readonly isLocal?: boolean;
  /** Files the application and gives its id. The same `key` gives the same id again, and files nothing. */
  file(at: PolicyAt, application: Application, key: string): Promise<Filed>;
  /** What became of it. `ticket`: whose it is. */
  ask(at: PolicyAt, id: string, ticket: Lbticket): Promise<Result<Answer>>;
  /** Takes the application back, or revokes what it opened. One that is gone already is a success. */
  withdraw(at: PolicyAt, id: string): Promise<Result<void>>;
}

/** For networks that are open already: every application is opened at once. */
export function auto(): Approver {
  return {
    isLocal: true,
    file: async (_at, _application, key) => ok(`auto-${key}`),
    ask: async () => ok({ status: 'opened', message: 'the network is open without an application' }),
    withdraw: async () => ok(undefined),
  };
}
