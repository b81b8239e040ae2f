// What every device has in /Common: monitors, persistence and traffic profiles, and the rule that sends http to https.

import { identity, type Kind, type Monitor, type Objects, type Persistence, type Profile } from './object.ts';
import type { Configuration } from './store.ts';

type Entry = { [K in Kind]: [kind: K, object: Objects[K]] }[Kind];

export const httpsRedirect = '/Common/_sys_https_redirect';

export function addBuiltIns(configuration: Configuration): void {
  const draft = configuration.draft();
  for (const [kind, object] of entries()) draft.put(kind, object);
  configuration.take(draft);
}

export const isBuiltIn = (kind: Kind, path: string): boolean => builtIn.has(`${kind} ${path}`);

function monitor(name: string, type: string, send?: string): Entry {
  const rest: Omit<Monitor, keyof ReturnType<typeof identity>> = {
    type,
    interval: 5,
    timeout: 16,
    destination: '*:*',
    send,
  };
  return ['monitor', { ...identity(`/Common/${name}`), ...rest }];
}

function persistence(name: string, type: string, timeout: number): Entry {
  const object: Persistence = { ...identity(`/Common/${name}`), type, timeout, alwaysSend: false };
  return ['persistence', object];
}

function profile(name: string, type: string, more: Partial<Profile> = {}): Entry {
  return ['profile', { ...identity(`/Common/${name}`), type, ...more }];
}

function entries(): Entry[] {
  return [
    ['folder', { ...identity('/Common'), isPartition: true }],
    monitor('http', 'http', 'GET /\\r\\n'),
    monitor('https', 'https', 'GET /\\r\\n'),
    monitor('tcp', 'tcp'),
    monitor('tcp_half_open', 'tcp-half-open'),
    monitor('udp', 'udp'),
    monitor('icmp', 'icmp'),
    monitor('gateway_icmp', 'gateway-icmp'),
    persistence('cookie', 'cookie', 0),
    persistence('source_addr', 'source-addr', 180),
    persistence('dest_addr', 'dest-addr', 180),
    profile('http', 'http', { insertXforwardedFor: false }),
    profile('tcp', 'tcp', { idleTimeout: 300 }),
    profile('udp', 'udp', { idleTimeout: 60 }),
    profile('fastL4', 'fastl4', { idleTimeout: 300 }),
    profile('clientssl', 'client-ssl'),
    profile('serverssl', 'server-ssl'),
    ['rule', { ...identity(httpsRedirect), text: redirectRule }],
  ];
}

const redirectRule = `when HTTP_REQUEST {
    HTTP::redirect https://[getfield [HTTP::host] ":" 1][HTTP::uri]
}`;

// Asked about every object at each save, so it is a set.
const builtIn: ReadonlySet<string> = new Set(entries().map(([kind, { fullPath }]) => `${kind} ${fullPath}`));
