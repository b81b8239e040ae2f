// `fairlead cluster add|list|check|remove`: target clusters as Secrets, which the running controllers follow.
import { fail, ok, type Result } from '@fairlead/core';
import { secrets, type Kube, type Secret } from '@fairlead/kube';
import { clusterName, clustersLabel, type Entry } from './entries.ts';
import type { Inlined } from './inline.ts';
import { lacking } from './needs.ts';
import { meetAll, registered, usersOf, withClient, type Desk, type Met, type Registered } from './registered.ts';
import { secretData } from '../secret-text.ts';

/** What a command says, and how it ends. */
export interface Said {
  lines: string[];
  code: 0 | 1;
}

const fieldManager = 'fairlead-cluster';

/** Registers a cluster, or gives a registered one other credentials. `unchecked`: without asking its API server. */
export async function addCluster(
  desk: Desk,
  { name, config, unchecked }: { name: string; config: Inlined; unchecked: boolean },
): Promise<Result<Said>> {
  const named = clusterName(name);
  const known = await registered(desk);
  if (!named.ok) return named;
  if (!known.ok) return known;
  const entry: Entry = { name, from: `cluster ${name}`, text: config.text };
  const present = known.value.entries.get(name);
  const secret = present?.secret?.metadata.name ?? secretName(name);
  const found = unchecked ? ok(undefined) : await checked(desk, entry, known.value);
  if (!found.ok) return found;
  const written = await desk.management.apply(secrets, secretOf(desk, secret, entry), { fieldManager, force: true });
  if (!written.ok)
    return fail(
      written.problem.code,
      `${written.problem.message}. The Secret belongs into the namespace of the controller: give --namespace, or create ${desk.namespace}`,
    );
  const how = present ? 'has new credentials' : 'is registered';
  const users = usersOf(name, known.value.loadbalancers);
  return ok({
    lines: [
      `cluster ${name} ${how} by Secret ${desk.namespace}/${secret}${found.value ? `; ${found.value}` : ''}`,
      ...config.warnings.map((warning) => `warning: ${warning}`),
      ...(await lacks(desk, entry, unchecked)),
      users.length > 0
        ? `Loadbalancers that name it: ${users.join(', ')}; a running controller serves them within seconds`
        : `a running controller takes it up within seconds; Loadbalancers name it in spec.cluster`,
    ],
    code: 0,
  });
}

/** The Secret's name says whose it is as far as a name may; the key says it exactly. */
const secretName = (cluster: string): string =>
  `fairlead-cluster-${cluster
    .toLowerCase()
    .replaceAll('_', '-')
    .replaceAll(/\.(?=[-.])|(?<=-)\./g, '-')}`;

const secretOf = ({ namespace }: Desk, name: string, { name: key, text = '' }: Entry): Secret => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name, namespace, labels: { [clustersLabel]: 'true' } },
  data: secretData({ [key]: text }),
});

/** The API server's words about itself, when it may be added. */
async function checked(desk: Desk, entry: Entry, known: Registered): Promise<Result<string>> {
  const [own] = await meetAll(desk, [entry]);
  if (!own?.identity.ok) return own ? notAdded(own) : fail('invalid', 'bug: nothing was met');
  const uid = own.identity.value;
  const others = await meetAll(desk, known.entries.values());
  const before = others.find((one) => one.entry.name === entry.name);
  if (before?.identity.ok && before.identity.value !== uid)
    return fail(
      'invalid',
      `cluster ${entry.name} is registered as another one (kube-system ${before.identity.value}, this is ${uid}); fairlead cluster remove ${entry.name} first, if that is meant`,
    );
  const twin = others.find((one) => one.entry.name !== entry.name && one.identity.ok && one.identity.value === uid);
  if (twin)
    return fail(
      'taken',
      `this is the API server of cluster ${twin.entry.name} (${twin.entry.from}; kube-system ${uid}); use that name`,
    );
  return ok(`API server ${own.server}, kube-system ${uid}`);
}

const notAdded = ({ identity }: Met) =>
  identity.ok
    ? identity
    : fail(
        identity.problem.code,
        `${identity.problem.message}. Nothing is registered; --unchecked registers it all the same`,
      );

async function lacks(desk: Desk, entry: Entry, unchecked: boolean): Promise<string[]> {
  if (unchecked) return [];
  const missing = await withClient(desk, entry, async (kube) => (kube.ok ? lacking(kube.value) : kube));
  if (!missing.ok) return [`warning: what it may do there cannot be asked: ${missing.problem.message}`];
  return missing.value.map((one) => `warning: its user may not ${one}`);
}

export async function removeCluster(
  desk: Desk,
  { name, force }: { name: string; force: boolean },
): Promise<Result<Said>> {
  const known = await registered(desk);
  if (!known.ok) return known;
  const { secret } = known.value.entries.get(name) ?? {};
  if (!secret)
    return fail(
      'missing',
      `no Secret in ${desk.namespace} registers a cluster ${name}; fairlead cluster list shows those there are`,
    );
  const users = usersOf(name, known.value.loadbalancers);
  if (users.length > 0 && !force)
    return fail(
      'denied',
      `Loadbalancers name cluster ${name}: ${users.join(', ')}. Without it their tickets stand still, and what they have on devices stays until it is added again; delete them first, or give --force`,
    );
  const gone = await removeKey(desk.management, secret, name);
  if (!gone.ok) return gone;
  const stays = `their tickets stand still, and what they have on devices stays: ${users.join(', ')}`;
  return ok({ lines: [`cluster ${name} is removed${users.length > 0 ? `; ${stays}` : ''}`], code: 0 });
}

async function removeKey(management: Kube, { metadata, data = {} }: Secret, key: string): Promise<Result<void>> {
  const { name, namespace, uid, resourceVersion } = metadata;
  const at = { name, namespace };
  if (Object.keys(data).length === 1) return management.remove(secrets, at, { uid, resourceVersion });
  const body = { metadata: { resourceVersion }, data: { [key]: null } };
  const patched = await management.patch(secrets, at, { type: 'merge', body }, { fieldManager });
  return patched.ok ? ok(undefined) : patched;
}

/** A row for each cluster that is registered, or that a Loadbalancer names. */
export async function listClusters(desk: Desk, output: 'table' | 'json'): Promise<Result<Said>> {
  const known = await registered(desk);
  if (!known.ok) return known;
  const { entries, refused, loadbalancers: all } = known.value;
  const rows = (await meetAll(desk, entries.values())).map((one) => ({
    name: one.entry.name,
    server: one.server,
    state: stateOf(one),
    loadbalancers: usersOf(one.entry.name, all),
    from: one.entry.from,
  }));
  for (const { entry, why } of refused)
    rows.push({ name: entry.name, server: '', state: `refused: ${why}`, loadbalancers: [], from: entry.from });
  for (const name of new Set(all.map(({ spec }) => spec.cluster)))
    if (!entries.has(name))
      rows.push({ name, server: '', state: notHere, loadbalancers: usersOf(name, all), from: '' });
  if (output === 'json') return ok({ lines: [JSON.stringify(rows, null, 2)], code: 0 });
  const cells = rows.map((row) => [row.name, row.server || '-', row.loadbalancers.join(',') || '-', row.state]);
  return ok({ lines: columns([['NAME', 'SERVER', 'LOADBALANCERS', 'STATE'], ...cells]), code: 0 });
}

const notHere = 'in no Secret; the controller may have it by its own --cluster';

const stateOf = ({ identity, twin }: Met): string => {
  if (!identity.ok) return `${identity.problem.code}: ${identity.problem.message}`;
  return twin === undefined ? 'answers' : `taken: the same API server as ${twin}`;
};

function columns(rows: readonly string[][]): string[] {
  const widths = (rows[0] ?? []).map((_, i) => Math.max(...rows.map((row) => row[i]?.length ?? 0)));
  return rows.map((row) => row.map((cell, i) => (i < row.length - 1 ? cell.padEnd(widths[i] ?? 0) : cell)).join('   '));
}

/** Does each answer, is it itself, and may we do there what we have to? Ends with 1 if one does not. */
export async function checkClusters(desk: Desk, names: readonly string[]): Promise<Result<Said>> {
  const known = await registered(desk);
  if (!known.ok) return known;
  const { entries } = known.value;
  const unknown = names.find((name) => !entries.has(name));
  if (unknown !== undefined)
    return fail(
      'missing',
      `no Secret in ${desk.namespace} registers a cluster ${unknown}; there are: ${[...entries.keys()].join(', ') || 'none'}`,
    );
  const met = await meetAll(desk, entries.values());
  const lines: string[] = [];
  let wrong = 0;
  for (const one of met.filter(({ entry }) => names.length === 0 || names.includes(entry.name))) {
    const faults = one.identity.ok && one.twin === undefined ? await lacks(desk, one.entry, false) : [];
    const isWell = one.identity.ok && one.twin === undefined && faults.length === 0;
    wrong += isWell ? 0 : 1;
    lines.push(
      `${isWell ? '✓' : '✗'} ${one.entry.name}: ${one.server} ${stateOf(one)}`,
      ...faults.map((fault) => `  ${fault}`),
    );
  }
  return ok({ lines: lines.length > 0 ? lines : ['no cluster is registered'], code: wrong > 0 ? 1 : 0 });
}
