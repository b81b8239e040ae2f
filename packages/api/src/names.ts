// Names on the device that depend on a Loadbalancer (spec/tickets.md §5).
import { tenantName } from '@fairlead/core';
import type { Loadbalancer } from './loadbalancer.ts';

/**
 * `spec.ve.partition`, or else from `spec.cis.tenant`, such as `{cluster}_{namespace}`. A CIS of somebody else's has its
 * partition for itself, and refuses ConfigMaps that declare it (spec/f5.md §3.3).
 */
export function tenantOf({ spec }: Loadbalancer, namespace: string): string {
  const own = spec.cis.mode === 'external' ? undefined : spec.ve.partition;
  return tenantName(own ?? spec.cis.tenant.replaceAll('{cluster}', spec.cluster).replaceAll('{namespace}', namespace));
}
