// Whether an Lbticket may be written or removed (spec/tickets.md §3, §7).
import { type Refusal, type Words, isEqual, parseAddress, refusal } from '@fairlead/core';
import { type Lbticket, forceAnnotation, isDeletable, lbticket as definition } from '../lbticket.ts';
import { droppedByCanary } from './lbcanary.ts';
import { pickWarnings } from './pick.ts';
import { checkStructure, isUntouched } from './structure.ts';
import { type World, isSame, loadbalancerNamed, nameOf } from './world.ts';

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

const clusterOf = (ticket: Lbticket, world: World): string | undefined =>
  loadbalancerNamed(world, ticket.spec.loadbalancer)?.spec.cluster;

/** A Service carries one set of labels, so one ticket (or Ingress) may use it; only what this edit adds is judged. */
function checkServices(object: Lbticket, old: Lbticket | undefined, world: World): Refusal[] {
  const before = new Set(old && old.spec.namespace === object.spec.namespace ? servicesOf(old) : []);
  const added = new Set(servicesOf(object).filter((service) => !before.has(service)));
  if (added.size === 0) return [];
  const holders = holdersOf(object, added, world);
  return (object.spec.listners ?? []).flatMap((listner, i) =>
    listner.services.flatMap(({ service }, j): Refusal[] => {
      const holder = holders.get(service);
      if (holder === undefined) return [];
      const words = {
        en: `Service ${service} is used by ${holder} already: choose another, or remove it there`,
        zh: `Service ${service} 已被 ${holder} 使用:请选择其他 Service,或先在该处移除`,
      };
      return [refusal('taken', words, `spec.listners[${i}].services[${j}].service`)];
    }),
  );
}

const servicesOf = (ticket: Lbticket): string[] =>
  (ticket.spec.listners ?? []).flatMap((listner) => listner.services.map(({ service }) => service));

/** Who else uses these Services of the ticket's namespace, by Service. */
function holdersOf(ticket: Lbticket, services: ReadonlySet<string>, world: World): Map<string, string> {
  const holders = new Map<string, string>();
  const cluster = clusterOf(ticket, world);
  if (cluster === undefined) return holders;
  for (const other of world.lbtickets()) {
    const isElsewhere = other.spec.namespace !== ticket.spec.namespace || isSame(other, ticket);
    if (isElsewhere || other.status?.process === 'deleted' || clusterOf(other, world) !== cluster) continue;
    for (const service of servicesOf(other))
      if (services.has(service)) holders.set(service, `Lbticket ${nameOf(other)}`);
  }
  for (const ingress of world.ingresses?.() ?? []) {
    if (ingress.cluster !== cluster || ingress.namespace !== ticket.spec.namespace) continue;
    for (const service of ingress.services) {
      if (services.has(service)) holders.set(service, `Ingress ${ingress.namespace}/${ingress.name}`);
    }
  }
  return holders;
}

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
