// Names on the device that come out of a ticket (spec tickets.md §5), and how long they and a rule may be there.
import type { Protocol } from './load-balancer.ts';

/**
 *   applicationName('default', 'http')   default_http_app
 *   poolName('svc01', 8080)              svc01_8080_pool
 *   virtualName('test', 80)              test_80_vs
 *   virtualName('80test', 80)            n80test_80_vs      AS3's names begin with a letter
 *   ruleName('test_80_vs')               test_80_vs_irule
 */
export const applicationName = (namespace: string, protocol: Protocol): string =>
  letterFirst(`${namespace}_${protocol}_app`);
export const poolName = (service: string, port: number): string => letterFirst(`${service}_${port}_pool`);
export const virtualName = (ticket: string, port: number): string => letterFirst(`${ticket}_${port}_vs`);
export const ruleName = (virtual: string): string => `${virtual}_irule`;
export const tenantName = (text: string): string => letterFirst(text);

const letterFirst = (name: string): string => (/^[0-9]/.test(name) ? `n${name}` : name);

/** Characters of an object's path on the device, `/tenant/application/name`. */
export const longestPath = 195;

/** Characters of what the device takes as one rule, with room to spare. */
export const longestRule = 60_000;

/** The same rule for tenants, applications and objects (spec as3.md §7.3, schema 3.17 and later). */
export const isAs3Name = (name: string): boolean => /^[A-Za-z][0-9A-Za-z_.-]{0,188}[0-9A-Za-z_.]$/.test(name);

/** Words of a declaration's own, and the one tenant that takes no application of ours, but `Shared` alone. */
const notTenants = [
  'Common',
  'class',
  'constants',
  'controls',
  'id',
  'label',
  'remark',
  'schemaVersion',
  'scratch',
  'target',
  'updateMode',
];

/** Can applications of ours lie in a tenant of this name? */
export const isOwnTenant = (name: string): boolean => isAs3Name(name) && !notTenants.includes(name);
