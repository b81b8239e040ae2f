// What must hold of tickets, addresses, applications and ConfigMaps at every moment, whatever goes wrong. Gives what does not.
import type { Lbticket } from '@fairlead/api';
import type { ConfigMap } from '@fairlead/kube';
import { readEntries } from '../configmap.ts';
import { isRecord, parsedObject } from '../json.ts';
import { events, step, type State } from '../life.ts';
import { ticketName } from '../names.ts';

export interface Scene {
  tickets: readonly Lbticket[];
  configMap: ConfigMap | undefined;
  /** What is on the device: address by ticket. */
  device: ReadonlyMap<string, string>;
  /** At the approver, and not taken back. */
  applications: readonly { id: string; key: string | undefined; body: Record<string, unknown> }[];
}

export function faultsOf(scene: Scene): string[] {
  return [
    ...addressesTwice(scene),
    ...scene.tickets.flatMap(historyFaults),
    ...scene.tickets.flatMap(statusFaults),
    ...applicationFaults(scene),
    ...configMapFaults(scene),
    ...deviceFaults(scene),
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
  const forgotten = scene.applications.flatMap(({ id, key, body }): string[] => {
    const ticket = tickets.get(String(body['ticket']));
    const process: State = ticket?.status?.process ?? 'new';
    if (!ticket || !mayHaveApplication.includes(process))
      return [`${id} of ${body['ticket']} is forgotten: ${process}`];
    const { application } = ticket.status ?? {};
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
  return Object.keys(readEntries(scene.configMap)).flatMap((name): string[] => {
    const { process, veip } = tickets.get(name)?.status ?? {};
    if (process !== 'enabled' && process !== 'disabled') return [`${name} is ${process} and programmed`];
    const address = addressIn(scene.configMap, name);
    return address === undefined || address === veip ? [] : [`${name} is programmed at ${address} and holds ${veip}`];
  });
}

/** What a device still has is its ticket's, and nobody else holds it. */
function deviceFaults(scene: Scene): string[] {
  const tickets = byName(scene);
  return [...scene.device].flatMap(([name, address]) => {
    const { veip, process } = tickets.get(name)?.status ?? {};
    const others = scene.tickets.filter((one) => ticketName(one) !== name && one.status?.veip === address);
    return [
      ...(veip === address ? [] : [`${name} is ${process ?? 'gone'} and on the device still, and let ${address} go`]),
      ...others.map((one) => `${ticketName(one)} was given ${address}, which ${name} still has on the device`),
    ];
  });
}

/** Where the ticket's virtual servers listen, by the template; undefined when it has none. */
export function addressIn(configMap: ConfigMap | undefined, ticket: string): string | undefined {
  const { declaration } = parsedObject(configMap?.data?.['template']);
  const tenants = isRecord(declaration) ? Object.values(declaration).filter(isRecord) : [];
  const items = Object.entries(readEntries(configMap)[ticket]?.items ?? {});
  const objects = items.flatMap(([name, own]) => tenants.flatMap((tenant) => objectsIn(tenant[name], own)));
  for (const { virtualAddresses } of objects)
    if (Array.isArray(virtualAddresses) && typeof virtualAddresses[0] === 'string') return virtualAddresses[0];
  return undefined;
}

const objectsIn = (application: unknown, names: readonly string[]): Record<string, unknown>[] =>
  isRecord(application) ? names.map((name) => application[name]).filter(isRecord) : [];

/** The entries of `after` that `before` lacks. */
export const addedTo = (before: ConfigMap | undefined, after: ConfigMap): string[] =>
  Object.keys(readEntries(after)).filter((name) => !(name in readEntries(before)));
