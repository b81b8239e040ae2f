// The difference between what a device holds and what would be declared on it, as text.
import type { Loadbalancer } from '@fairlead/api';
import { isApplication, unpinned } from '@fairlead/as3';
import { fail, isPlanEmpty, ok, plan, type Item, type LoadBalancer, type Plan, type Result } from '@fairlead/core';
import type { Kube } from '@fairlead/kube';
import { createTwoFilesPatch } from 'diff';
import type { AddressMap } from './address-map.ts';
import { systemClock } from './clock.ts';
import { credentialsOf, ltmCredentialsOf, readCredentialSecrets } from './credentials.ts';
import { device } from './device.ts';

export interface DiffOptions {
  map: AddressMap;
  kube: Kube;
  owner: string;
  /** Of Secrets that are referred to without one. */
  namespace: string;
}

/** The second layer, whose device is the VE, or the first. */
export type Layer = 've' | 'ltm';

interface Tenant {
  url: string;
  scope: string;
  loadbalancer: Loadbalancer;
  layer: Layer;
  wanted: LoadBalancer[];
}

/** One text for each tenant that is wanted, in the words of the device. */
export async function* deviceDiffs(
  all: readonly { loadbalancer: Loadbalancer; layer: Layer; applications: LoadBalancer[] }[],
  options: DiffOptions,
): AsyncGenerator<Result<string>> {
  const tenants = new Map<string, Tenant>();
  for (const { loadbalancer, layer, applications } of all) {
    for (const lb of applications) {
      const { ve, ltm } = loadbalancer.spec;
      const url = options.map(layer === 've' ? ve.addr : ltm.url);
      const tenant = tenants.get(`${url} ${lb.scope}`) ?? { url, scope: lb.scope, loadbalancer, layer, wanted: [] };
      tenant.wanted.push(lb);
      tenants.set(`${url} ${lb.scope}`, tenant);
    }
  }
  for (const tenant of tenants.values()) yield await tenantDiff(tenant, options);
}

async function tenantDiff(
  { url, scope, loadbalancer, layer, wanted }: Tenant,
  { kube, owner, namespace }: DiffOptions,
): Promise<Result<string>> {
  const given = await readCredentialSecrets(kube, loadbalancer, namespace);
  const credentials = layer === 've' ? credentialsOf(loadbalancer, given) : ltmCredentialsOf(loadbalancer, given);
  if (!credentials) {
    const what =
      layer === 've'
        ? 'the credentials of its VE are not there; look at spec.ve.credentialsSecretRef'
        : 'the token of its LTM is not there; look at spec.ltm.tokenSecretRef';
    return fail('missing', `Loadbalancer ${loadbalancer.metadata.name}: ${what}`);
  }
  const { provider, close } = device({ url, credentials, clock: systemClock });
  const found = await provider.read(scope, new AbortController().signal);
  await close();
  if (!found.ok) return found;
  const items: Item<unknown>[] = [];
  for (const lb of wanted) {
    const form = provider.compile(lb);
    if (!form.ok) return form;
    items.push({ key: lb.key, form: form.value, owner });
  }
  // Other namespaces share the tenant, and this command was not told what they want: only what is named is compared.
  const named = new Set(items.map((item) => item.key));
  const present = found.value.filter((item) => named.has(item.key)).map(withoutDigests);
  const answer = plan({ scope, owner, wanted: items, found: present });
  const taken = answer.taken.map(
    ({ item, by }) => `${item.key} is held by ${by.owner || 'somebody else'} and would be left alone`,
  );
  return ok([diffText(`tenant ${scope} on ${url}`, answer.plan), ...taken].join('\n'));
}

/** What Secrets hold is not read here, so whether a certificate was renewed is not compared. */
const withoutDigests = (item: Item<unknown>): Item<unknown> =>
  isApplication(item.form) ? { ...item, form: unpinned(item.form) } : item;

function diffText(where: string, todo: Plan<unknown>): string {
  const head = `${where}: ${todo.create.length} to create, ${todo.update.length} to update`;
  if (isPlanEmpty(todo)) return `${head}; nothing to do`;
  const changes = [...todo.create.map((to) => ({ from: undefined, to })), ...todo.update];
  const patches = changes.map(({ from, to }) =>
    createTwoFilesPatch(`device ${to.key}`, `wanted ${to.key}`, jsonOf(from), jsonOf(to), '', '', { context: 4 }),
  );
  return [head, ...patches].join('\n');
}

/** Indented JSON with rule text line by line, so that a diff shows the line that differs. */
function jsonOf(item: Item<unknown> | undefined): string {
  if (!item) return '';
  const lines = (name: string, value: unknown) =>
    name === 'iRule' && typeof value === 'string' ? value.split('\n') : value;
  return `${JSON.stringify(item.form, lines, 2)}\n`;
}
