// Packing endpoints into slices with few writes: what is placed stays where it is. Pure.
import type { Endpoint, EndpointPort, EndpointSlice } from '../kube/objects.ts';
import { canonical } from '../workloads/template.ts';
import type { EndpointGroup } from './endpoint.ts';

/** What a slice should hold. `found` is the slice that is to hold it; without one a slice is made. */
export interface Packed {
  ports: EndpointPort[];
  endpoints: Endpoint[];
  found?: EndpointSlice;
}

export interface Packing {
  write: Packed[];
  remove: EndpointSlice[];
}

export const perSlice = 100;

/**
 * The writes that bring `found` to `groups`:
 *
 *  a slice whose ports no group has   -> goes
 *  an endpoint already in a slice     -> stays there, with its conditions of now
 *  an endpoint in no slice            -> into a slice written anyway, else into the fullest with room, else into a new one
 *  a slice with nothing left          -> goes, but one slice always stays: it shows that the Service is known
 */
export function pack(groups: EndpointGroup[], found: EndpointSlice[]): Packing {
  const wanted = groups.length > 0 ? groups : [{ ports: [], endpoints: [] }];
  const spare = new Set(found);
  const packing: Packing = { write: [], remove: [] };
  const kept: Packed[] = [];
  for (const group of wanted) {
    const key = portsKey(group.ports);
    const slices = found.filter((slice) => spare.has(slice) && portsKey(slice.ports ?? []) === key);
    for (const slice of slices) spare.delete(slice);
    kept.push(...packGroup(group, slices));
  }
  const filled = kept.filter((one) => one.endpoints.length > 0);
  const placeholder = kept.find((one) => one.found) ?? kept[0];
  const staying = filled.length > 0 ? filled : placeholder ? [placeholder] : [];
  for (const one of kept) if (one.found && !staying.includes(one)) packing.remove.push(one.found);
  packing.remove.push(...spare);
  packing.write = staying.filter(isChanged);
  return packing;
}

function packGroup({ ports, endpoints }: EndpointGroup, slices: EndpointSlice[]): Packed[] {
  const waiting = new Map(endpoints.map((one) => [idOf(one), one]));
  const packed: Packed[] = slices.map((slice) => {
    const staying: Endpoint[] = [];
    for (const present of slice.endpoints ?? []) {
      const wanted = waiting.get(idOf(present));
      if (!wanted || staying.length === perSlice) continue;
      staying.push(wanted);
      waiting.delete(idOf(present));
    }
    return { ports, endpoints: staying, found: slice };
  });
  // Slices that are written in any case come first, then the fullest: fewest writes, fewest slices.
  const withRoom = packed
    .filter((one) => one.endpoints.length < perSlice)
    .sort((a, b) => Number(isChanged(b)) - Number(isChanged(a)) || b.endpoints.length - a.endpoints.length);
  const left = [...waiting.values()];
  for (const one of withRoom) one.endpoints.push(...left.splice(0, perSlice - one.endpoints.length));
  while (left.length > 0) packed.push({ ports, endpoints: left.splice(0, perSlice) });
  return packed.length > 0 ? packed : [{ ports, endpoints: [] }];
}

function isChanged({ endpoints, found }: Packed): boolean {
  const present = found?.endpoints ?? [];
  return !found || present.length !== endpoints.length || endpoints.some((one, i) => !isSame(one, present[i]!));
}

function isSame(a: Endpoint, b: Endpoint): boolean {
  return (
    idOf(a) === idOf(b) &&
    a.conditions.ready === b.conditions.ready &&
    a.conditions.serving === b.conditions.serving &&
    a.conditions.terminating === b.conditions.terminating &&
    a.nodeName === b.nodeName &&
    a.zone === b.zone &&
    a.hostname === b.hostname
  );
}

/** An endpoint is the same one while it is the same pod at the same address. */
function idOf({ addresses, targetRef }: Endpoint): string {
  return `${targetRef?.uid} ${addresses[0]}`;
}

function portsKey(ports: EndpointPort[]): string {
  return canonical(
    ports.map(({ name = '', port, protocol = 'TCP', appProtocol }) => [name, port, protocol, appProtocol ?? '']),
  );
}
