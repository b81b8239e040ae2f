// Headers on their way through: as pairs in the order they came, repeated ones kept, those of one hop left behind.

import type { Effect } from '../irule/engine.ts';
import type { Headers } from './flow.ts';

/** Node's `rawHeaders` as pairs. */
export function pairs(raw: readonly string[]): Headers {
  const headers: Headers = [];
  for (let i = 0; i + 1 < raw.length; i += 2) headers.push([raw[i] ?? '', raw[i + 1] ?? '']);
  return headers;
}

export function flat(headers: Headers): string[] {
  return headers.flat();
}

// RFC 9110 §7.6.1: these speak of one connection only. Transfer-Encoding stays: Node chunks when it sees it.
const oneHop = new Set(['connection', 'keep-alive', 'proxy-connection', 'te', 'upgrade', 'expect']);

export function forwardable(headers: Headers): Headers {
  return headers.filter(([name]) => !oneHop.has(name.toLowerCase()));
}

/** With the client's address as a further X-Forwarded-For. */
export function withForwardedFor(headers: Headers, address: string | undefined): Headers {
  return address === undefined ? headers : [...headers, ['X-Forwarded-For', address]];
}

/** Carries out what rules said of headers, in their order. */
export function applyEdits(headers: Headers, edits: readonly Effect[]): Headers {
  let now = headers;
  for (const { verb, args } of edits) {
    const [name = '', value = ''] = args;
    if (verb === 'header-insert') now = [...now, [name, value]];
    if (verb === 'header-remove') now = now.filter(([other]) => !same(other, name));
    if (verb === 'header-replace') now = replaced(now, name, value);
  }
  return now;
}

/** The last of that name gets the value, as the device does; a new header when there is none. */
function replaced(headers: Headers, name: string, value: string): Headers {
  const at = headers.findLastIndex(([other]) => same(other, name));
  if (at < 0) return [...headers, [name, value]];
  return headers.map((header, i): [string, string] => (i === at ? [header[0], value] : header));
}

function same(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase();
}
