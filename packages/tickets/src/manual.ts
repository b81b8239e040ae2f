// The approver that is a person: a network admin sets the condition NetworkPolicyOpen in the status of the ticket.
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
      const condition = conditionOf(ticket, 'NetworkPolicyOpen');
      const message = condition?.message ?? '';
      if (condition?.status === 'True') return ok({ status: 'opened', message });
      if (condition?.reason.toLowerCase() === 'rejected') return ok({ status: 'rejected', message });
      const wait = `application ${id} waits for a network admin, who sets the condition NetworkPolicyOpen in this status to True, or to False with reason rejected`;
      return ok({ status: 'pending', message: wait });
    },
    withdraw: async () => ok(undefined),
  };
}
