// What a container asks for and is limited to: names of resources, and amounts of them.
import { invalidValue, required } from '../field-error.ts';
import { qualifiedProblems } from '../names.ts';
import { treeOf, type Tree } from '../object.ts';
import { parseQuantity } from '../quantity.ts';
import type { Cause } from '../status.ts';
import { notNegative } from './amounts.ts';

const nano = 1_000_000_000n;
const ofContainers = ['cpu', 'memory', 'ephemeral-storage'];
/** Resources that quotas count; without a domain no other name means anything. */
const ofQuotas = [
  'requests.cpu',
  'requests.memory',
  'requests.storage',
  'requests.ephemeral-storage',
  'limits.cpu',
  'limits.memory',
  'limits.ephemeral-storage',
  'pods',
  'resourcequotas',
  'services',
  'replicationcontrollers',
  'secrets',
  'configmaps',
  'persistentvolumeclaims',
  'storage',
  'services.nodeports',
  'services.loadbalancers',
];

export function resourceCauses({ limits, requests }: Tree, path: string): Cause[] {
  const most = treeOf(limits);
  const causes = Object.entries(most).flatMap(([name, amount]) =>
    amountCauses(name, amount, `${path}.limits[${name}]`),
  );
  for (const [name, amount] of Object.entries(treeOf(requests))) {
    causes.push(...amountCauses(name, amount, `${path}.requests[${name}]`));
    causes.push(...limitCauses({ name, amount: String(amount), limit: most[name], path }));
  }
  return causes;
}

function amountCauses(name: string, amount: unknown, path: string): Cause[] {
  const causes = nameCauses(name, path);
  const found = parseQuantity(String(amount)) ?? 0n;
  if (found < 0n) causes.push(invalidValue(path, amount, notNegative));
  const isWhole = name.includes('/') || name.startsWith('hugepages-');
  if (isWhole && found % nano !== 0n) causes.push(invalidValue(path, amount, 'must be an integer'));
  return causes;
}

function nameCauses(name: string, path: string): Cause[] {
  const problems = qualifiedProblems(name);
  if (problems.length > 0) return problems.map((why) => invalidValue(path, name, why));
  if (name.includes('/')) {
    const isOwn = /^([a-z0-9-]+\.)*kubernetes\.io\//.test(name) || name.startsWith('requests.');
    return isOwn ? [invalidValue(path, name, "doesn't follow extended resource name standard")] : [];
  }
  if (ofContainers.includes(name) || name.startsWith('hugepages-')) return [];
  const causes = ofQuotas.includes(name)
    ? []
    : [invalidValue(path, name, 'must be a standard resource type or fully qualified')];
  return [...causes, invalidValue(path, name, 'must be a standard resource for containers')];
}

interface Request {
  name: string;
  amount: string;
  limit: unknown;
  path: string;
}

/** What cannot be shared out beyond what there is has to be asked for exactly. */
function limitCauses({ name, amount, limit, path }: Request): Cause[] {
  const isShared = !name.includes('/') && !name.startsWith('hugepages-');
  if (limit === undefined)
    return isShared ? [] : [required(`${path}.limits`, 'Limit must be set for non overcommitable resources')];
  const asked = parseQuantity(amount) ?? 0n;
  const most = parseQuantity(String(limit)) ?? 0n;
  if (!isShared && asked !== most)
    return [invalidValue(`${path}.requests`, amount, `must be equal to ${name} limit of ${String(limit)}`)];
  return asked > most
    ? [invalidValue(`${path}.requests`, amount, `must be less than or equal to ${name} limit of ${String(limit)}`)]
    : [];
}
