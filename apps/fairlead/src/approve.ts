// `fairlead approve` and `fairlead reject`: the network approver's answer to a ticket with policy.provider `manual`.
import { lbtickets, type Lbticket } from '@fairlead/api';
import { fail, ok, type Clock, type Result } from '@fairlead/core';
import type { Kube } from '@fairlead/kube';
import { systemClock } from './clock.ts';
import { connectManagement } from './connect.ts';

export interface ApproveOptions {
  message?: string;
  kubeconfig: string | undefined;
  management: string;
}

export type Answer = 'approve' | 'reject';

export async function answerTicket(answer: Answer, name: string, options: ApproveOptions): Promise<number> {
  const management = await connectManagement(options);
  const done = management.ok ? await answered(management.value, name, { answer, ...options }, systemClock) : management;
  if (!done.ok) {
    process.stderr.write(`fairlead ${answer}: ${done.problem.message}\n`);
    return 1;
  }
  process.stdout.write(`lbticket ${done.value}\n`);
  return 0;
}

const mostTries = 5;

/** What was done, as a sentence. The other conditions stay, whoever writes them meanwhile. */
export async function answered(
  kube: Kube,
  name: string,
  { answer, message }: { answer: Answer; message?: string },
  clock: Clock,
): Promise<Result<string>> {
  const [namespace = '', ticketName = ''] = name.includes('/') ? name.split('/') : ['default', name];
  const at = { name: ticketName, namespace };
  for (let tries = 1; ; tries++) {
    const got = await kube.get(lbtickets, at);
    if (!got.ok) return got;
    const wrong = notWaiting(got.value);
    if (wrong !== undefined) return fail('denied', `lbticket ${namespace}/${ticketName} ${wrong}`);
    const body = patchOf(got.value, { answer, message, now: clock.now() });
    const written = await kube.patch(lbtickets, at, { type: 'merge', body }, { subresource: 'status' });
    if (written.ok) return ok(`${namespace}/${ticketName} ${answer === 'approve' ? 'approved' : 'rejected'}`);
    // Somebody wrote in between: look again at what is there now.
    if (written.problem.code !== 'conflict' || tries === mostTries) return written;
  }
}

function notWaiting({ status }: Lbticket): string | undefined {
  if (status?.process === 'apply') return undefined;
  return `does not wait for an approver: it is ${status?.process ?? 'new'}`;
}

function patchOf(
  { metadata, status }: Lbticket,
  { answer, message, now }: { answer: Answer; message: string | undefined; now: number },
): unknown {
  const isOpen = answer === 'approve';
  const condition = {
    type: 'NetworkPolicyOpen',
    status: isOpen ? ('True' as const) : ('False' as const),
    reason: isOpen ? 'Approved' : 'rejected',
    message: message ?? (isOpen ? 'opened by a network approver' : 'rejected by a network approver'),
    lastTransitionTime: `${new Date(now).toISOString().slice(0, 19)}Z`,
  };
  const others = (status?.conditions ?? []).filter(({ type }) => type !== condition.type);
  return { metadata: { resourceVersion: metadata.resourceVersion }, status: { conditions: [...others, condition] } };
}
