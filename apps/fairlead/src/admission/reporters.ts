// Who writes what the controllers found: told from people by what RBAC lets them do (docs/adr/0021).
import { loadbalancers } from '@fairlead/api';
import type { Clock } from '@fairlead/core';
import type { Kube } from '@fairlead/kube';

/** The right that only the controllers need: no role for people has it. */
export const reporting = {
  group: loadbalancers.group,
  resource: loadbalancers.plural,
  subresource: 'status',
  verb: 'patch',
};

/** Milliseconds that an answer is good for: controllers write often, and their rights change seldom. */
const goodFor = 10_000;
const mostUsers = 1_000;

/** Does this user report for the controllers? Throws when the API server does not say. */
export type IsReporter = (userInfo: unknown) => Promise<boolean>;

export function reporters(management: Kube, clock: Clock): IsReporter {
  const known = new Map<string, { is: Promise<boolean>; until: number }>();
  return (userInfo) => {
    const user = userOf(userInfo);
    // Nothing is refused to them (Kubernetes, "User-facing roles").
    if (user.groups.includes('system:masters')) return Promise.resolve(true);
    const key = JSON.stringify(user);
    const found = known.get(key);
    if (found && clock.now() < found.until) return found.is;
    if (known.size >= mostUsers) known.clear();
    const is = ask(management, user);
    known.set(key, { is, until: clock.now() + goodFor });
    // A failure is told to who waits for it, and asked anew by the next.
    is.catch(() => known.delete(key));
    return is;
  };
}

interface User {
  user: string;
  groups: string[];
  uid?: string;
  extra?: Record<string, string[]>;
}

function userOf(userInfo: unknown): User {
  const { username, groups, uid, extra } = (userInfo ?? {}) as {
    username?: string;
    groups?: string[];
    uid?: string;
    extra?: Record<string, string[]>;
  };
  return { user: username ?? '', groups: groups ?? [], ...(uid ? { uid } : {}), ...(extra ? { extra } : {}) };
}

async function ask(management: Kube, user: User): Promise<boolean> {
  const spec = { ...user, resourceAttributes: reporting };
  const review = { apiVersion: 'authorization.k8s.io/v1', kind: 'SubjectAccessReview', spec };
  const got = await management.raw('POST', '/apis/authorization.k8s.io/v1/subjectaccessreviews', review);
  if (got.ok) return ((got.value ?? {}) as { status?: { allowed?: boolean } }).status?.allowed === true;
  throw new Error(
    `admission cannot ask what ${user.user || 'a user without a name'} may do (apply the role fairlead-controller of this release): ${got.problem.message}`,
  );
}
