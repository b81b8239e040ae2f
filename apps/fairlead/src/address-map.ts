// `--map FROM=TO`: addresses of devices as the objects name them → where they are reached from here.
import { fail, ok, type Result } from '@fairlead/core';

/** The base URL, without a trailing slash, at which a device that objects call by `address` (a host, or a URL) is reached. */
export type AddressMap = (address: string) => string;

/**
 * Reads `FROM=TO` entries. FROM is a host as it stands in an object, alone or in a URL; TO is a host, `host:port`, or a URL.
 * What no entry names is reached at its own address, over https when it says no scheme.
 */
export function addressMap(entries: readonly string[]): Result<AddressMap> {
  const to = new Map<string, string>();
  for (const entry of entries) {
    const cut = entry.indexOf('=');
    const [from, target] = [entry.slice(0, cut).trim(), entry.slice(cut + 1).trim()];
    if (cut < 1 || target === '')
      return fail('invalid', `--map ${entry}: write FROM=TO, such as 200.1.1.1=http://127.0.0.1:8443`);
    if (!URL.canParse(withScheme(target)))
      return fail('invalid', `--map ${entry}: ${target} is no host, host:port or URL`);
    if (!URL.canParse(withScheme(from))) return fail('invalid', `--map ${entry}: ${from} is no host or URL`);
    to.set(/^[a-z]+:\/\//i.test(from) ? new URL(from).host : from, target);
  }
  return ok((address) => {
    const url = new URL(withScheme(address));
    const target = to.get(url.hostname) ?? to.get(url.host);
    const path = url.pathname.replace(/\/+$/, '');
    if (target === undefined) return `${url.protocol}//${url.host}${path}`;
    const place = new URL(withScheme(target, url.protocol));
    return `${place.protocol}//${place.host}${place.pathname.replace(/\/+$/, '')}${path}`;
  });
}

function withScheme(address: string, scheme = 'https:'): string {
  if (/^[a-z]+:\/\//i.test(address)) return address;
  // A bare IPv6 address needs brackets before it can stand in a URL.
  return `${scheme}//${/^[0-9a-f:]+$/i.test(address) && address.split(':').length > 2 ? `[${address}]` : address}`;
}
