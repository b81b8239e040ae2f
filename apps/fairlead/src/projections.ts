// What of an object a copy keeps: who manages which field is half of many a small one, and seldom asked for.
import type { KubeObject } from '@fairlead/kube';

export function withoutManagers<T extends KubeObject>(object: T): T {
  const { managedFields: _, ...metadata } = object.metadata;
  return { ...object, metadata };
}

/** Who manages anything of it, and no more: labels are taken back only from what carries ours. */
export function withManagersNamed<T extends KubeObject>(object: T): T {
  const { managedFields, ...metadata } = object.metadata;
  if (!Array.isArray(managedFields)) return object;
  const named = (managedFields as { manager?: string }[]).map(({ manager }) => ({ manager }));
  return { ...object, metadata: { ...metadata, managedFields: named } };
}
