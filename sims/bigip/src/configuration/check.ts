// What the device's own database refuses, whoever asks: missing and used objects, clashes of destinations, rules that do not load.

import { createPrivateKey, X509Certificate } from 'node:crypto';
import type { RuleEngine, RuleFacts } from '../irule/engine.ts';
import { missingText, pathsOf } from '../irule/runner.ts';
import {
  destinationOf,
  type Certificate,
  type Kind,
  type Monitor,
  type Pool,
  type Rule,
  type Virtual,
} from './object.ts';
import { notFound, Refusal } from './refusal.ts';
import type { Change, Draft, View } from './store.ts';

/*
 *  changed             | must hold afterwards                                               | refused with
 *  --------------------+--------------------------------------------------------------------+-------------
 *  any put             | its folder is there                                                | 01020036
 *  folder gone         | nothing is in it                                                   | 01070829
 *  anything gone       | nothing points at it                                               | 01070265
 *  pool                | its monitors are there                                             | 01070712
 *  virtual             | pool, rules, profiles, persistence are there                       | 01070712
 *                      | no other has its address, port and protocol                        | 01070333
 *                      | its address is in no other partition                               | 0107176c
 *                      | cookie persistence and HTTP events only with an HTTP profile       | 01070309, 01070394
 *  certificate         | certificate and key are PEM and match                              | 01070313, 01070317
 *  monitor             | its receive string is a regular expression, interval < timeout     | 01070734
 *  rule                | it loads, and its literal pools and data-groups are there          | 01070151
 */
/** Throws a Refusal when the draft is not one the device would take. */
export async function checkDraft(draft: Draft, rules: RuleEngine): Promise<void> {
  const changes = draft.changes();
  for (const change of changes) {
    checkFolder(change, draft);
    if (change.kind === 'pool' && change.after) checkPool(change.after, draft);
    if (change.kind === 'certificate' && change.after) checkCertificate(change.after);
    if (change.kind === 'profile' && change.after?.certificate !== undefined) {
      mustExist(['certificate', change.after.certificate], `Profile (${change.path})`, draft);
    }
    if (change.kind === 'monitor' && change.after) checkMonitor(change.after);
    if (change.kind === 'rule' && change.after) await checkRule(change.after, draft, rules);
  }
  const virtuals = changes.flatMap((change) => (change.kind === 'virtual' && change.after ? [change.after] : []));
  if (virtuals.length > 0) checkDestinations(virtuals, draft);
  for (const virtual of virtuals) checkReferences(virtual, draft);
  await checkEvents(changes, virtuals, { draft, rules });
  await checkRemoved(changes, draft, rules);
}

/** Reads a rule for its facts; throws when the device would not load it. */
async function factsOf(rule: Rule, rules: RuleEngine): Promise<RuleFacts> {
  const reading = await rules.define(rule.fullPath, rule.text);
  if (reading.ok) return reading.facts;
  const { line, message } = reading.fault;
  const what = message.startsWith('[') ? message : `[${message}]`;
  throw new Refusal(400, `01070151:3: Rule [${rule.fullPath}] error: ${rule.fullPath}:${line}: error: ${what}`);
}

function checkFolder(change: Change, draft: Draft): void {
  const parent = change.path.slice(0, change.path.lastIndexOf('/'));
  if (change.after && parent !== '' && !draft.get('folder', parent)) throw notFound('folder', parent);
}

function checkPool(pool: Pool, draft: View): void {
  for (const path of monitorsOf(pool.monitor).paths) mustExist(['monitor', path], `Pool (${pool.fullPath})`, draft);
}

/** The monitors of a pool and how many of them must agree. */
export function monitorsOf(text: string | undefined): { paths: string[]; needed: number } {
  const plain = (text ?? '').trim();
  const least = /^min (\d+) of \{?([^}]*)\}?$/.exec(plain);
  const paths = (least?.[2] ?? plain).split(/\s+and\s+|\s+/).filter((word) => word !== '' && word !== 'none');
  return { paths, needed: least ? Math.min(Number(least[1]), paths.length) : paths.length };
}

function checkCertificate({ fullPath, certificate, key }: Certificate): void {
  try {
    if (new X509Certificate(certificate).checkPrivateKey(createPrivateKey(key))) return;
  } catch (error) {
    throw new Refusal(
      400,
      `01070313:3: Error reading key or certificate PEM of ${fullPath}: ${error instanceof Error ? error.message : ''}`,
    );
  }
  throw new Refusal(400, `01070317:3: the key and certificate of ${fullPath} do not match.`);
}

function checkMonitor({ fullPath, recv, interval, timeout }: Monitor): void {
  if (!isPattern(recv ?? '')) {
    throw new Refusal(
      400,
      `01070734:3: Configuration error: monitor ${fullPath}: the receive string is no regular expression: ${recv ?? ''}`,
    );
  }
  if (timeout > 0 && interval >= timeout) {
    throw new Refusal(
      400,
      `01070734:3: Configuration error: monitor ${fullPath}: the timeout (${timeout}) must be greater than the interval (${interval}).`,
    );
  }
}

function isPattern(text: string): boolean {
  try {
    return new RegExp(text).source !== '';
  } catch {
    return false;
  }
}

async function checkRule(rule: Rule, draft: View, rules: RuleEngine): Promise<void> {
  for (const { kind, name, line, command } of (await factsOf(rule, rules)).references) {
    if (pathsOf(rule.fullPath, name).some((path) => draft.get(kind, path))) continue;
    const text = missingText(kind, name, line, command);
    throw new Refusal(400, `01070151:3: Rule [${rule.fullPath}] error: ${text}`);
  }
}

function checkDestinations(changed: Virtual[], draft: View): void {
  const all = draft.list('virtual');
  const holders = new Map<string, Virtual[]>();
  for (const virtual of all) {
    const key = destinationKey(virtual);
    holders.set(key, [...(holders.get(key) ?? []), virtual]);
  }
  const partitions = new Map<string, string>();
  for (const address of draft.list('virtual-address')) {
    const other = partitions.get(address.address);
    if (other !== undefined && other !== address.partition) {
      throw new Refusal(400, `0107176c:3: Invalid Virtual Address, the IP address ${address.address} already exists.`);
    }
    partitions.set(address.address, address.partition);
  }
  for (const virtual of changed) {
    const other = holders.get(destinationKey(virtual))?.find((one) => one.fullPath !== virtual.fullPath);
    if (!other) continue;
    const names = `Virtual Server ${virtual.fullPath} illegally shares destination address, source address, service port, ip-protocol, and vlan with Virtual Server ${other.fullPath}.`;
    throw new Refusal(400, `01070333:3: ${names}`);
  }
}

function destinationKey(virtual: Virtual): string {
  const { address, port } = destinationOf(virtual.destination) ?? { address: virtual.destination, port: 0 };
  return `${address} ${port} ${virtual.ipProtocol} ${virtual.source}`;
}

function checkReferences(virtual: Virtual, draft: View): void {
  const user = `Virtual Server (${virtual.fullPath})`;
  for (const reference of pointersOf(virtual)) mustExist(reference, user, draft);
  const isHttp = virtual.profiles.some(({ path }) => draft.get('profile', path)?.type === 'http');
  const cookie = [...virtual.persist, virtual.fallbackPersistence ?? ''].some(
    (path) => draft.get('persistence', path)?.type === 'cookie',
  );
  if (cookie && !isHttp) {
    throw new Refusal(
      400,
      `01070309:3: Cookie persistence requires an HTTP or FastHTTP profile to be associated with the virtual server (${virtual.fullPath}).`,
    );
  }
}

async function checkEvents(
  changes: Change[],
  virtuals: Virtual[],
  { draft, rules }: { draft: View; rules: RuleEngine },
): Promise<void> {
  const edited = new Set(changes.filter((change) => change.kind === 'rule').map((change) => change.path));
  const affected = new Set(virtuals);
  if (edited.size > 0)
    for (const virtual of draft.list('virtual'))
      if (virtual.rules.some((path) => edited.has(path))) affected.add(virtual);
  for (const virtual of affected) {
    if (virtual.profiles.some(({ path }) => draft.get('profile', path)?.type === 'http')) continue;
    for (const path of virtual.rules) {
      const rule = draft.get('rule', path);
      const event = rule && (await factsOf(rule, rules)).events.find((name) => name.startsWith('HTTP_'));
      if (!event) continue;
      const text = `${event} event in rule (${path}) requires an associated HTTP or FASTHTTP profile on the virtual-server (${virtual.fullPath}).`;
      throw new Refusal(400, `01070394:3: ${text}`);
    }
  }
}

type Pointer = [kind: Kind, path: string];

function pointersOf(virtual: Virtual): Pointer[] {
  const one = (kind: Kind, path: string | undefined): Pointer[] => (path === undefined ? [] : [[kind, path]]);
  return [
    ...one('pool', virtual.pool),
    ...virtual.rules.map((path): Pointer => ['rule', path]),
    ...virtual.persist.map((path): Pointer => ['persistence', path]),
    ...one('persistence', virtual.fallbackPersistence),
    ...virtual.profiles.map(({ path }): Pointer => ['profile', path]),
  ];
}

function mustExist([kind, path]: Pointer, user: string, draft: View): void {
  if (!draft.get(kind, path))
    throw new Refusal(400, `01070712:3: ${user} points at ${words[kind]} (${path}), which does not exist.`);
}

const words: Record<Kind, string> = {
  virtual: 'Virtual Server',
  'virtual-address': 'Virtual Address',
  pool: 'Pool',
  node: 'Node',
  rule: 'Rule',
  'data-group': 'Value List',
  monitor: 'Monitor',
  persistence: 'Persistence Profile',
  profile: 'Profile',
  certificate: 'Certificate',
  folder: 'folder',
};

async function checkRemoved(changes: Change[], draft: View, rules: RuleEngine): Promise<void> {
  const gone = new Set(changes.filter((change) => !change.after).map((change) => `${change.kind} ${change.path}`));
  if (gone.size === 0) return;
  const refuse = (pointer: Pointer, user: string): void => {
    if (!gone.has(`${pointer[0]} ${pointer[1]}`)) return;
    throw new Refusal(
      400,
      `01070265:3: The ${words[pointer[0]]} (${pointer[1]}) cannot be deleted because it is in use by a ${user}.`,
    );
  };
  for (const virtual of draft.list('virtual')) {
    for (const pointer of pointersOf(virtual)) refuse(pointer, `Virtual Server (${virtual.fullPath})`);
    refuse(['virtual-address', addressPath(virtual)], `Virtual Server (${virtual.fullPath})`);
  }
  for (const pool of draft.list('pool')) {
    for (const path of monitorsOf(pool.monitor).paths) refuse(['monitor', path], `Pool (${pool.fullPath})`);
    for (const member of pool.members) refuse(['node', nodePath(member)], `Pool (${pool.fullPath})`);
  }
  for (const profile of draft.list('profile')) {
    if (profile.certificate !== undefined)
      refuse(['certificate', profile.certificate], `Profile (${profile.fullPath})`);
  }
  if (changes.some(({ kind, after }) => !after && (kind === 'pool' || kind === 'data-group')))
    await checkRulesOf(draft, rules, refuse);
  checkEmpty(changes, draft);
}

async function checkRulesOf(
  draft: View,
  rules: RuleEngine,
  refuse: (pointer: Pointer, user: string) => void,
): Promise<void> {
  for (const rule of draft.list('rule')) {
    for (const { kind, name } of (await factsOf(rule, rules)).references) {
      const paths = pathsOf(rule.fullPath, name);
      if (!paths.some((one) => draft.get(kind, one)))
        paths.forEach((one) => refuse([kind, one], `Rule (${rule.fullPath})`));
    }
  }
}

function checkEmpty(changes: Change[], draft: View): void {
  const folders = changes.filter((change) => change.kind === 'folder' && !change.after).map((change) => change.path);
  if (folders.length === 0) return;
  const all = (Object.keys(words) as Kind[]).flatMap((kind) => draft.list(kind).map((item) => item.fullPath));
  for (const folder of folders) {
    const left = all.find((path) => path.startsWith(`${folder}/`));
    if (left !== undefined)
      throw new Refusal(400, `01070829:5: Input error: folder ${folder} is not empty: ${left} is in it.`);
  }
}

export function addressPath(virtual: Virtual): string {
  const folder = virtual.destination.slice(0, virtual.destination.lastIndexOf('/'));
  return `${folder}/${destinationOf(virtual.destination)?.address ?? ''}`;
}

export function nodePath(member: { fullPath: string; address: string }): string {
  return `${member.fullPath.slice(0, member.fullPath.lastIndexOf('/'))}/${member.address}`;
}
