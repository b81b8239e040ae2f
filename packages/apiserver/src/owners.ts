// Owners said twice: kept once, and the writer is told.
import { isEqual, type Metadata, type OwnerReference } from './object.ts';
import type { Call } from './request.ts';

/** `when` tells the writer's own doubles from those that mutating webhooks made. */
export function dropDoubleOwners({ warnings }: Call, metadata: Metadata, when: 'before' | 'after'): void {
  const { ownerReferences } = metadata;
  if (!Array.isArray(ownerReferences) || ownerReferences.length < 2) return;
  const kept: OwnerReference[] = [];
  const doubles: string[] = [];
  for (const owner of ownerReferences) {
    if (kept.some((one) => isEqual(one, owner))) doubles.push(owner.uid);
    else kept.push(owner);
  }
  if (doubles.length === 0) return;
  metadata.ownerReferences = kept;
  const origin = when === 'after' ? ' after mutating admission happens' : '';
  const advice =
    'API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests';
  warnings.push(
    `.metadata.ownerReferences contains duplicate entries${origin}; ${advice}; duplicate UID(s) observed: ${doubles.join(', ')}`,
  );
}
