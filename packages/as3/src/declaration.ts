// The declaration around applications: what is posted to the device, and what lies in a ConfigMap.
import { byText, type As3, type Tenant } from './application.ts';

/**
 * The oldest schema that has all we emit (dots and dashes in names of tenants came with it): a device refuses one above
 * its own version, and takes any below.
 */
const schemaVersion = '3.17.0';

/** Tenants by name to the body of a POST. A tenant without applications is one to remove. Sorted, so equal is equal. */
export function declaration(tenants: Readonly<Record<string, Tenant>>): As3 {
  const sorted = Object.entries(tenants).toSorted(([a], [b]) => byText(a, b));
  const bodies = sorted.map(([name, applications]) => {
    const inside = Object.entries(applications).toSorted(([a], [b]) => byText(a, b));
    return [name, { class: 'Tenant', ...Object.fromEntries(inside) }] as const;
  });
  return {
    class: 'AS3',
    action: 'deploy',
    persist: true,
    declaration: { class: 'ADC', schemaVersion, id: 'fairlead', ...Object.fromEntries(bodies) },
  };
}
