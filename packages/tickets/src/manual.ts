// The approver that is a person: a network admin sets the condition NetworkPolicyOpen in the status of the ticket.
import { answerIn } from '@fairlead/api';
import { ok } from '@fairlead/core';
import type { Approver } from './approver.ts';
import { conditionOf } from './status.ts';

/**
 * Only who may write the status of tickets can open a policy: the role network-approver, and no user.
 *
 *   NetworkPolicyOpen            | means
 *   -----------------------------+----------
 *   True                         | opened
 *   False, reason `rejected`     | rejected
 *   anything else                | pending
 */
export function manual(): Approver {
  return {
    isLocal: true,
    file: async (_at, _application, key) => ok(`manual-${key}`),
    async ask(_at, id, ticket) {
      const status = answerIn(ticket);
      const message = conditionOf(ticket, 'NetworkPolicyOpen')?.message ?? '';
      if (status !== undefined) return ok({ status, message, who: ticket.status?.answeredBy });
      const wait = `application ${id} waits for a network admin, who sets the condition NetworkPolicyOpen in this status to True, or to False with reason rejected`;
      return ok({ status: 'pending', message: wait });
    },
    withdraw: async () => ok(undefined),
  };
}
