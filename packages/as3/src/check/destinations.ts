// Destinations: the device takes one virtual server per address, port and transport, and an address in one tenant only.
import type { Problem } from '@fairlead/core';
import { canonicalAddress } from '../application.ts';
import { listOf, type Placed, type Scene } from './scene.ts';

interface Destination {
  from: Placed;
  at: string;
  address: string;
  port: number;
}

export function destinationProblems({ objects }: Scene): Problem[] {
  const all = objects.filter(({ object }) => object.class.startsWith('Service_')).flatMap(destinationsOf);
  return [...twice(all), ...inTwoTenants(all)];
}

function destinationsOf(from: Placed): Destination[] {
  const { object } = from;
  const { virtualPort } = object;
  const port = typeof virtualPort === 'number' ? virtualPort : object.class === 'Service_HTTPS' ? 443 : 80;
  const addresses = listOf(object['virtualAddresses']).flatMap((value, i) => {
    const address: unknown = Array.isArray(value) ? value[0] : value;
    return typeof address === 'string'
      ? [{ from, at: `virtualAddresses/${i}`, address: canonicalAddress(address), port }]
      : [];
  });
  // AS3 makes a second virtual server of its own, <name>-Redirect-, unless told not to.
  const redirects = object.class === 'Service_HTTPS' && object['redirect80'] !== false;
  return redirects ? [...addresses, ...addresses.map((each) => ({ ...each, at: 'redirect80', port: 80 }))] : addresses;
}

function twice(all: Destination[]): Problem[] {
  const seen = new Map<string, Destination>();
  return all.flatMap((destination) => {
    const { from, at, address, port } = destination;
    const transport = from.object.class === 'Service_UDP' ? 'udp' : 'tcp';
    const text = `${address} port ${port} ${transport}`;
    const other = seen.get(text);
    if (!other) seen.set(text, destination);
    return other
      ? [{ code: 'taken' as const, message: `${other.from.path} has ${text} already`, path: `${from.path}/${at}` }]
      : [];
  });
}

function inTwoTenants(all: Destination[]): Problem[] {
  const holders = new Map<string, Placed>();
  return all.flatMap(({ from, at, address }) => {
    // A shared address lies in /Common; every service on it has to say so.
    const holder = holders.get(address) ?? from;
    holders.set(address, holder);
    const isShared = from.object['shareAddresses'] === true && holder.object['shareAddresses'] === true;
    if (holder.tenant === from.tenant || isShared) return [];
    const message = `${address} is in tenant ${holder.tenant} already; only with shareAddresses can it be in two`;
    return [{ code: 'taken' as const, message, path: `${from.path}/${at}` }];
  });
}
