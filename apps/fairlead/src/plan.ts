// `fairlead plan`: what would be declared on each device, and the difference to what is there. Changes nothing.
import { addressPool, fail, ok, type LoadBalancer, type Problem, type Result } from '@fairlead/core';
import type { Lbticket, Loadbalancer } from '@fairlead/api';
import { configMap, part, ticketName } from '@fairlead/tickets';
import type { Kube } from '@fairlead/kube';
import { addressMap, type AddressMap } from './address-map.ts';
import { connectManagement } from './connect.ts';
import { deviceDiffs, type Layer } from './device-diff.ts';
import { decode } from './template.ts';
import { ingressGroups, objectsOf } from './plan-ingress.ts';
import { ltmGroups } from './plan-ltm.ts';
import { ingressReader, type TargetOptions } from './target-ingresses.ts';
import { readWishes, type Wishes } from './wishes.ts';

export interface PlanOptions extends TargetOptions {
  filename: string[];
  offline: boolean;
  owner: string;
  output: 'diff' | 'json' | 'irule';
  map: string[];
}

/** One ConfigMap's worth: a Loadbalancer in a namespace; or what the F5 Ingresses of a ticket ask for, or a ticket of the LTM. */
export interface Group {
  loadbalancer: Loadbalancer;
  layer: Layer;
  namespace: string;
  template: string;
  applications: LoadBalancer[];
  /** By object, such as `Lbticket default/test`. */
  problems: Map<string, Problem>;
  /** What is to be said, and is no problem: one line each. */
  notes: string[];
}

export async function plan(options: PlanOptions): Promise<number> {
  const got = await groups(options);
  if (!got.ok) return refuse(got.problem);
  const problems = got.value.all.flatMap((group) => [...group.problems]);
  for (const [object, problem] of problems)
    process.stderr.write(`${object}: ${problem.path ? `${problem.path}: ` : ''}${problem.message}\n`);
  for (const note of got.value.all.flatMap(({ notes }) => notes)) process.stderr.write(`${note}\n`);
  const written =
    options.output === 'diff' && !options.offline
      ? await writeDiffs(options, got.value)
      : ok(print(options, got.value.all));
  if (!written.ok) return refuse(written.problem);
  return problems.length === 0 ? 0 : 1;
}

function refuse(problem: Problem): number {
  process.stderr.write(`fairlead plan: ${problem.path ? `${problem.path}: ` : ''}${problem.message}\n`);
  return 1;
}

interface Groups {
  all: Group[];
  map: AddressMap;
  kube: Kube | undefined;
}

async function groups(options: PlanOptions): Promise<Result<Groups>> {
  const map = addressMap(options.map);
  if (!map.ok) return map;
  if (options.offline && options.filename.length === 0)
    return fail('missing', '--offline reads files alone: give them with -f');
  const management = options.offline ? ok(undefined) : await connectManagement(options);
  if (!management.ok) return management;
  const wishes = await readWishes(management.value, options.filename);
  if (!wishes.ok) return wishes;
  const addressed = withAddresses(wishes.value);
  if (!addressed.ok) return addressed;
  const configMaps = [...groupKeys(wishes.value)].map((key) => groupOf(wishes.value, key));
  const reader = ingressReader(management.value, wishes.value, options);
  const live = [...wishes.value.tickets.values()].filter((one) => isForIngresses(one) && isLive(wishes.value, one));
  const others = await ingressGroups(reader, wishes.value, live);
  await reader.close();
  const ports = new Map(live.map((ticket, i) => [ticketName(ticket), portsIn(others[i])]));
  const all = [
    ...configMaps,
    ...others,
    ...ltmGroups(
      wishes.value,
      [...wishes.value.tickets.values()].filter((one) => isLive(wishes.value, one)),
      (ticket) => ports.get(ticketName(ticket)),
    ),
  ];
  return ok({ all, map: map.value, kube: management.value });
}

const isForIngresses = ({ spec }: Lbticket): boolean => spec.lbtype === 'ingress';

/** Those that a controller would program: enabled ones, and those in the files, taken as if they were. */
const isLive = ({ edited }: Wishes, ticket: Lbticket): boolean =>
  ticket.status?.process === 'enabled' || edited.has(ticketName(ticket));

/** Of what Ingresses ask for; undefined when that cannot be told. */
const portsIn = (group: Group | undefined): number[] | undefined =>
  group && (group.applications.length > 0 || group.problems.size === 0)
    ? [...new Set(group.applications.flatMap(({ listeners }) => listeners.map(({ port }) => port)))].sort(
        (a, b) => a - b,
      )
    : undefined;

/** Gives tickets without an address the lowest free one, as the controller would. */
function withAddresses(wishes: Wishes): Result<void> {
  for (const loadbalancer of wishes.loadbalancers.values())
    for (const layer of ['ve', 'ltm'] as const) {
      const given = withAddressesOn(wishes, loadbalancer, layer);
      if (!given.ok) return given;
    }
  return ok(undefined);
}

function withAddressesOn(wishes: Wishes, { metadata, spec }: Loadbalancer, layer: Layer): Result<void> {
  const field = layer === 've' ? 'veip' : 'ltmip';
  const own = [...wishes.tickets.values()].filter((ticket) => ticket.spec.loadbalancer === metadata.name);
  const taken = own.flatMap((ticket): [string, string][] =>
    ticket.spec[field] ? [[ticket.spec[field], ticketName(ticket)]] : [],
  );
  const { cidr, exclude = [] } = spec[layer];
  const pool = addressPool({ cidr, exclude, taken });
  if (!pool.ok) return pool;
  for (const ticket of own.filter((one) => !one.spec[field] && isLive(wishes, one))) {
    const address = pool.value.take(ticketName(ticket));
    if (!address.ok) return address;
    wishes.tickets.set(ticketName(ticket), { ...ticket, spec: { ...ticket.spec, [field]: address.value } });
  }
  return ok(undefined);
}

function groupKeys(wishes: Wishes): Map<string, { loadbalancer: string; namespace: string }> {
  const keys = new Map<string, { loadbalancer: string; namespace: string }>();
  for (const ticket of wishes.tickets.values()) {
    const { loadbalancer, namespace } = ticket.spec;
    if (isLive(wishes, ticket) && !isForIngresses(ticket))
      keys.set(`${loadbalancer}/${namespace}`, { loadbalancer, namespace });
  }
  return keys;
}

function groupOf(
  wishes: Wishes,
  [, { loadbalancer: name, namespace }]: [string, { loadbalancer: string; namespace: string }],
): Group {
  const loadbalancer = wishes.loadbalancers.get(name);
  const own = [...wishes.tickets.values()].filter(
    (one) =>
      one.spec.loadbalancer === name && one.spec.namespace === namespace && isLive(wishes, one) && !isForIngresses(one),
  );
  if (!loadbalancer) {
    const missing = fail('missing', `Loadbalancer ${name} is not there`, 'spec.loadbalancer').problem;
    return {
      loadbalancer: {} as Loadbalancer,
      layer: 've',
      namespace,
      template: '{}',
      applications: [],
      problems: new Map(own.map((one) => [`Lbticket ${ticketName(one)}`, missing])),
      notes: [],
    };
  }
  const contributions = own.map((ticket) => ({
    ticket: ticketName(ticket),
    created: Date.parse(ticket.metadata.creationTimestamp ?? '') || 0,
    part: part({ loadbalancer, ticket, rules: [...wishes.rules.values()], canaries: [...wishes.canaries.values()] }),
  }));
  const { object, problems } = configMap({ loadbalancer, namespace, contributions, existing: undefined });
  const template = object.data?.['template'] ?? '';
  return {
    loadbalancer,
    layer: 've',
    namespace,
    template,
    applications: applicationsIn(template, loadbalancer, namespace),
    problems: new Map([...problems].map(([ticket, problem]) => [`Lbticket ${ticket}`, problem])),
    notes: [],
  };
}

function applicationsIn(template: string, loadbalancer: Loadbalancer, namespace: string): LoadBalancer[] {
  const decoded = decode(template);
  // A template without any application has no tenant either: nothing is wanted there.
  if (!decoded.ok) return [];
  const origin = {
    cluster: loadbalancer.spec.cluster,
    kind: 'ConfigMap',
    namespace,
    name: `fairlead-${loadbalancer.metadata.name}`,
    uid: '',
    created: 0,
    revision: '',
  };
  return Object.entries(decoded.value.tenants).flatMap(([tenant, applications]) =>
    Object.entries(applications).map(([name, native]) => ({
      key: `${tenant}/${name}`,
      scope: tenant,
      origin,
      listeners: [],
      pools: [],
      native,
    })),
  );
}

function print({ output }: PlanOptions, all: Group[]): void {
  if (output === 'irule') {
    for (const { applications } of all)
      for (const [name, text] of applications.flatMap(irules)) process.stdout.write(`# ${name}\n${text}\n`);
    return;
  }
  const templates = all.map((group) => JSON.parse(group.template) as unknown);
  process.stdout.write(`${JSON.stringify(templates.length === 1 ? templates[0] : templates, null, 2)}\n`);
}

const irules = (lb: LoadBalancer): [string, string][] =>
  objectsOf(lb).flatMap(([name, object]): [string, string][] => {
    const { class: kind, iRule } = object as { class?: unknown; iRule?: unknown };
    return kind === 'iRule' && typeof iRule === 'string' ? [[`${lb.key}/${name}`, iRule]] : [];
  });

async function writeDiffs({ owner, namespace }: PlanOptions, { all, map, kube }: Groups): Promise<Result<void>> {
  if (!kube) return fail('missing', 'comparing with a device needs the management cluster');
  for await (const text of deviceDiffs(all, { map, kube, owner, namespace })) {
    if (!text.ok) return text;
    process.stdout.write(`${text.value}\n`);
  }
  return ok(undefined);
}
