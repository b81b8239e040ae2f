// What an AS3 application takes for itself alone: the destinations of its virtual servers.
import { formatAddress, parseAddress } from '@fairlead/core';
import { isJson, type Json } from './json.ts';

const usualPorts: Record<string, number> = { Service_HTTP: 80, Service_HTTPS: 443 };

/** `address:port/tcp` or `/udp` of each virtual server; addresses that are pointers are the other end's. */
export function destinationsOf(application: Json): string[] {
  const services = Object.values(application).filter(isService);
  return [...new Set(services.flatMap(destinations))].sort();
}

const isService = (value: unknown): value is Json =>
  isJson(value) &&
  typeof value['class'] === 'string' &&
  /^Service_(HTTPS?|TCP|UDP|L4|SCTP|Generic)$/.test(value['class']);

function destinations(service: Json): string[] {
  const kind = String(service['class']);
  const port = service['virtualPort'] ?? usualPorts[kind] ?? 0;
  const protocol =
    kind === 'Service_UDP' || service['layer4'] === 'udp' ? 'udp' : kind === 'Service_SCTP' ? 'sctp' : 'tcp';
  // Unless told otherwise, AS3 puts a redirecting virtual server on port 80 beside an HTTPS one.
  const ports = kind === 'Service_HTTPS' && service['redirect80'] !== false ? [port, 80] : [port];
  return addressesOf(service).flatMap((address) => ports.map((one) => `${address}:${String(one)}/${protocol}`));
}

/** `[address, source]` is an address with the clients it serves. */
function addressesOf(service: Json): string[] {
  const given = Array.isArray(service['virtualAddresses']) ? service['virtualAddresses'] : [];
  const texts = given.map((one: unknown) => (Array.isArray(one) ? (one as unknown[]).join(' from ') : one));
  return texts.filter((one) => typeof one === 'string').map(canonical);
}

/** One text for one address, however it is written. */
function canonical(text: string): string {
  const address = parseAddress(text);
  return address.ok ? formatAddress(address.value) : text;
}
