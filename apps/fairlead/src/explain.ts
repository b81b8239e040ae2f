// `fairlead explain`: which rule and which pool would a request get, and why.
import {
  apportion,
  choose,
  fail,
  ok,
  type Choice,
  type Listener,
  type Pool,
  type Problem,
  type Result,
  type TestRequest,
} from '@fairlead/core';
import { isCanaryEnded, loadbalancers, type Lbticket, type Listner, type Loadbalancer } from '@fairlead/api';
import { virtualName } from '@fairlead/as3';
import type { Kube } from '@fairlead/kube';
import { applications } from '@fairlead/tickets';
import { connectManagement } from './connect.ts';
import { explainIngress, ingressLines } from './explain-ingress.ts';
import { ingressReader, type TargetOptions } from './target-ingresses.ts';
import { nameOf, readTicket, readWishes, type Wishes } from './wishes.ts';

export interface ExplainOptions extends TargetOptions {
  listner?: string;
  port?: number;
  client: string;
  host?: string;
  path: string;
  header: string[];
  cookie: string[];
  filename: string[];
  output: 'text' | 'json';
}

interface Explanation {
  ticket: string;
  listner: string;
  listener: Listener;
  choice: Choice;
  /** By pool. */
  services: ReadonlyMap<string, Pool['service']>;
  /** Those whose weights are in force on the listner, as sentences. */
  canaries: string[];
}

/** What is printed, in both forms. */
interface Printed {
  json: unknown;
  lines: string[];
}

export async function explain(ticket: string, options: ExplainOptions): Promise<number> {
  const got = await printed(ticket, options);
  if (!got.ok) {
    process.stderr.write(
      `fairlead explain: ${got.problem.path ? `${got.problem.path}: ` : ''}${got.problem.message}\n`,
    );
    return 1;
  }
  const text = options.output === 'json' ? JSON.stringify(got.value.json, null, 2) : got.value.lines.join('\n');
  process.stdout.write(`${text}\n`);
  return 0;
}

async function printed(name: string, options: ExplainOptions): Promise<Result<Printed>> {
  const management = options.filename.length > 0 ? ok(undefined) : await connectManagement(options);
  if (!management.ok) return management;
  const full = name.includes('/') ? name : `default/${name}`;
  const read = management.value ? await readTicket(management.value, full) : await readFiles(options.filename);
  if (!read.ok) return read;
  const { wishes } = read.value;
  const ticket = wishes.tickets.get(full);
  if (!ticket) return fail('missing', `no ticket ${name}; there is: ${[...wishes.tickets.keys()].join(', ')}`);
  if (read.value.hidden) {
    const seen = unseen(wishes, ticket);
    if (!seen.ok) return seen;
  }
  const headers = requestHeaders(options);
  if (!headers.ok) return headers;
  const request = { client: options.client, uri: options.path, headers: headers.value };
  if (ticket.spec.lbtype === 'ingress') return ofIngresses(management.value, wishes, { ticket, request, options });
  const got = explanation(wishes, { ticket, request, options });
  return got.ok ? ok({ json: jsonOf(got.value), lines: lines(got.value) }) : got;
}

async function readFiles(files: readonly string[]): Promise<Result<{ wishes: Wishes; hidden?: Problem }>> {
  const wishes = await readWishes(undefined, files);
  return wishes.ok ? ok({ wishes: wishes.value }) : wishes;
}

/**
 * Which rule and which pool a request gets does not hang on the Loadbalancer, so users who may not read it are answered too,
 * with one that stands for it. The Ingresses of a ticket are in the cluster that it names.
 */
function unseen(wishes: Wishes, ticket: Lbticket): Result<void> {
  const { loadbalancer: name, lbtype } = ticket.spec;
  const why = `Loadbalancer ${name} may not be read by you`;
  if (lbtype === 'ingress')
    return fail('denied', `${why}, and it says in which cluster the Ingresses are: ask for the role ${viewerRole}`);
  process.stderr.write(
    `fairlead explain: ${why}; what it does not allow (https with an external CIS) is not looked at\n`,
  );
  wishes.loadbalancers.set(name, standIn(name));
  return ok(undefined);
}

const standIn = (name: string): Loadbalancer => ({
  apiVersion: `${loadbalancers.group}/${loadbalancers.version}`,
  kind: loadbalancers.kind,
  metadata: { name },
  spec: {
    ltm: { url: '', cidr: '', mode: 'allocate' },
    ve: { addr: '', cidr: '' },
    cluster: 'unseen',
    nsselector: {},
    cis: { mode: 'fairlead', tenant: '{namespace}' },
    policy: { provider: 'auto' },
    reclaimQuarantine: '0s',
  },
});

const viewerRole = 'fairlead-loadbalancer-viewer';

interface Question {
  ticket: Lbticket;
  request: TestRequest;
  options: ExplainOptions;
}

async function ofIngresses(
  management: Kube | undefined,
  wishes: Wishes,
  { ticket, request, options }: Question,
): Promise<Result<Printed>> {
  if (options.listner !== undefined)
    return fail('invalid', `--listner: ticket ${nameOf(ticket)} is for F5 Ingresses and has no listners; use --port`);
  const loadbalancer = loadbalancerOf(wishes, ticket);
  if (!loadbalancer.ok) return loadbalancer;
  const reader = ingressReader(management, wishes, options);
  const { veip } = addressed(ticket).spec;
  const read = await reader.read(ticket, loadbalancer.value, ticket.status?.veip ?? veip ?? '');
  await reader.close();
  if (!read.ok) return read;
  const got = explainIngress(read.value, { ticket: nameOf(ticket), port: options.port, request });
  return got.ok ? ok({ json: got.value, lines: ingressLines(got.value) }) : got;
}

/** Every pool counts as alive: what a device sees of its members is no part of the question. */
function explanation(wishes: Wishes, { ticket, request, options }: Question): Result<Explanation> {
  const listner = listnerOf(ticket, options);
  if (!listner.ok) return listner;
  const found = listenerOf(wishes, ticket, listner.value);
  if (!found.ok) return found;
  const { listener, pools } = found.value;
  const choice = choose(listener, request, () => true);
  if (!choice.ok) return choice;
  const services = new Map(pools.map(({ name, service }) => [name, service]));
  const canaries = canariesOn(wishes, ticket, listner.value);
  return ok({
    ticket: nameOf(ticket),
    listner: listner.value.name,
    listener,
    choice: choice.value,
    services,
    canaries,
  });
}

const jsonOf = ({ ticket, listner, choice, services, canaries }: Explanation) => ({
  ticket,
  listner,
  rule: choice.route,
  // Absent where chance decides: then it is one of `among`.
  pool: choice.pool,
  service: choice.pool === undefined ? undefined : services.get(choice.pool),
  among: choice.among.map(({ pool, weight }) => ({ pool, weight, service: services.get(pool) })),
  why: choice.why,
  canaries,
});

function listnerOf(ticket: Lbticket, { listner: name, port }: ExplainOptions): Result<Listner> {
  const all = ticket.spec.listners ?? [];
  const isAsked = (one: Listner) => (name ?? one.name) === one.name && (port ?? one.port) === one.port;
  const found = all.find(isAsked);
  if (found) return ok(found);
  const there = all.map((one) => one.name).join(', ');
  return fail(
    'missing',
    all.length === 0
      ? `ticket ${nameOf(ticket)} has no listners`
      : `no listner ${[name, port].filter((one) => one !== undefined).join(' on port ')}; there is: ${there}`,
  );
}

function listenerOf(
  { loadbalancers, rules, canaries }: Wishes,
  ticket: Lbticket,
  listner: Listner,
): Result<{ listener: Listener; pools: Pool[] }> {
  const loadbalancer = loadbalancerOf({ loadbalancers }, ticket);
  if (!loadbalancer.ok) return loadbalancer;
  const lbs = applications({
    loadbalancer: loadbalancer.value,
    ticket: addressed(ticket),
    rules: [...rules.values()],
    canaries: [...canaries.values()],
  });
  if (!lbs.ok) return lbs;
  const name = virtualName(ticket.metadata.name, listner.port);
  for (const { listeners, pools } of lbs.value) {
    const listener = listeners.find((one) => one.name === name && one.protocol === listner.protocal);
    if (listener) return ok({ listener, pools });
  }
  throw new Error(`bug: listner ${listner.name} of ${nameOf(ticket)} became no listener`);
}

/** The rules are the same whatever the address, so a ticket that has none yet can be asked about too. */
const addressed = (ticket: Lbticket): Lbticket =>
  ticket.spec.veip || ticket.status?.veip ? ticket : { ...ticket, spec: { ...ticket.spec, veip: '0.0.0.0' } };

function loadbalancerOf({ loadbalancers }: Pick<Wishes, 'loadbalancers'>, ticket: Lbticket): Result<Loadbalancer> {
  const found = loadbalancers.get(ticket.spec.loadbalancer);
  if (found) return ok(found);
  const why = `ticket ${nameOf(ticket)} names Loadbalancer ${ticket.spec.loadbalancer}, which is not there`;
  return fail('missing', why, 'spec.loadbalancer');
}

function canariesOn(wishes: Wishes, ticket: Lbticket, listner: Listner): string[] {
  return [...wishes.canaries.values()]
    .filter(
      ({ metadata, spec }) =>
        nameOf({ metadata: { ...metadata, name: spec.lbticket } }) === nameOf(ticket) && spec.listner === listner.name,
    )
    .filter((canary) => canary.status?.weight !== undefined && !isCanaryEnded(canary))
    .map((canary) => {
      const { spec, status } = canary;
      const where = spec.lbrule === undefined ? 'the listner' : `rule ${spec.lbrule}`;
      return `${nameOf(canary)} gives ${spec.service} ${status?.weight} % of ${where} (${status?.phase})`;
    });
}

function requestHeaders({ host, header, cookie }: ExplainOptions): Result<[string, string][]> {
  const headers: [string, string][] = host === undefined ? [] : [['Host', host]];
  for (const text of header) {
    const cut = text.indexOf('=');
    if (cut < 1) return fail('invalid', `--header ${text}: write NAME=VALUE`);
    headers.push([text.slice(0, cut), text.slice(cut + 1)]);
  }
  const wrong = cookie.find((text) => text.indexOf('=') < 1);
  if (wrong !== undefined) return fail('invalid', `--cookie ${wrong}: write NAME=VALUE`);
  if (cookie.length > 0) headers.push(['Cookie', cookie.join('; ')]);
  return ok(headers);
}

function lines({ ticket, listner, listener, choice, services, canaries }: Explanation): string[] {
  const named = (pool: string) => {
    const service = services.get(pool);
    return `${pool} (${service ? `Service ${service.name} port ${service.port} in namespace ${service.namespace}` : 'no Service'})`;
  };
  const percents = apportion(
    choice.among.map(({ weight }) => weight),
    100,
  );
  return [
    `ticket  ${ticket}, listner ${listner}: ${listener.protocol} ${listener.address}:${listener.port}`,
    ...canaries.map((canary) => `canary  ${canary}`),
    ...choice.why.map((why) => `        ${why}`),
    `rule    ${choice.route === 'default' ? "none: the listner's own weights" : choice.route}`,
    ...(choice.pool === undefined
      ? choice.among.map(({ pool }, i) => `${i === 0 ? 'pool    ' : 'or      '}${percents[i]} % ${named(pool)}`)
      : [`pool    ${named(choice.pool)}`]),
  ];
}
