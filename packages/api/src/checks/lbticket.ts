// Whether an Lbticket may be written or removed (spec/tickets.md §3, §7).
import { type Refusal, type Words, isEqual, parseAddress, refusal, virtualName } from '@fairlead/core';
import { type Lbticket, forceAnnotation, isDeletable, lbticket as definition } from '../lbticket.ts';
import type { Listner } from '../listner.ts';
import { newFaults } from './compiled.ts';
import { droppedByCanary } from './lbcanary.ts';
import { pickWarnings } from './pick.ts';
import { holdersOf, servicesIn, servicesOf, takenBy } from './services.ts';
import { checkStructure, isUntouched } from './structure.ts';
import { type World, clusterOf, isSame, loadbalancerNamed, nameOf, rulesOf } from './world.ts';

/** Problems of writing `object`; `old` is what is there before, if anything. */
export function checkLbticket(object: Lbticket, old: Lbticket | undefined, world: World): Refusal[] {
  if (isUntouched(object, old)) return [];
  const wrong = checkStructure(definition, object, old);
  if (wrong.length > 0) return wrong;
  return [
    ...checkAddresses(object),
    ...checkState(object, old, world),
    ...checkNamespace(object, old, world).problems,
    ...checkServices(object, old, world),
    ...checkVirtuals(object, old, world),
    ...checkCompiled(object, old, world),
    ...checkRemovedListners(object, old, world),
    ...checkCanaries(object, old, world),
  ];
}

/** What could not be checked now, or may well not be meant, for the user to know. */
export function lbticketWarnings(object: Lbticket, old: Lbticket | undefined, world: World): Words[] {
  if (isUntouched(object, old)) return [];
  return [...checkNamespace(object, old, world).warnings, ...pickWarnings(object, world)];
}

/** Problems of removing the object. */
export function checkLbticketRemoval(object: Lbticket): Refusal[] {
  if (isDeletable(object)) return [];
  const process = object.status?.process ?? 'new';
  const words = {
    en: `only disabled, failed and deleted tickets can be removed, this is ${process}: set spec.state to disabled first, and wait for process disabled`,
    zh: `只能移除已禁用(disabled)、已失败(failed)或已删除(deleted)的工单,此工单为 ${process}:请先将 spec.state 设为 disabled,待 process 变为 disabled`,
  };
  return [refusal('denied', words, 'spec.state')];
}

function checkAddresses({ spec }: Lbticket): Refusal[] {
  return (['veip', 'ltmip'] as const).flatMap((field) => {
    const text = spec[field];
    if (!text) return [];
    const address = parseAddress(text, `spec.${field}`);
    return address.ok ? [] : [address.problem];
  });
}

function checkState(object: Lbticket, old: Lbticket | undefined, world: World): Refusal[] {
  if (!old) {
    if (object.spec.state !== 'deleted') return [];
    const words = {
      en: 'a new ticket cannot be deleted already: leave state out, or file none',
      zh: '新工单的 state 不能是 deleted:请去掉 state,或不申请',
    };
    return [refusal('denied', words, 'spec.state')];
  }
  const isDisabled =
    old.status?.process === 'enabled' && old.spec.state === 'enabled' && object.spec.state === 'disabled';
  if (!isDisabled || object.metadata.annotations?.[forceAnnotation] === 'true') return [];
  const users = usersOf(object, world);
  if (users.length === 0) return [];
  const said = (language: 'en' | 'zh') => users.map((user) => user[language]).join(', ');
  const words = {
    en: `it carries traffic (${said('en')}): remove these first, or annotate ${forceAnnotation}="true"`,
    zh: `该工单正在承载流量(${said('zh')}):请先移除这些对象,或添加注解 ${forceAnnotation}="true"`,
  };
  return [refusal('denied', words, 'spec.state')];
}

/** What would stop working if the ticket were disabled. */
function usersOf(ticket: Lbticket, world: World): Words[] {
  const listners = (ticket.spec.listners ?? []).map(({ name }) => ({ en: `listner ${name}`, zh: `监听器 ${name}` }));
  const ingresses = [...(world.ingresses?.() ?? [])].filter((ingress) => ingress.ticket === nameOf(ticket));
  const names = ingresses.map((ingress) => `Ingress ${ingress.namespace}/${ingress.name}`);
  return [...listners, ...names.map((name) => ({ en: name, zh: name }))];
}

function checkNamespace(
  object: Lbticket,
  old: Lbticket | undefined,
  world: World,
): { problems: Refusal[]; warnings: Words[] } {
  const { namespace, loadbalancer } = object.spec;
  const isKept = old && old.spec.namespace === namespace && old.spec.loadbalancer === loadbalancer;
  const cluster = clusterOf(object, world);
  // An unknown load balancer has no cluster to ask; the controller says so in the ticket, and looks again when there is one.
  if (isKept || cluster === undefined || !world.namespaceExists) return { problems: [], warnings: [] };
  const exists = world.namespaceExists(cluster, namespace);
  if (exists === true) return { problems: [], warnings: [] };
  if (exists === undefined) {
    const warning = {
      en: `spec.namespace: cluster ${cluster} cannot be reached, so nobody knows whether it has the namespace ${namespace}`,
      zh: `spec.namespace:无法访问集群 ${cluster},不能确定其中是否有命名空间 ${namespace}`,
    };
    return { problems: [], warnings: [warning] };
  }
  const words = {
    en: `cluster ${cluster} has no namespace ${namespace}: create it there, or correct the name`,
    zh: `集群 ${cluster} 中没有命名空间 ${namespace}:请在该集群中创建,或更正名称`,
  };
  return { problems: [refusal('missing', words, 'spec.namespace')], warnings: [] };
}

/** Of one ticket or Ingress each; only what this edit adds, or moves to another cluster or namespace, is judged. */
function checkServices(object: Lbticket, old: Lbticket | undefined, world: World): Refusal[] {
  const isKept =
    old &&
    old.spec.namespace === object.spec.namespace &&
    (old.spec.loadbalancer === object.spec.loadbalancer || clusterOf(old, world) === clusterOf(object, world));
  const before = new Set(isKept ? servicesOf(old) : []);
  const moved = isKept ? [] : rulesOf(object, world);
  const ofRules = moved.flatMap(({ spec }) => servicesIn(spec));
  const added = new Set([...servicesOf(object), ...ofRules].filter((service) => !before.has(service)));
  const holders = holdersOf(object, added, world);
  const where = old && old.spec.namespace === object.spec.namespace ? 'spec.loadbalancer' : 'spec.namespace';
  return [
    ...(object.spec.listners ?? []).flatMap((listner, i) =>
      listner.services.flatMap(({ service }, j) =>
        takenBy(holders, service, `spec.listners[${i}].services[${j}].service`),
      ),
    ),
    ...[...new Set(ofRules)].flatMap((service) => takenBy(holders, service, where)),
  ];
}

/** What of it, with its rules, could not be compiled. */
function checkCompiled(object: Lbticket, old: Lbticket | undefined, world: World): Refusal[] {
  const compiled = (ticket: Lbticket) => ({
    ticket,
    rules: rulesOf(ticket, world),
    loadbalancer: loadbalancerNamed(world, ticket.spec.loadbalancer),
  });
  return newFaults(compiled(object), old && compiled(old)).map(({ code, words, places }) => {
    const place = places.find(({ rule }) => rule === undefined) ?? places[0];
    const isOwn = place?.rule === undefined;
    return refusal(code, words, isOwn ? (place?.path ?? 'spec') : `spec.listners[${place.listner}]`);
  });
}

/** A virtual server is named by ticket and port: a ticket of that name in another project may have it already. */
function checkVirtuals(object: Lbticket, old: Lbticket | undefined, world: World): Refusal[] {
  const { loadbalancer, namespace, listners = [] } = object.spec;
  const isKept = old?.spec.loadbalancer === loadbalancer && old.spec.namespace === namespace;
  const before = new Set(isKept ? (old.spec.listners ?? []).map(virtualOf(old)) : []);
  const holders = new Map<string, string>();
  for (const other of world.lbtickets()) {
    const isElsewhere = other.spec.loadbalancer !== loadbalancer || other.spec.namespace !== namespace;
    if (isElsewhere || isSame(other, object) || other.status?.process === 'deleted') continue;
    for (const virtual of (other.spec.listners ?? []).map(virtualOf(other))) holders.set(virtual, nameOf(other));
  }
  return listners.flatMap((listner, i): Refusal[] => {
    const virtual = virtualOf(object)(listner);
    const holder = before.has(virtual) ? undefined : holders.get(virtual);
    if (holder === undefined) return [];
    const name = virtualName(object.metadata.name, listner.port);
    const words = {
      en: `the virtual server ${name} of namespace ${namespace} is of Lbticket ${holder} already: choose another port, or file the ticket under another name`,
      zh: `命名空间 ${namespace} 的虚拟服务器 ${name} 已属于 Lbticket ${holder}:请选择其他端口,或用其他名称申请工单`,
    };
    return [refusal('taken', words, `spec.listners[${i}].port`)];
  });
}

const virtualOf =
  ({ metadata }: Lbticket) =>
  ({ port, protocal }: Listner): string =>
    `${protocal} ${virtualName(metadata.name, port)}`;

function checkRemovedListners(object: Lbticket, old: Lbticket | undefined, world: World): Refusal[] {
  if (!old || isEqual(old.spec.listners, object.spec.listners)) return [];
  const kept = new Set((object.spec.listners ?? []).map(({ name }) => name));
  const removed = new Set((old.spec.listners ?? []).map(({ name }) => name).filter((name) => !kept.has(name)));
  return [...world.lbrules()]
    .filter(
      (rule) => rule.metadata.namespace === object.metadata.namespace && rule.spec.lbticket === object.metadata.name,
    )
    .filter((rule) => removed.has(rule.spec.listner))
    .map((rule) => {
      const words = {
        en: `listner ${rule.spec.listner} is named by Lbrule ${nameOf(rule)}: delete the rule first, or keep the listner`,
        zh: `监听器 ${rule.spec.listner} 被 Lbrule ${nameOf(rule)} 引用:请先删除该规则,或保留此监听器`,
      };
      return refusal('denied', words, 'spec.listners');
    });
}

/** A canary shifts between Services of the listner: taking its own away would break it off in the middle. */
function checkCanaries(object: Lbticket, old: Lbticket | undefined, world: World): Refusal[] {
  if (!old || isEqual(old.spec.listners, object.spec.listners)) return [];
  return droppedByCanary(
    { ...world, lbtickets: () => [object] },
    ({ metadata, spec }) =>
      spec.lbrule === undefined &&
      spec.lbticket === object.metadata.name &&
      metadata.namespace === object.metadata.namespace,
  ).map((problem) => ({ ...problem, path: 'spec.listners' }));
}
