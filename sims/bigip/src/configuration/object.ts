// The objects of the device's configuration, as its own database has them. Paths are full: /partition/folder/name.

export interface Identity {
  name: string;
  partition: string;
  subPath?: string | undefined;
  fullPath: string;
  /** Grows with each change of the device; an object has that of its last change. */
  generation: number;
  description?: string | undefined;
}

export interface Virtual extends Identity {
  /** `/partition/address:port` (an IPv6 address is set off by a dot). */
  destination: string;
  ipProtocol: 'tcp' | 'udp';
  source: string;
  pool?: string | undefined;
  rules: string[];
  /** Persistence profiles; the first counts. */
  persist: string[];
  fallbackPersistence?: string | undefined;
  profiles: { path: string; context: 'all' | 'clientside' | 'serverside' }[];
  enabled: boolean;
  /** 0 is no limit. */
  connectionLimit: number;
}

export interface VirtualAddress extends Identity {
  address: string;
  enabled: boolean;
  /** Goes when its last virtual server goes. */
  autoDelete: boolean;
}

export interface Member {
  /** `address:port`, or `address.port` for IPv6. */
  name: string;
  partition: string;
  fullPath: string;
  address: string;
  port: number;
  ratio: number;
  priorityGroup: number;
  connectionLimit: number;
  session: 'user-enabled' | 'user-disabled';
  state: 'user-up' | 'user-down';
  description?: string | undefined;
  generation: number;
}

export interface Pool extends Identity {
  loadBalancingMode: string;
  /** `/Common/http`, `a and b`, or `min 1 of { a b }`. */
  monitor?: string | undefined;
  minActiveMembers: number;
  members: Member[];
}

export interface PoolNode extends Identity {
  address: string;
  session: 'user-enabled' | 'user-disabled';
  state: 'user-up' | 'user-down';
}

export interface Rule extends Identity {
  text: string;
}

export interface DataGroup extends Identity {
  type: 'string' | 'integer' | 'ip';
  records: { name: string; data: string }[];
}

export interface Monitor extends Identity {
  /** http, https, tcp, tcp-half-open, udp, icmp, gateway-icmp. */
  type: string;
  /** Seconds. */
  interval: number;
  /** Seconds without success until a member that was up is down. */
  timeout: number;
  send?: string | undefined;
  /** A regular expression the answer must match; any answer will do when absent. */
  recv?: string | undefined;
  /** `*:*` is the member itself. */
  destination: string;
}

export interface Persistence extends Identity {
  /** cookie, source-addr or dest-addr. */
  type: string;
  /** Seconds. */
  timeout: number;
  cookieName?: string | undefined;
  mask?: string | undefined;
  alwaysSend: boolean;
}

export interface Profile extends Identity {
  /** http, tcp, udp, fastl4, client-ssl, server-ssl, one-connect. */
  type: string;
  insertXforwardedFor?: boolean | undefined;
  /** For udp: seconds without a datagram until a flow ends. */
  idleTimeout?: number | undefined;
  /** For client-ssl: certificate and key by path. */
  certificate?: string | undefined;
  serverName?: string | undefined;
  sniDefault?: boolean | undefined;
}

export interface Certificate extends Identity {
  certificate: string;
  key: string;
}

export interface Folder extends Identity {
  /** A partition is a folder at the top. */
  isPartition: boolean;
}

export interface Objects {
  virtual: Virtual;
  'virtual-address': VirtualAddress;
  pool: Pool;
  node: PoolNode;
  rule: Rule;
  'data-group': DataGroup;
  monitor: Monitor;
  persistence: Persistence;
  profile: Profile;
  certificate: Certificate;
  folder: Folder;
}

export type Kind = keyof Objects;

/** Those a folder must be there before, and those that point at others after what they point at. */
export const kinds: readonly Kind[] = [
  'folder',
  'certificate',
  'profile',
  'persistence',
  'monitor',
  'data-group',
  'node',
  'pool',
  'rule',
  'virtual-address',
  'virtual',
];

/** The words for a full path. `/T/A/x` is x in folder A of partition T; `/T/x` has no folder. */
export function identity(fullPath: string): Identity {
  const [, partition = '', ...rest] = fullPath.split('/');
  const name = rest.pop() ?? partition;
  return { name, partition, ...(rest.length > 0 ? { subPath: rest.join('/') } : {}), fullPath, generation: 0 };
}

/** The address and port of `/T/10.0.0.1:80`, `/T/2001:db8::1.80`, `10.0.0.1:any`. A route domain is left out. */
export function destinationOf(text: string): { address: string; port: number } | undefined {
  const plain = text.slice(text.lastIndexOf('/') + 1);
  const isSix = (plain.match(/:/g) ?? []).length > 1;
  const match = (isSix ? /^([^.%]+(?:\d+\.\d+\.\d+\.\d+)?)(?:%\d+)?\.(\w+)$/ : /^([^:%]+)(?:%\d+)?:(\w+)$/).exec(plain);
  if (!match) return undefined;
  const [, address = '', word = ''] = match;
  const port = portNames[word] ?? (/^\d+$/.test(word) ? Number(word) : -1);
  return port < 0 || port > 65_535 ? undefined : { address, port };
}

/** The port names that the device shows and takes in place of numbers. */
const portNames: Record<string, number> = {
  any: 0,
  ftp: 21,
  ssh: 22,
  telnet: 23,
  smtp: 25,
  domain: 53,
  http: 80,
  https: 443,
};

export function joinPort(address: string, port: number): string {
  return `${address}${address.includes(':') ? '.' : ':'}${port}`;
}
