// What must hold of tickets, addresses, applications and ConfigMaps at every moment, whatever goes wrong. Gives what does not.
import type { Lbticket, Loadbalancer } from '@fairlead/api';
import { overlaps, parseCidr } from '@fairlead/core';
import type { ConfigMap } from '@fairlead/kube';
import { readEntries } from '../configmap.ts';
import { isRecord, parsedObject } from '../json.ts';
import { events, step, type State } from '../life.ts';
import { ticketName } from '../names.ts';
import { durationOf } from '../quarantine.ts';

export interface Scene {
  /** Milliseconds since the epoch. */
  now: number;
  /** All on one LTM and one VE. */
  loadbalancers: readonly Loadbalancer[];
  tickets: readonly Lbticket[];
  /** By Loadbalancer, those that are there. */
  configMaps: ReadonlyMap<string, ConfigMap>;
  /** What is on the device: by Loadbalancer, address by ticket. */
  device: ReadonlyMap<string, ReadonlyMap<string, string>>;
  /** At the approvers, and not taken back. */
  applications: readonly Filed[];
}

export interface Filed {
  /** Of the approver. */
  url: string;
  id: string;
  key: string | undefined;
  body: Record<string, unknown>;
}

export function faultsOf(scene: Scene): string[] {
  return [
    ...addressesTwice(scene),
    ...scene.tickets.flatMap(historyFaults),
    ...scene.tickets.flatMap(statusFaults),
    ...applicationFaults(scene),
    ...configMapFaults(scene),
    ...ruleFaults(scene),
    ...deviceFaults(scene),
    ...restFaults(scene),
    ...networkFaults(scene),
  ];
}

const byName = ({ tickets }: Scene) => new Map(tickets.map((one) => [ticketName(one), one]));

function addressesTwice({ tickets }: Scene): string[] {
  return (['veip', 'ltmip'] as const).flatMap((field) => {
    const held = tickets.flatMap(({ status }) => status?.[field] ?? []);
    return new Set(held).size === held.length ? [] : [`${field} is held twice: ${held.join(' ')}`];
  });
}

/** Each line begins where the one before ended, takes a step that the table has, and the last is where the ticket is. */
function historyFaults(ticket: Lbticket): string[] {
  const { history = [], process } = ticket.status ?? {};
  const name = ticketName(ticket);
  const lines = history.map(({ from, to }) => `${from ?? 'new'} → ${to}`);
  const faults = history.flatMap(({ from, to }, i): string[] => {
    const before: State | undefined = i === 0 ? (history.length < 20 ? 'new' : from) : history[i - 1]?.to;
    if ((from ?? 'new') !== before) return [`${name}: a line of its history is missing: ${lines.join(', ')}`];
    const isStep = events.some((event) => step(before, event)?.to === to);
    return isStep ? [] : [`${name}: no event leads ${lines[i]}`];
  });
  return history.at(-1)?.to === process ? faults : [...faults, `${name} is ${process}, and its history ends: ${lines}`];
}

/** A pair or nothing, and in these states a pair; the id of its application as long as somebody may have opened it. */
function statusFaults(ticket: Lbticket): string[] {
  const { process, veip, ltmip, application } = ticket.status ?? {};
  const name = ticketName(ticket);
  const faults: string[] = [];
  if ((veip === undefined) !== (ltmip === undefined)) faults.push(`${name} has half a pair`);
  const needsPair = process === 'created' || process === 'apply' || process === 'enabled' || process === 'disabled';
  if (needsPair && veip === undefined) faults.push(`${name} is ${process} without addresses`);
  if (process === 'deleted' && (veip ?? application) !== undefined)
    faults.push(`${name} is deleted and holds something`);
  if (application !== undefined && ticket.status?.filing === undefined)
    faults.push(`${name}: nobody knows who has ${application}`);
  const needsId = process === 'apply' || process === 'enabled';
  if (needsId && application === undefined) faults.push(`${name} is ${process} without an application`);
  // Of a created ticket the user may have changed what it asks for, and nobody has looked yet.
  const isEdited = process === 'created' && ticket.metadata.generation !== ticket.status?.observedGeneration;
  if (
    needsPair &&
    !isEdited &&
    !ticket.metadata.deletionTimestamp &&
    (ticket.spec.veip !== veip || ticket.spec.ltmip !== ltmip)
  )
    faults.push(`${name}: spec has ${ticket.spec.veip}, ${ticket.spec.ltmip}, status has ${veip}, ${ltmip}`);
  return faults;
}

const mayHaveApplication: readonly State[] = ['created', 'apply', 'enabled', 'failed', 'disabled'];

/** One application for a ticket at a time, and none that nobody will take back. */
function applicationFaults(scene: Scene): string[] {
  const tickets = byName(scene);
  const owners = scene.applications.map(({ body }) => String(body['ticket']));
  const twice = owners
    .filter((owner, i) => owners.indexOf(owner) !== i)
    .map((owner) => `${owner} has two applications`);
  const forgotten = scene.applications.flatMap(({ url, id, key, body }): string[] => {
    const ticket = tickets.get(String(body['ticket']));
    const process: State = ticket?.status?.process ?? 'new';
    if (!ticket || !mayHaveApplication.includes(process))
      return [`${id} of ${body['ticket']} is forgotten: ${process}`];
    const { application, filing } = ticket.status ?? {};
    if (filing?.url !== url) return [`${ticketName(ticket)} does not know that ${id} is at ${url}`];
    if (application === id) return [];
    if (application !== undefined) return [`${ticketName(ticket)} knows ${application}, and ${id} is forgotten`];
    return process === 'created' && key?.startsWith(ticket.metadata.uid ?? '?') === true
      ? []
      : [`${ticketName(ticket)} is ${process} and does not know ${id}`];
  });
  return [...twice, ...forgotten];
}

/** Parts are of tickets that are enabled, or were until a moment ago, and hold the addresses that stand there. */
function configMapFaults(scene: Scene): string[] {
  const tickets = byName(scene);
  return programmedIn(scene).flatMap(({ loadbalancer, name, address }): string[] => {
    const ticket = tickets.get(name);
    const { process, veip } = ticket?.status ?? {};
    if (process !== 'enabled' && process !== 'disabled') return [`${name} is ${process} and programmed`];
    if (ticket?.spec.loadbalancer !== loadbalancer)
      return [`${name} is programmed on ${loadbalancer}, and is of ${ticket?.spec.loadbalancer}`];
    return address === undefined || address === veip ? [] : [`${name} is programmed at ${address} and holds ${veip}`];
  });
}

const programmedIn = ({ configMaps }: Scene) =>
  [...configMaps].flatMap(([loadbalancer, configMap]) =>
    Object.keys(readEntries(configMap)).map((name) => ({ loadbalancer, name, address: addressIn(configMap, name) })),
  );

/** Values by which the rules of a walk are told apart: `v7-a.test` is the seventh that was written, for the ticket a. */
const ruleValue = /v\d+-([a-z]+)\.test/g;

/** Values of rules that stand in the ConfigMap. */
export const ruleValuesIn = (configMap: ConfigMap | undefined): string[] => [
  ...new Set(configMap?.data?.['template']?.match(ruleValue) ?? []),
];

/** What comes of a rule belongs to its ticket: so it is there, and goes, with what is programmed for the ticket. */
function ruleFaults({ configMaps }: Scene): string[] {
  return [...configMaps].flatMap(([loadbalancer, configMap]) => {
    if (ruleValuesIn(configMap).length === 0) return [];
    return objectsOf(configMap).flatMap(({ name, object }) =>
      [...JSON.stringify(object).matchAll(ruleValue)].flatMap(([value, ticket]) => {
        const items = Object.values(readEntries(configMap)[`project/${ticket}`]?.items ?? {});
        return items.flat().includes(name)
          ? []
          : [`${value} is in ${name} on ${loadbalancer}, which is not ${ticket}'s`];
      }),
    );
  });
}

/** What a device still has is its ticket's, and nobody else holds it. */
function deviceFaults(scene: Scene): string[] {
  const tickets = byName(scene);
  const there = [...scene.device.values()].flatMap((addresses) => [...addresses]);
  return there.flatMap(([name, address]) => {
    const { veip, process } = tickets.get(name)?.status ?? {};
    const others = scene.tickets.filter((one) => ticketName(one) !== name && one.status?.veip === address);
    return [
      ...(veip === address ? [] : [`${name} is ${process ?? 'gone'} and on the device still, and let ${address} go`]),
      ...others.map((one) => `${ticketName(one)} was given ${address}, which ${name} still has on the device`),
    ];
  });
}

/** What a deleted ticket had is nobody's until its quarantine is over. */
function restFaults({ now, loadbalancers, tickets }: Scene): string[] {
  const rests = new Map(loadbalancers.map((one) => [one.metadata.name, durationOf(one.spec.reclaimQuarantine)]));
  return tickets.filter(hadAddresses).flatMap((one) => {
    const { veip, ltmip, loadbalancer } = one.spec;
    const since = Date.parse(one.status?.history?.at(-1)?.when ?? '');
    if (now >= since + (rests.get(loadbalancer) ?? 0)) return [];
    const thieves = tickets.filter(({ status }) => status?.veip && (status.veip === veip || status.ltmip === ltmip));
    return thieves.map((thief) => `${ticketName(thief)} has of ${veip}, ${ltmip}, which rest after ${ticketName(one)}`);
  });
}

/** A failed ticket has none, and its spec names what it would like. */
export const hadAddresses = ({ status }: Lbticket): boolean =>
  status?.process === 'deleted' && status.history?.at(-1)?.from === 'disabled';

/** Two that gave out the same addresses could not know of each other. */
function networkFaults({ loadbalancers }: Scene): string[] {
  return (['ve', 'ltm'] as const).flatMap((layer) => {
    const networks = loadbalancers.map(({ spec }) => spec[layer].cidr);
    const overlapping = networks.filter((one, i) => networks.slice(i + 1).some((other) => isOverlapping(one, other)));
    return overlapping.map((one) => `${one} overlaps another of ${layer}: ${networks.join(' ')}`);
  });
}

function isOverlapping(one: string, other: string): boolean {
  const [a, b] = [parseCidr(one), parseCidr(other)];
  return a.ok && b.ok && overlaps(a.value, b.value);
}

/** Where the ticket's virtual servers listen, by the template; undefined when it has none. */
export function addressIn(configMap: ConfigMap | undefined, ticket: string): string | undefined {
  const items = readEntries(configMap)[ticket]?.items ?? {};
  const own = objectsOf(configMap).filter(({ application, name }) => items[application]?.includes(name));
  for (const { virtualAddresses } of own.map(({ object }) => object))
    if (Array.isArray(virtualAddresses) && typeof virtualAddresses[0] === 'string') return virtualAddresses[0];
  return undefined;
}

interface Placed {
  application: string;
  name: string;
  object: Record<string, unknown>;
}

const objectsRead = new WeakMap<ConfigMap, Placed[]>();

/** The objects of all applications. Read once per version of the ConfigMap. */
function objectsOf(configMap: ConfigMap | undefined): Placed[] {
  const known = configMap && objectsRead.get(configMap);
  if (known || !configMap) return known ?? [];
  const within = (tree: unknown) => Object.entries(isRecord(tree) ? tree : {});
  const { declaration } = parsedObject(configMap.data?.['template']);
  const applications = within(declaration).flatMap(([, tenant]) => within(tenant));
  const placed = applications.flatMap(([application, objects]) =>
    within(objects).flatMap(([name, object]) => (isRecord(object) ? [{ application, name, object }] : [])),
  );
  objectsRead.set(configMap, placed);
  return placed;
}

/** The entries of `after` that `before` lacks. */
export const addedTo = (before: ConfigMap | undefined, after: ConfigMap): string[] =>
  Object.keys(readEntries(after)).filter((name) => !(name in readEntries(before)));
