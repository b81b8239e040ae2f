// What a simulated device holds, asked the way any client would ask it.
import type { Bigip } from '@fairlead/sim-bigip';

/** Credentials as the seed's Loadbalancer has them. */
export const administrator = { user: 'admin', password: 'admin' } as const;

/** The ADC of a tenant, as declared last. */
export const declared = (sim: Bigip, tenant: string): Promise<unknown> =>
  ask(sim, `/mgmt/shared/appsvcs/declare/${tenant}`);

/** Addresses of members in any pool; of all, or of those that their monitors found up. */
export async function memberAddresses(sim: Bigip, wanted: 'all' | 'up' = 'all'): Promise<Set<string>> {
  const { items = [] } = (await ask(sim, '/mgmt/tm/ltm/pool?expandSubcollections=true')) as {
    items?: { membersReference?: { items?: { address: string; state: string }[] } }[];
  };
  const members = items.flatMap((pool) => pool.membersReference?.items ?? []);
  return new Set(members.filter(({ state }) => wanted === 'all' || state === 'up').map(({ address }) => address));
}

async function ask(sim: Bigip, path: string): Promise<unknown> {
  const authorization = `Basic ${Buffer.from(`${administrator.user}:${administrator.password}`).toString('base64')}`;
  const response = await sim.fetch(`http://ve${path}`, { headers: { authorization } });
  if (!response.ok)
    throw new Error(`bug: GET ${path} of our own simulator: ${response.status} ${await response.text()}`);
  return response.json();
}
