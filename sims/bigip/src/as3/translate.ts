// A tenant's declaration as the objects of the device. Pure; the declaration has been found valid.

import { identity, joinPort, type Kind, type Member, type Objects, type Virtual } from '../configuration/object.ts';
import { httpsRedirect } from '../configuration/built-in.ts';
import { sortRecords } from '../rest/shapes.ts';
import { isObject, type Json } from '../rest/body.ts';
import { classed, itemsOf, list, number, pathOf, text, textOf, type Item } from './declaration.ts';
import { follow, type Scene } from './pointers.ts';
import { shortMonitors, shortPersistence } from './validate-item.ts';
import { serviceClasses } from './words.ts';

export type Wanted = { [K in Kind]: { kind: K; object: Objects[K] } }[Kind];

/** The objects that a tenant should consist of. An empty tenant, or one not enabled, consists of nothing. */
export function translate(tenant: string, json: Json, scene: Scene): Wanted[] {
  const applications = classed(json, 'Application').filter(([, body]) => body['enable'] !== false);
  if (applications.length === 0 || json['enable'] === false) return [];
  const enabled = new Set(applications.map(([name]) => name));
  const items = itemsOf(tenant, json).filter((item) => enabled.has(item.application));
  const folders = [`/${tenant}`, ...applications.map(([name]) => `/${tenant}/${name}`)].filter(
    (path) => path !== '/Common',
  );
  return [
    ...folders.map((path): Wanted => ({
      kind: 'folder',
      object: { ...identity(path), isPartition: path.lastIndexOf('/') === 0 },
    })),
    ...nodesOf(items),
    ...items.flatMap((item) => translateItem(item, scene)),
  ];
}

function translateItem(item: Item, scene: Scene): Wanted[] {
  if (serviceClasses.some((name) => name === item.class))
    return item.json['enable'] === false ? [] : services(item, scene);
  return translations[item.class]?.(item, scene) ?? [];
}

const translations: Record<string, (item: Item, scene: Scene) => Wanted[]> = {
  Pool: (item, scene) => [{ kind: 'pool', object: pool(item, scene) }],
  Monitor: (item) => [{ kind: 'monitor', object: monitor(item) }],
  iRule: (item) => [{ kind: 'rule', object: { ...named(item), text: textOf(item.json['iRule']) ?? '' } }],
  Data_Group: (item) => [{ kind: 'data-group', object: dataGroup(item) }],
  Persist: (item) => [{ kind: 'persistence', object: persist(item) }],
  HTTP_Profile: (item) => [
    {
      kind: 'profile',
      object: { ...named(item), type: 'http', insertXforwardedFor: item.json['xForwardedFor'] !== false },
    },
  ],
  Certificate: (item) => [
    {
      kind: 'certificate',
      object: { ...named(item), certificate: certificateText(item.json), key: text(item.json, 'privateKey') ?? '' },
    },
  ],
  TLS_Client: (item) => [{ kind: 'profile', object: { ...named(item), type: 'server-ssl' } }],
  TLS_Server: tlsServer,
  Service_Address: (item) => [serviceAddress(item)],
};

function named(item: Item): ReturnType<typeof identity> {
  const remark = text(item.json, 'remark');
  return { ...identity(pathOf(item)), ...(remark === undefined ? {} : { description: remark }) };
}

function certificateText(json: Json): string {
  return [text(json, 'certificate'), text(json, 'chainCA')].filter((part) => part !== undefined).join('\n');
}

/** Where a valid pointer leads. */
function target(pointer: unknown, item: Item, scene: Scene): string {
  const pointed = follow(pointer, item, scene);
  if ('problem' in pointed) throw new Error(`bug: a pointer passed the validator: ${pathOf(item)}: ${pointed.problem}`);
  return pointed.path;
}

// Services. With several addresses the further ones are `name-1-`, `name-2-` ...

function services(item: Item, scene: Scene): Wanted[] {
  const { json } = item;
  const port = number(json, 'virtualPort') ?? (item.class === 'Service_HTTPS' ? 443 : 80);
  const addresses = list(json, 'virtualAddresses').map((address) => addressOf(address, item, scene));
  return addresses.flatMap((address, i) => {
    const path = i === 0 ? pathOf(item) : `${pathOf(item)}-${i}-`;
    const one: Virtual = {
      ...virtual(item, scene),
      ...identity(path),
      destination: `${address.folder}/${joinPort(address.address, port)}`,
    };
    const all: Wanted[] = [{ kind: 'virtual', object: withRemark(one, item) }];
    if (item.class === 'Service_HTTPS' && json['redirect80'] !== false)
      all.push({ kind: 'virtual', object: redirect(one, address) });
    if (json['shareAddresses'] === true) {
      all.push({
        kind: 'virtual-address',
        object: {
          ...identity(`/Common/${address.address}`),
          address: address.address,
          enabled: true,
          autoDelete: true,
        },
      });
    }
    return all;
  });
}

function withRemark(one: Virtual, { json }: Item): Virtual {
  const remark = text(json, 'remark');
  return remark === undefined ? one : { ...one, description: remark };
}

function addressOf(value: unknown, item: Item, scene: Scene): { folder: string; address: string } {
  const folder = item.json['shareAddresses'] === true ? '/Common' : `/${item.tenant}`;
  if (typeof value === 'string') return { folder, address: plain(value) };
  const pointed = follow(value, item, scene);
  if ('problem' in pointed) throw new Error(`bug: an address passed the validator: ${pointed.problem}`);
  if (pointed.json)
    return { folder: `/${pointed.path.split('/')[1]}`, address: plain(text(pointed.json, 'virtualAddress') ?? '') };
  const known = scene.device.get('virtual-address', pointed.path);
  return { folder: pointed.path.slice(0, pointed.path.lastIndexOf('/')), address: known?.address ?? '' };
}

function plain(address: string): string {
  return address.replace(/[%/].*$/, '');
}

function virtual(item: Item, scene: Scene): Virtual {
  const { json } = item;
  const isHttp = item.class === 'Service_HTTP' || item.class === 'Service_HTTPS';
  const isUdp = item.class === 'Service_UDP' || json['layer4'] === 'udp';
  // What AS3 does when nothing is said: no persistence must be asked for with an empty list.
  const methods = Array.isArray(json['persistenceMethods'])
    ? json['persistenceMethods']
    : [isHttp ? 'cookie' : 'source-address'];
  const fallback = json['fallbackPersistenceMethod'];
  return {
    ...identity(pathOf(item)),
    destination: '',
    ipProtocol: isUdp ? 'udp' : 'tcp',
    source: '0.0.0.0/0',
    ...(json['pool'] === undefined ? {} : { pool: target(json['pool'], item, scene) }),
    rules: list(json, 'iRules').map((rule) => target(rule, item, scene)),
    persist: methods.map((method) => persistencePath(method, item, scene)),
    ...(fallback === undefined ? {} : { fallbackPersistence: persistencePath(fallback, item, scene) }),
    profiles: profilesOf(item, scene, { isHttp, isUdp }),
    enabled: json['adminState'] !== 'disable',
    connectionLimit: number(json, 'maxConnections') ?? 0,
  };
}

function profilesOf(
  item: Item,
  scene: Scene,
  { isHttp, isUdp }: { isHttp: boolean; isUdp: boolean },
): Virtual['profiles'] {
  const { json } = item;
  const transport = item.class === 'Service_L4' ? '/Common/fastL4' : isUdp ? '/Common/udp' : '/Common/tcp';
  const profiles: Virtual['profiles'] = [{ path: transport, context: 'all' }];
  const http = json['profileHTTP'];
  if (isHttp)
    profiles.push({
      path: http === undefined || http === 'basic' ? '/Common/http' : target(http, item, scene),
      context: 'all',
    });
  const server = json['serverTLS'];
  for (const tls of Array.isArray(server) ? server : server === undefined ? [] : [server]) {
    const first = target(tls, item, scene);
    const entries = tlsEntries(follow(tls, item, scene));
    for (let i = 0; i < entries; i += 1)
      profiles.push({ path: i === 0 ? first : `${first}-${i}-`, context: 'clientside' });
  }
  if (json['clientTLS'] !== undefined)
    profiles.push({ path: target(json['clientTLS'], item, scene), context: 'serverside' });
  return profiles;
}

function tlsEntries(pointed: ReturnType<typeof follow>): number {
  return 'json' in pointed && pointed.json ? list(pointed.json, 'certificates').length : 1;
}

function persistencePath(method: unknown, item: Item, scene: Scene): string {
  const short = typeof method === 'string' ? shortPersistence[method] : undefined;
  return short ?? target(method, item, scene);
}

/** The second virtual server of an HTTPS service: port 80 sends to https. */
function redirect(of: Virtual, address: { folder: string; address: string }): Virtual {
  return {
    ...of,
    ...identity(`${of.fullPath}-Redirect-`),
    destination: `${address.folder}/${joinPort(address.address, 80)}`,
    pool: undefined,
    rules: [httpsRedirect],
    persist: [],
    fallbackPersistence: undefined,
    profiles: [
      { path: '/Common/tcp', context: 'all' },
      { path: '/Common/http', context: 'all' },
    ],
  };
}

// Pools.

function pool(item: Item, scene: Scene): Objects['pool'] {
  const { json } = item;
  const monitors = list(json, 'monitors').map(
    (one) => (typeof one === 'string' ? shortMonitors[one] : undefined) ?? target(one, item, scene),
  );
  const minimum = json['minimumMonitors'] ?? 1;
  const monitor =
    minimum === 'all' || monitors.length < 2
      ? monitors.join(' and ')
      : `min ${String(minimum)} of { ${monitors.join(' ')} }`;
  return {
    ...named(item),
    loadBalancingMode: text(json, 'loadBalancingMode') ?? 'round-robin',
    ...(monitor === '' ? {} : { monitor }),
    minActiveMembers: number(json, 'minimumMembersActive') ?? 1,
    // Listed twice, a member is what its last entry says.
    members: [...new Map(membersOf(item).map((member) => [member.fullPath, member])).values()],
  };
}

function membersOf(item: Item): Member[] {
  return list(item.json, 'members').flatMap((entry) => {
    if (!isObject(entry) || entry['enable'] === false) return [];
    const servers = list(entry, 'servers').flatMap((server) =>
      isObject(server) ? [text(server, 'address') ?? ''] : [],
    );
    const addresses = [...list(entry, 'serverAddresses').map(String), ...servers];
    return addresses.map((address) => member(item.tenant, plain(address), entry));
  });
}

function member(tenant: string, address: string, entry: Json): Member {
  const port = number(entry, 'servicePort') ?? 0;
  const { name, partition, fullPath } = identity(
    `/${entry['shareNodes'] === true ? 'Common' : tenant}/${joinPort(address, port)}`,
  );
  const state = text(entry, 'adminState') ?? 'enable';
  const remark = text(entry, 'remark');
  return {
    name,
    partition,
    fullPath,
    address,
    port,
    ratio: number(entry, 'ratio') ?? 1,
    priorityGroup: number(entry, 'priorityGroup') ?? 0,
    connectionLimit: number(entry, 'connectionLimit') ?? 0,
    session: state === 'enable' ? 'user-enabled' : 'user-disabled',
    state: state === 'offline' ? 'user-down' : 'user-up',
    ...(remark === undefined ? {} : { description: remark }),
    generation: 0,
  };
}

function nodesOf(items: Item[]): Wanted[] {
  const members = items.filter((item) => item.class === 'Pool').flatMap(membersOf);
  const nodes = new Map(members.map((one) => [`/${one.partition}/${one.address}`, one.address]));
  return [...nodes].map(([path, address]) => ({
    kind: 'node',
    object: { ...identity(path), address, session: 'user-enabled', state: 'user-up' },
  }));
}

// The rest.

function monitor(item: Item): Objects['monitor'] {
  const { json } = item;
  const type = text(json, 'monitorType') ?? 'tcp';
  const isHttp = type === 'http' || type === 'https';
  const send = text(json, 'send') ?? (isHttp ? 'HEAD / HTTP/1.0\\r\\n\\r\\n' : undefined);
  const receive = text(json, 'receive') ?? (isHttp ? 'HTTP/1.' : undefined);
  const address = text(json, 'targetAddress');
  const port = number(json, 'targetPort') ?? 0;
  return {
    ...named(item),
    type: type === 'icmp' ? 'gateway-icmp' : type,
    interval: number(json, 'interval') ?? 5,
    timeout: number(json, 'timeout') ?? 16,
    ...(send === undefined ? {} : { send }),
    ...(receive === undefined ? {} : { recv: receive }),
    destination: address ? joinPort(address, port) : '*:*',
  };
}

function dataGroup(item: Item): Objects['data-group'] {
  const type = text(item.json, 'keyDataType');
  const records = list(item.json, 'records').flatMap((record) => {
    if (!isObject(record)) return [];
    return [{ name: String(record['key']), data: typeof record['value'] === 'string' ? record['value'] : '' }];
  });
  return { ...named(item), type: type === 'ip' || type === 'integer' ? type : 'string', records: sortRecords(records) };
}

function persist(item: Item): Objects['persistence'] {
  const { json } = item;
  const types: Record<string, string> = {
    cookie: 'cookie',
    'source-address': 'source-addr',
    'destination-address': 'dest-addr',
  };
  const type = types[text(json, 'persistenceMethod') ?? ''] ?? 'source-addr';
  const name = text(json, 'cookieName');
  const mask = text(json, 'addressMask');
  return {
    ...named(item),
    type,
    timeout: number(json, 'duration') ?? (type === 'cookie' ? 0 : 180),
    ...(name ? { cookieName: name } : {}),
    ...(mask ? { mask } : {}),
    alwaysSend: json['alwaysSet'] === true,
  };
}

/** One client-ssl profile for each certificate: the first has the name, the others `name-1-` ... */
function tlsServer(item: Item, scene: Scene): Wanted[] {
  const entries = list(item.json, 'certificates').filter(isObject);
  const hasDefault = entries.some((entry) => entry['sniDefault'] === true);
  return entries.map((entry, i) => {
    const match = entry['matchToSNI'];
    const path = i === 0 ? pathOf(item) : `${pathOf(item)}-${i}-`;
    return {
      kind: 'profile',
      object: {
        ...named(item),
        ...identity(path),
        type: 'client-ssl',
        certificate: target(entry['certificate'], item, scene),
        ...(typeof match === 'string' && match !== '' ? { serverName: match } : {}),
        sniDefault: hasDefault ? entry['sniDefault'] === true : i === 0,
      },
    };
  });
}

function serviceAddress(item: Item): Wanted {
  const address = plain(text(item.json, 'virtualAddress') ?? '');
  // It stays with its tenant, and goes when its declaration goes.
  return {
    kind: 'virtual-address',
    object: { ...identity(`/${item.tenant}/${address}`), address, enabled: true, autoDelete: false },
  };
}
