// What AS3 refuses of single objects: services, pools and members, monitors, rules, data-groups, persistence, TLS.

import { modes } from '../rest/pool.ts';
import { isObject, type Json } from '../rest/body.ts';
import { list, pathOf, textOf, type Item } from './declaration.ts';
import { follow, pointerProblem, type Scene } from './pointers.ts';
import type { Kind } from '../configuration/object.ts';
import { isAddress, type Errors } from './errors.ts';
import { serviceClasses } from './words.ts';

export const shortMonitors: Record<string, string> = {
  http: '/Common/http',
  https: '/Common/https',
  icmp: '/Common/gateway_icmp',
  tcp: '/Common/tcp',
  'tcp-half-open': '/Common/tcp_half_open',
  udp: '/Common/udp',
};

export const shortPersistence: Record<string, string> = {
  cookie: '/Common/cookie',
  'source-address': '/Common/source_addr',
  'destination-address': '/Common/dest_addr',
};

interface Job {
  item: Item;
  path: string;
  json: Json;
  scene: Scene;
  errors: Errors;
}

export function validateItem(item: Item, scene: Scene, errors: Errors): void {
  const job: Job = { item, path: pathOf(item), json: item.json, scene, errors };
  errors.remarks(item.json, job.path);
  if (serviceClasses.some((name) => name === item.class)) return validateService(job);
  checks[item.class]?.(job);
}

const checks: Record<string, (job: Job) => void> = {
  Pool: validatePool,
  Monitor: validateMonitor,
  iRule: validateRuleText,
  Data_Group: validateDataGroup,
  Persist: validatePersist,
  TLS_Server: validateTls,
  Certificate: ({ json, path, errors }) => {
    for (const name of ['certificate', 'privateKey'])
      if (typeof json[name] !== 'string') errors.add(path, `should have required property '${name}' as PEM text`);
  },
  Service_Address: ({ json, path, errors }) => {
    if (!isAddress(json['virtualAddress'])) errors.add(`${path}/virtualAddress`, 'should match format "f5ip"');
  },
  HTTP_Profile: ({ json, path, errors }) => errors.boolean(json, path, 'xForwardedFor'),
};

function pointer(job: Job, place: string, value: unknown, wanted: { classes: readonly string[]; kind: Kind }): void {
  const problem = pointerProblem(follow(value, job.item, job.scene), wanted, job.scene.device);
  if (problem !== undefined) job.errors.add(`${job.path}${place}`, problem);
}

function validateService(job: Job): void {
  const { json, path, errors, item } = job;
  validateAddresses(job);
  if (json['virtualPort'] === undefined && !['Service_HTTP', 'Service_HTTPS'].includes(item.class))
    errors.add(path, "should have required property 'virtualPort'");
  errors.integer(json, path, 'virtualPort', [0, 65_535]);
  errors.integer(json, path, 'maxConnections', [0, 2 ** 31 - 1]);
  for (const name of ['enable', 'shareAddresses', 'redirect80']) errors.boolean(json, path, name);
  errors.word(json, path, 'adminState', ['enable', 'disable']);
  errors.word(
    json,
    path,
    'layer4',
    item.class === 'Service_L4' ? ['tcp', 'udp', 'any'] : [item.class === 'Service_UDP' ? 'udp' : 'tcp'],
  );
  if (json['pool'] !== undefined) pointer(job, '/pool', json['pool'], { classes: ['Pool'], kind: 'pool' });
  validateRules(job);
  validatePersistence(job);
  for (const [name, className] of [
    ['serverTLS', 'TLS_Server'],
    ['clientTLS', 'TLS_Client'],
  ] as const) {
    const value = json[name];
    const all = Array.isArray(value) ? value : value === undefined ? [] : [value];
    for (const one of all) pointer(job, `/${name}`, one, { classes: [className], kind: 'profile' });
  }
  const profile = json['profileHTTP'];
  if (profile !== undefined && profile !== 'basic')
    pointer(job, '/profileHTTP', profile, { classes: ['HTTP_Profile'], kind: 'profile' });
}

function validateAddresses(job: Job): void {
  const { json, path, errors } = job;
  const addresses = json['virtualAddresses'];
  if (!Array.isArray(addresses)) return errors.add(path, "should have required property 'virtualAddresses' (an array)");
  if (addresses.length === 0) errors.add(`${path}/virtualAddresses`, 'should NOT have fewer than 1 items');
  if (new Set(addresses.map((one) => JSON.stringify(one))).size !== addresses.length)
    errors.add(`${path}/virtualAddresses`, 'should NOT have duplicate items');
  addresses.forEach((address: unknown, i) => {
    const place = `/virtualAddresses/${i}`;
    if (isObject(address)) pointer(job, place, address, { classes: ['Service_Address'], kind: 'virtual-address' });
    else if (!isAddress(address)) errors.add(`${path}${place}`, 'should match format "f5ip"');
  });
}

function validateRules(job: Job): void {
  const rules = job.json['iRules'];
  if (rules === undefined) return;
  if (!Array.isArray(rules)) return job.errors.add(`${job.path}/iRules`, 'should be array');
  if (new Set(rules.map((one) => JSON.stringify(one))).size !== rules.length)
    job.errors.add(`${job.path}/iRules`, 'should NOT have duplicate items');
  rules.forEach((rule: unknown, i) => pointer(job, `/iRules/${i}`, rule, { classes: ['iRule'], kind: 'rule' }));
}

function validatePersistence(job: Job): void {
  const methods = job.json['persistenceMethods'];
  if (methods !== undefined && !Array.isArray(methods))
    return job.errors.add(`${job.path}/persistenceMethods`, 'should be array');
  const all: [string, unknown][] = list(job.json, 'persistenceMethods').map((method, i) => [
    `/persistenceMethods/${i}`,
    method,
  ]);
  const fallback = job.json['fallbackPersistenceMethod'];
  if (fallback !== undefined) all.push(['/fallbackPersistenceMethod', fallback]);
  for (const [place, method] of all) {
    if (typeof method !== 'string') pointer(job, place, method, { classes: ['Persist'], kind: 'persistence' });
    else if (!(method in shortPersistence))
      job.errors.add(
        `${job.path}${place}`,
        `should be equal to one of the allowed values (${Object.keys(shortPersistence).join(', ')}); this simulator has no other`,
      );
  }
}

function validatePool(job: Job): void {
  const { json, path, errors } = job;
  errors.word(json, path, 'loadBalancingMode', modes);
  errors.integer(json, path, 'minimumMembersActive', [0, 65_535]);
  const minimum = json['minimumMonitors'];
  if (minimum !== 'all') errors.integer(json, path, 'minimumMonitors', [0, 63]);
  if (json['monitors'] !== undefined && !Array.isArray(json['monitors']))
    errors.add(`${path}/monitors`, 'should be array');
  list(json, 'monitors').forEach((monitor, i) => {
    if (typeof monitor !== 'string') pointer(job, `/monitors/${i}`, monitor, { classes: ['Monitor'], kind: 'monitor' });
    else if (!(monitor in shortMonitors))
      errors.add(
        `${path}/monitors/${i}`,
        `should be equal to one of the allowed values (${Object.keys(shortMonitors).join(', ')}) or a pointer with "use" or "bigip"`,
      );
  });
  if (json['members'] !== undefined && !Array.isArray(json['members']))
    return errors.add(`${path}/members`, 'should be array');
  list(json, 'members').forEach((member, i) => validateMember(`${path}/members/${i}`, member, errors));
}

function validateMember(path: string, member: unknown, errors: Errors): void {
  if (!isObject(member)) return errors.add(path, 'should be object');
  errors.known(member, path, 'Pool_Member');
  errors.remarks(member, path);
  if (member['servicePort'] === undefined) errors.add(path, "should have required property 'servicePort'");
  errors.integer(member, path, 'servicePort', [0, 65_535]);
  errors.integer(member, path, 'ratio', [0, 100]);
  errors.integer(member, path, 'priorityGroup', [0, 65_535]);
  errors.integer(member, path, 'connectionLimit', [0, 2 ** 31 - 1]);
  for (const name of ['enable', 'shareNodes']) errors.boolean(member, path, name);
  errors.word(member, path, 'adminState', ['enable', 'disable', 'offline']);
  errors.word(member, path, 'addressDiscovery', ['static']);
  const addresses = member['serverAddresses'];
  if (addresses === undefined && member['servers'] === undefined)
    errors.add(path, "should have required property 'serverAddresses' or 'servers'");
  if (addresses !== undefined && !Array.isArray(addresses)) errors.add(`${path}/serverAddresses`, 'should be array');
  const all = list(member, 'serverAddresses');
  if (new Set(all).size !== all.length) errors.add(`${path}/serverAddresses`, 'should NOT have duplicate items');
  all.forEach(
    (address, i) => isAddress(address) || errors.add(`${path}/serverAddresses/${i}`, 'should match format "f5ip"'),
  );
  list(member, 'servers').forEach((server, i) => {
    if (!isObject(server) || !isAddress(server['address']))
      errors.add(`${path}/servers/${i}`, 'should have required property \'address\' in format "f5ip"');
  });
}

/** A backquote in the text is an expansion unless `expand` is false. */
function validateRuleText({ json, path, errors }: Job): void {
  const text = textOf(json['iRule']);
  if (text === undefined) errors.add(path, "should have required property 'iRule' (a string, {base64} or {text})");
  else if (text.includes('`') && json['expand'] !== false)
    errors.add(`${path}/iRule`, 'contains a backquote, which AS3 expands unless "expand" is false');
}

const monitorTypes = ['http', 'https', 'tcp', 'tcp-half-open', 'udp', 'icmp'];

function validateMonitor({ json, path, errors }: Job): void {
  if (json['monitorType'] === undefined) errors.add(path, "should have required property 'monitorType'");
  errors.word(json, path, 'monitorType', monitorTypes);
  errors.integer(json, path, 'interval', [1, 3600]);
  errors.integer(json, path, 'timeout', [0, 86_400]);
  errors.integer(json, path, 'targetPort', [0, 65_535]);
  for (const name of ['send', 'receive'])
    if (json[name] !== undefined && typeof json[name] !== 'string') errors.add(`${path}/${name}`, 'should be string');
  if (json['targetAddress'] !== undefined && json['targetAddress'] !== '' && !isAddress(json['targetAddress']))
    errors.add(`${path}/targetAddress`, 'should match format "f5ip"');
}

const keyChecks: Record<string, (key: unknown) => boolean> = {
  string: (key) => typeof key === 'string' && key !== '',
  integer: (key) => Number.isInteger(key),
  ip: isAddress,
};

function validateDataGroup({ json, path, errors }: Job): void {
  const type = json['keyDataType'];
  const isKey = typeof type === 'string' ? keyChecks[type] : undefined;
  errors.word(json, path, 'storageType', ['internal']);
  if (!isKey)
    return errors.add(`${path}/keyDataType`, 'should be equal to one of the allowed values (string, integer, ip)');
  if (!Array.isArray(json['records'])) return errors.add(path, "should have required property 'records'");
  const keys = new Set<unknown>();
  json['records'].forEach((record: unknown, i) => {
    if (!isObject(record) || !isKey(record['key']))
      return errors.add(`${path}/records/${i}/key`, `should be ${String(type)}`);
    if (record['value'] !== undefined && typeof record['value'] !== 'string')
      errors.add(`${path}/records/${i}/value`, 'should be string');
    if (keys.has(record['key']))
      errors.add(`${path}/records/${i}/key`, `should NOT have duplicate keys: ${String(record['key'])}`);
    keys.add(record['key']);
  });
}

function validatePersist({ json, path, errors }: Job): void {
  if (json['persistenceMethod'] === undefined) errors.add(path, "should have required property 'persistenceMethod'");
  errors.word(json, path, 'persistenceMethod', Object.keys(shortPersistence));
  errors.word(json, path, 'cookieMethod', ['insert']);
  errors.integer(json, path, 'duration', [0, 604_800]);
  errors.boolean(json, path, 'alwaysSet');
  const name = json['cookieName'];
  if (name !== undefined && (typeof name !== 'string' || !/^[0-9A-Za-z.~#$%^&*_-]{0,64}$/.test(name)))
    errors.add(`${path}/cookieName`, 'should match pattern');
  if (json['addressMask'] !== undefined && !isAddress(json['addressMask']))
    errors.add(`${path}/addressMask`, 'should match format "f5ip"');
}

function validateTls(job: Job): void {
  const certificates = list(job.json, 'certificates');
  if (certificates.length === 0) job.errors.add(`${job.path}/certificates`, 'should NOT have fewer than 1 items');
  certificates.forEach((entry, i) => {
    const place = `/certificates/${i}`;
    if (!isObject(entry)) return job.errors.add(`${job.path}${place}`, 'should be object');
    pointer(job, `${place}/certificate`, entry['certificate'], { classes: ['Certificate'], kind: 'certificate' });
  });
}
