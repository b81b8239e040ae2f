// Which cluster answers behind an address: the UID of its namespace kube-system, which no other cluster has.
import { fail, ok, type Clock, type Result } from '@fairlead/core';
import { namespaces, type Kube } from '@fairlead/kube';

/** Milliseconds for an answer; longer is none. */
const patience = 10_000;

/** An address can lead to two clusters in turn, and two addresses to one; this tells. */
export async function identityOf(kube: Kube, clock: Clock): Promise<Result<string>> {
  const stop = new AbortController();
  const late = clock.sleep(patience, stop.signal).then(() => 'late' as const);
  const found = await Promise.race([kube.get(namespaces, { name: 'kube-system' }), late]);
  stop.abort();
  if (found === 'late') return fail('unreachable', `${kube.server} did not answer within ${patience / 1000} s`);
  if (!found.ok) return fail(found.problem.code, `${kube.server}: ${found.problem.message}`);
  const { uid } = found.value.metadata;
  return uid
    ? ok(uid)
    : fail('invalid', `${kube.server}: its namespace kube-system has no UID; is this an API server?`);
}
