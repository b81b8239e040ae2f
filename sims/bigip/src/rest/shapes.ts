// How each kind of object looks through iControl REST: read from a body (over what was there before), and shown.

import { destinationOf, type Identity, type Kind, type Objects, type Virtual } from '../configuration/object.ts';
import { Refusal } from '../configuration/refusal.ts';
import { isObject, type Body, type Json } from './body.ts';

/** One collection of `/mgmt/tm`. `read` fills what the body leaves out from `before`, else with the device's own value. */
export interface Shape<K extends Kind = Kind> {
  kind: K;
  /** The JSON `kind` of an object, as in `tm:ltm:pool:poolstate`. */
  word: string;
  read(body: Body, identity: Identity, before: Objects[K] | undefined): Objects[K];
  show(object: Objects[K]): Json;
  /** Several collections share a kind: http and tcp monitors, say. */
  type?: string;
}

type AnyShape = { [K in Kind]: Shape<K> }[Kind];

const sessions = ['user-enabled', 'user-disabled'] as const;
const states = ['user-up', 'user-down'] as const;

const virtual: Shape<'virtual'> = {
  kind: 'virtual',
  word: 'tm:ltm:virtual:virtualstate',
  read(body, identity, before) {
    const destination = body.text('destination') ?? before?.destination;
    if (destination === undefined || !destinationOf(destination)) {
      throw new Refusal(
        400,
        `01070734:3: Configuration error: virtual server ${identity.fullPath} needs a destination address and port: ${destination ?? 'none'}`,
      );
    }
    const isOff = body.flag('disabled');
    const isOn = body.flag('enabled');
    return {
      ...identity,
      ...described(body, before),
      destination: destination.startsWith('/') ? destination : `/${identity.partition}/${destination}`,
      ipProtocol: body.word('ipProtocol', ['tcp', 'udp']) ?? before?.ipProtocol ?? 'tcp',
      source: body.text('source') ?? before?.source ?? '0.0.0.0/0',
      pool: body.path('pool', before?.pool),
      rules: texts(body, 'rules') ?? before?.rules ?? [],
      persist: named(body, 'persist') ?? before?.persist ?? [],
      fallbackPersistence: body.path('fallbackPersistence', before?.fallbackPersistence),
      profiles: profiles(body) ?? before?.profiles ?? [{ path: '/Common/tcp', context: 'all' }],
      enabled: isOff === true ? false : (isOn ?? before?.enabled ?? true),
      connectionLimit: body.number('connectionLimit', 0, 2 ** 31 - 1) ?? before?.connectionLimit ?? 0,
    };
  },
  show: (object) => ({
    destination: object.destination,
    ...(object.enabled ? { enabled: true } : { disabled: true }),
    ipProtocol: object.ipProtocol,
    source: object.source,
    connectionLimit: object.connectionLimit,
    ...(object.pool === undefined ? {} : { pool: object.pool }),
    ...(object.rules.length > 0 ? { rules: object.rules } : {}),
    ...(object.persist.length > 0
      ? { persist: object.persist.map((path, i) => ({ ...splitPath(path), tmDefault: i === 0 ? 'yes' : 'no' })) }
      : {}),
    ...(object.fallbackPersistence === undefined ? {} : { fallbackPersistence: object.fallbackPersistence }),
    profilesReference: {
      isSubcollection: true,
      items: object.profiles.map(({ path, context }) => ({ ...splitPath(path), fullPath: path, context })),
    },
  }),
};

const virtualAddress: Shape<'virtual-address'> = {
  kind: 'virtual-address',
  word: 'tm:ltm:virtual-address:virtual-addressstate',
  read: (body, identity, before) => ({
    ...identity,
    ...described(body, before),
    address: body.text('address') ?? before?.address ?? identity.name,
    enabled:
      body.word('enabled', ['yes', 'no']) === undefined ? (before?.enabled ?? true) : body.text('enabled') === 'yes',
    autoDelete:
      body.word('autoDelete', ['true', 'false']) === undefined
        ? (before?.autoDelete ?? true)
        : body.text('autoDelete') === 'true',
  }),
  show: ({ address, enabled, autoDelete }) => ({
    address,
    enabled: enabled ? 'yes' : 'no',
    autoDelete: String(autoDelete),
  }),
};

const node: Shape<'node'> = {
  kind: 'node',
  word: 'tm:ltm:node:nodestate',
  read: (body, identity, before) => ({
    ...identity,
    ...described(body, before),
    address: body.text('address') ?? before?.address ?? identity.name,
    session: body.word('session', sessions) ?? before?.session ?? 'user-enabled',
    state: body.word('state', states) ?? before?.state ?? 'user-up',
  }),
  show: ({ address, session, state }) => ({ address, session, state: state === 'user-up' ? 'unchecked' : state }),
};

const rule: Shape<'rule'> = {
  kind: 'rule',
  word: 'tm:ltm:rule:rulestate',
  read: (body, identity, before) => ({
    ...identity,
    ...described(body, before),
    text: body.text('apiAnonymous') ?? before?.text ?? '',
  }),
  show: ({ text }) => ({ apiAnonymous: text }),
};

const dataGroup: Shape<'data-group'> = {
  kind: 'data-group',
  word: 'tm:ltm:data-group:internal:internalstate',
  read(body, identity, before) {
    const type = body.word('type', ['string', 'ip', 'integer']) ?? before?.type;
    if (!type) throw new Refusal(400, '01070734:3: Configuration error: a data-group needs a type');
    return { ...identity, ...described(body, before), type, records: records(body) ?? before?.records ?? [] };
  },
  show: ({ type, records }) => ({
    type,
    records: records.map(({ name, data }) => (data === '' ? { name } : { name, data })),
  }),
};

const folder: Shape<'folder'> = {
  kind: 'folder',
  word: 'tm:sys:folder:folderstate',
  read: (body, identity, before) => ({
    ...identity,
    ...described(body, before),
    isPartition: identity.fullPath.lastIndexOf('/') === 0,
  }),
  show: () => ({ deviceGroup: 'none', trafficGroup: '/Common/traffic-group-1' }),
};

function monitor(type: string): Shape<'monitor'> {
  return {
    kind: 'monitor',
    type,
    word: `tm:ltm:monitor:${type}:${type}state`,
    read: (body, identity, before) => {
      body.text('defaultsFrom');
      return {
        ...identity,
        ...described(body, before),
        type,
        interval: body.number('interval', 1, 86_400) ?? before?.interval ?? 5,
        timeout: body.number('timeout', 0, 86_400) ?? before?.timeout ?? 16,
        send: body.text('send') ?? before?.send ?? (type.startsWith('http') ? 'GET /\\r\\n' : undefined),
        recv: body.text('recv') ?? before?.recv,
        destination: body.text('destination') ?? before?.destination ?? '*:*',
      };
    },
    show: ({ interval, timeout, send, recv, destination }) => ({
      interval,
      timeout,
      destination,
      ...without({ send, recv }),
    }),
  };
}

function persistence(type: string): Shape<'persistence'> {
  return {
    kind: 'persistence',
    type,
    word: `tm:ltm:persistence:${type}:${type}state`,
    read: (body, identity, before) => {
      body.text('defaultsFrom');
      return {
        ...identity,
        ...described(body, before),
        type,
        timeout: seconds(body) ?? before?.timeout ?? (type === 'cookie' ? 0 : 180),
        cookieName: body.path('cookieName', before?.cookieName),
        mask: body.path('mask', before?.mask),
        alwaysSend:
          body.word('alwaysSend', ['enabled', 'disabled']) === undefined
            ? (before?.alwaysSend ?? false)
            : body.text('alwaysSend') === 'enabled',
      };
    },
    show: ({ timeout, cookieName, mask, alwaysSend }) => ({
      timeout: String(timeout),
      alwaysSend: alwaysSend ? 'enabled' : 'disabled',
      ...without({ cookieName, mask }),
    }),
  };
}

function profile(type: string): Shape<'profile'> {
  return {
    kind: 'profile',
    type,
    word: `tm:ltm:profile:${type}:${type}state`,
    read: (body, identity, before) => {
      body.text('defaultsFrom');
      const forwarded = body.word('insertXforwardedFor', ['enabled', 'disabled']);
      return {
        ...identity,
        ...described(body, before),
        type,
        insertXforwardedFor: forwarded === undefined ? before?.insertXforwardedFor : forwarded === 'enabled',
        idleTimeout: body.has('idleTimeout') ? Number(body.text('idleTimeout')) : before?.idleTimeout,
        certificate: body.path('cert', before?.certificate),
        serverName: body.path('serverName', before?.serverName),
        sniDefault:
          body.word('sniDefault', ['true', 'false']) === undefined
            ? before?.sniDefault
            : body.text('sniDefault') === 'true',
      };
    },
    show: (object) =>
      without({
        insertXforwardedFor:
          object.insertXforwardedFor === undefined ? undefined : object.insertXforwardedFor ? 'enabled' : 'disabled',
        idleTimeout: object.idleTimeout === undefined ? undefined : String(object.idleTimeout),
        cert: object.certificate,
        serverName: object.serverName,
        sniDefault: object.sniDefault === undefined ? undefined : String(object.sniDefault),
      }),
  };
}

/** The collections by path under `/mgmt/tm/`. Pools have a file of their own. */
export const shapes: Record<string, AnyShape> = {
  'ltm/virtual': virtual,
  'ltm/virtual-address': virtualAddress,
  'ltm/node': node,
  'ltm/rule': rule,
  'ltm/data-group/internal': dataGroup,
  'sys/folder': folder,
  ...each(['http', 'https', 'tcp', 'tcp-half-open', 'udp', 'icmp', 'gateway-icmp'], 'ltm/monitor', monitor),
  ...each(['cookie', 'source-addr', 'dest-addr'], 'ltm/persistence', persistence),
  ...each(['http', 'tcp', 'udp', 'fastl4', 'client-ssl', 'server-ssl'], 'ltm/profile', profile),
};

function each(types: string[], path: string, make: (type: string) => AnyShape): Record<string, AnyShape> {
  return Object.fromEntries(types.map((type) => [`${path}/${type}`, make(type)]));
}

export function described(
  body: Body,
  before: { description?: string | undefined } | undefined,
): { description?: string } {
  const description = body.text('description') ?? before?.description;
  return description === undefined ? {} : { description };
}

export function splitPath(path: string): Json {
  const [, partition, ...rest] = path.split('/');
  const name = rest.pop();
  return { name, partition, ...(rest.length > 0 ? { subPath: rest.join('/') } : {}) };
}

function without(values: Json): Json {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
}

function texts(body: Body, name: string): string[] | undefined {
  return body.list(name)?.map((item) => {
    if (typeof item !== 'string')
      throw new Refusal(400, `invalid property value "${name}": must be an array of strings`);
    return absolute(item, undefined);
  });
}

/** A list of names: strings, or objects with name and partition. */
function named(body: Body, name: string): string[] | undefined {
  return body.list(name)?.map((item) => pathOf(item, name));
}

function pathOf(item: unknown, name: string): string {
  if (typeof item === 'string') return absolute(item, undefined);
  if (isObject(item) && typeof item['name'] === 'string') {
    const folder = [item['partition'] ?? 'Common', ...(item['subPath'] === undefined ? [] : [item['subPath']])].join(
      '/',
    );
    return absolute(item['name'], folder);
  }
  throw new Refusal(400, `invalid property value "${name}": must be names`);
}

export function absolute(name: string, folder: string | undefined): string {
  return name.startsWith('/') ? name : `/${folder ?? 'Common'}/${name}`;
}

function profiles(body: Body): Virtual['profiles'] | undefined {
  if (body.has('profilesReference') && !body.has('profiles'))
    throw new Refusal(400, 'profiles are given as "profiles"');
  return body.list('profiles')?.map((item) => {
    const context = isObject(item) ? item['context'] : undefined;
    return {
      path: pathOf(item, 'profiles'),
      context: context === 'clientside' || context === 'serverside' ? context : 'all',
    };
  });
}

/** Records in the order of their names, as the device keeps them. Duplicates are refused. */
function records(body: Body): { name: string; data: string }[] | undefined {
  const list = body.list('records')?.map((item) => {
    if (!isObject(item) || typeof item['name'] !== 'string')
      throw new Refusal(400, 'invalid property value "records": each needs a name');
    return { name: item['name'], data: item['data'] === undefined ? '' : String(item['data']) };
  });
  return list && sortRecords(list);
}

export function sortRecords(list: { name: string; data: string }[]): { name: string; data: string }[] {
  const sorted = [...list].sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
  const twice = sorted.find(({ name }, i) => sorted[i + 1]?.name === name);
  if (twice) throw new Refusal(400, `01020066:3: The requested value list record (${twice.name}) already exists.`);
  return sorted;
}

function seconds(body: Body): number | undefined {
  const text = body.text('timeout');
  if (text === undefined) return undefined;
  if (!/^\d+$/.test(text))
    throw new Refusal(400, `invalid property value "timeout":"${text}": must be seconds as a string`);
  return Number(text);
}
