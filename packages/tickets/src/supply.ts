// How far the addresses of a Loadbalancer reach: the condition AddressesAvailable, and the Events when it turns (spec/cloud.md §4.4, I-8 and I-11).
import type { LoadbalancerStatus } from '@fairlead/api';
import type { Told } from '@fairlead/kube';
import { fails, holds } from './finding.ts';
import type { Capacity } from './ledger.ts';
import type { Fact } from './status.ts';

/** Percent of the addresses that are taken, from which on an admin hears of it. */
const thresholds = [100, 90, 80];

/** Steps, not numbers: a status that counts would be written, and told, with each ticket. */
export function supply(capacity: Capacity | undefined): Fact {
  for (const threshold of thresholds) {
    const layers = (['ve', 'ltm'] as const).filter(
      (layer) => capacity && capacity[layer].used * 100 >= capacity[layer].total * threshold,
    );
    if (layers.length === 0) continue;
    const what = layers.join(' and ');
    const then = `grow spec.${layers[0]}.cidr, or release tickets`;
    return threshold === 100
      ? fails('exhausted', `no address of ${what} is free; ${then}`)
      : holds('Scarce', `${threshold} % of the addresses of ${what} are taken; ${then}`);
  }
  return holds('Available');
}

const conditionIn = (status: LoadbalancerStatus | undefined) =>
  status?.conditions?.find(({ type }) => type === 'AddressesAvailable');

/** An Event when addresses run short or out, and when there are enough again. */
export function supplyTold(before: LoadbalancerStatus | undefined, after: LoadbalancerStatus): Told[] {
  const [was, is] = [conditionIn(before), conditionIn(after)];
  if (!is || (was?.reason === is.reason && was.message === is.message)) return [];
  if (is.reason === 'exhausted') return [{ type: 'Warning', reason: 'AddressesExhausted', message: is.message }];
  if (is.reason === 'Scarce') return [{ type: 'Warning', reason: 'AddressesScarce', message: is.message }];
  const isEnd = is.reason === 'Available' && (was?.reason === 'exhausted' || was?.reason === 'Scarce');
  return isEnd ? [{ type: 'Normal', reason: 'AddressesAvailable', message: 'there are enough addresses again' }] : [];
}
