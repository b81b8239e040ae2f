// Whether a Loadbalancer may be written or removed (spec/tickets.md §7).
import {
  type Refusal,
  type Result,
  type Words,
  covers,
  isEqual,
  isOwnTenant,
  overlaps,
  parseAddressRange,
  parseCidr,
  refusal,
} from '@fairlead/core';
import { type Loadbalancer, loadbalancer as definition } from '../loadbalancer.ts';
import { type Lbticket, forceAnnotation } from '../lbticket.ts';
import { tenantOf } from '../names.ts';
import { type Fault, newFaults } from './compiled.ts';
import { checkStructure, isUntouched } from './structure.ts';
import { type World, isSame, liveTicketsOf, nameOf, rulesByTicket } from './world.ts';

/** Problems of writing `object`; `old` is what is there before, if anything. */
export function checkLoadbalancer(object: Loadbalancer, old: Loadbalancer | undefined, world: World): Refusal[] {
  if (isUntouched(object, old)) return [];
  const wrong = [...checkStructure(definition, object, old)];
  if (wrong.length > 0) return wrong;
  const addresses = checkAddresses(object);
  if (addresses.length > 0) return addresses;
  const others = [...world.loadbalancers()].filter((other) => !isSame(other, object));
  return [
    ...checkTwins(object, old, others),
    ...checkOverlaps(object, old, others),
    ...checkFrozen(object, old, world),
    ...checkApprover(object, old, world),
    ...checkTenant(object, old),
    ...checkTickets(object, old, world),
  ];
}

/** What will go wrong only when tickets come, for the user to know. */
export function loadbalancerWarnings(object: Loadbalancer, old: Loadbalancer | undefined, world: World): Words[] {
  if (old && isEqual(agentOf(old), agentOf(object))) return [];
  return [...world.loadbalancers()]
    .filter((other) => !isSame(other, object) && isEqual(agentOf(other), agentOf(object)))
    .map((other) => ({
      en: `spec.cis.tenant: Loadbalancer ${nameOf(other)} has the same device, cluster and tenant, so in one namespace tickets of only one of them can be programmed: give one a tenant of its own, such as {cluster}_${object.metadata.name}`,
      zh: `spec.cis.tenant:Loadbalancer ${nameOf(other)} 的设备、集群和租户与此相同,因此同一命名空间中只有其中一个的工单能够下发:请为其中一个设置单独的租户,例如 {cluster}_${object.metadata.name}`,
    }));
}

/** What tells the applications of two load balancers apart on a device. */
const agentOf = ({ spec }: Loadbalancer) => [deviceOf(spec.ve.addr), spec.cluster, spec.cis.tenant];

/** Problems of removing it. */
export function checkLoadbalancerRemoval(object: Loadbalancer, world: World): Refusal[] {
  const users = liveTicketsOf(world, object.metadata.name);
  if (users.length === 0) return [];
  const names = list(users);
  const words = {
    en: `tickets use it: ${names.en}; delete them first (state disabled, then deleted)`,
    zh: `有工单正在使用它:${names.zh};请先删除这些工单(state 先设为 disabled,再设为 deleted)`,
  };
  return [refusal('denied', words)];
}

const layers = ['ltm', 've'] as const;

function checkAddresses({ spec }: Loadbalancer): Refusal[] {
  const problems = layers.flatMap((layer) => {
    const cidr = parseCidr(spec[layer].cidr, `spec.${layer}.cidr`);
    if (!cidr.ok) return [cidr.problem];
    return (spec[layer].exclude ?? []).flatMap((text, i) => {
      const path = `spec.${layer}.exclude[${i}]`;
      const range = parseAddressRange(text, path);
      if (!range.ok) return [range.problem];
      if (overlaps(cidr.value, range.value)) return [];
      const words = {
        en: `"${text}" has no address of ${spec[layer].cidr}: correct it, or take it out`,
        zh: `"${text}" 不含 ${spec[layer].cidr} 中的任何地址:请更正,或将其去掉`,
      };
      return [refusal('invalid', words, path)];
    });
  });
  for (const key of Object.keys(spec.nsselector)) {
    if (!labelKey.test(key)) problems.push(refusal('invalid', noLabelKey, `spec.nsselector[${key}]`));
  }
  return problems;
}

const noLabelKey = {
  en: 'is not the key of a Kubernetes label: letters, digits, -, _ and . after an optional prefix/',
  zh: '不是 Kubernetes 标签的键:可选的 prefix/ 之后为字母、数字、-、_ 和 .',
};

const labelKey = /^([a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?\/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;

function checkTwins(object: Loadbalancer, old: Loadbalancer | undefined, others: Loadbalancer[]): Refusal[] {
  const identity = ({ spec }: Loadbalancer) => [
    deviceOf(spec.ltm.url),
    deviceOf(spec.ve.addr),
    spec.cluster,
    spec.nsselector,
  ];
  if (old && isEqual(identity(old), identity(object))) return [];
  const twin = others.find((other) => isEqual(identity(other), identity(object)));
  if (!twin) return [];
  const words = {
    en: `Loadbalancer ${nameOf(twin)} has the same ltm.url, ve.addr, cluster and nsselector: use that one, or choose another nsselector`,
    zh: `Loadbalancer ${nameOf(twin)} 的 ltm.url、ve.addr、cluster 和 nsselector 与此相同:请使用该负载均衡器,或选择其他 nsselector`,
  };
  return [refusal('taken', words, 'spec')];
}

/** Two load balancers on one device must not give out the same addresses. */
function checkOverlaps(object: Loadbalancer, old: Loadbalancer | undefined, others: Loadbalancer[]): Refusal[] {
  const isKept = (layer: Layer): boolean =>
    old !== undefined &&
    device(old, layer) === device(object, layer) &&
    old.spec[layer].cidr === object.spec[layer].cidr;
  return networkOverlaps(
    object,
    others,
    layers.filter((layer) => !isKept(layer)),
  );
}

/** With each of `others`, by layer: one refusal for each network of `object` that has addresses of theirs. */
export function networkOverlaps(
  object: Loadbalancer,
  others: readonly Loadbalancer[],
  of: readonly Layer[] = layers,
): Refusal[] {
  return of.flatMap((layer) =>
    others
      .filter((other) => device(other, layer) === device(object, layer) && isOverlapping(other, object, layer))
      .map((other) => {
        const [own, theirs] = [object.spec[layer].cidr, other.spec[layer].cidr];
        const words = {
          en: `${own} overlaps ${theirs} of Loadbalancer ${nameOf(other)} on the same device: choose a network of its own`,
          zh: `${own} 与同一设备上 Loadbalancer ${nameOf(other)} 的 ${theirs} 重叠:请选择单独的网段`,
        };
        return refusal('taken', words, `spec.${layer}.cidr`);
      }),
  );
}

type Layer = (typeof layers)[number];

const device = ({ spec }: Loadbalancer, layer: Layer): string =>
  deviceOf(layer === 'ltm' ? spec.ltm.url : spec.ve.addr);

/**
 * One text for one device, however it is written: host in lower case, without a dot at its end, and the port that the
 * scheme (https where none is said) has by itself left out. A path is kept: one API may stand before several devices.
 */
export function deviceOf(address: string): string {
  const isBare = /^[0-9a-f:]+$/i.test(address) && address.split(':').length > 2;
  const text = /^https?:\/\//i.test(address) ? address : `https://${isBare ? `[${address}]` : address}`;
  if (!URL.canParse(text)) return address.toLowerCase();
  const { protocol, hostname, port, pathname, search } = new URL(text);
  return `${protocol}//${hostname.replace(/\.$/, '')}:${port}${pathname.replace(/\/+$/, '')}${search}`;
}

function isOverlapping(a: Loadbalancer, b: Loadbalancer, layer: Layer): boolean {
  return both(parseCidr(a.spec[layer].cidr), parseCidr(b.spec[layer].cidr), overlaps);
}

/** One stored before these checks were here may not parse: it then stands in nobody's way. */
const both = <T>(a: Result<T>, b: Result<T>, test: (a: T, b: T) => boolean): boolean =>
  a.ok && b.ok && test(a.value, b.value);

/** The partition on the device: AS3 takes `Common` with the one application `Shared` alone, and no CIS starts with it. */
function checkTenant(object: Loadbalancer, old: Loadbalancer | undefined): Refusal[] {
  const { cis, ve } = object.spec;
  // Whatever the namespace, which begins and ends as this one does.
  const tenant = tenantOf(object, 'x');
  if (old && tenantOf(old, 'x') === tenant && old.spec.ve.partition === ve.partition) return [];
  const isExternal = cis.mode === 'external';
  const partition = ve.partition ?? '';
  const path = !isExternal && partition !== '' ? 'spec.ve.partition' : 'spec.cis.tenant';
  const words = {
    en: `"${tenant}" cannot be a partition of ours: use 2 to 190 letters, digits, "_", "." and "-", beginning with a letter or digit, not ending in "-", and neither Common, which is everybody's, nor a word of AS3 such as label`,
    zh: `"${tenant}" 不能作为我们的分区:请使用 2 到 190 个字母、数字、"_"、"." 或 "-",以字母或数字开头,不以 "-" 结尾,且不能是公用的 Common 或 label 等 AS3 关键字`,
  };
  const common = {
    en: 'Common is the partition of everybody: name the one that the CIS was started with',
    zh: 'Common 是公用分区:请填写启动 CIS 时指定的分区',
  };
  return [
    ...(isOwnTenant(tenant) ? [] : [refusal('invalid', words, path)]),
    ...(isExternal && partition === 'Common' ? [refusal('invalid', common, 'spec.ve.partition')] : []),
  ];
}

/*
 *   field              | may change while a live ticket uses it
 *   -------------------+---------------------------------------
 *   cluster, nsselector| no
 *   ltm.cidr, ve.cidr  | to a network that holds the old one
 *   policy             | as long as its approver has no application: checkApprover
 *   all others         | yes
 */
function checkFrozen(object: Loadbalancer, old: Loadbalancer | undefined, world: World): Refusal[] {
  if (!old) return [];
  const frozen: Refusal[] = [];
  const users = liveTicketsOf(world, object.metadata.name);
  if (users.length === 0) return [];
  const names = list(users);
  for (const field of ['cluster', 'nsselector'] as const) {
    if (isEqual(object.spec[field], old.spec[field])) continue;
    const words = {
      en: `cannot change while tickets use it (${names.en}): make another Loadbalancer`,
      zh: `有工单正在使用时不能更改(${names.zh}):请另建 Loadbalancer`,
    };
    frozen.push(refusal('denied', words, `spec.${field}`));
  }
  for (const layer of layers) {
    const [now, before] = [object.spec[layer].cidr, old.spec[layer].cidr];
    if (now === before || both(parseCidr(now), parseCidr(before), covers)) continue;
    const words = {
      en: `can only grow while tickets use it (${names.en}): ${now} does not hold all of ${before}`,
      zh: `有工单正在使用时只能扩大(${names.zh}):${now} 未包含 ${before} 的全部地址`,
    };
    frozen.push(refusal('denied', words, `spec.${layer}.cidr`));
  }
  return frozen;
}

/** What was filed is withdrawn where it was filed; the token for that place is that of `policy`, as long as it names the place. */
function checkApprover(object: Loadbalancer, old: Loadbalancer | undefined, world: World): Refusal[] {
  if (!old || object.metadata.annotations?.[forceAnnotation] === 'true') return [];
  const [now, before] = [object.spec.policy, old.spec.policy];
  // Nobody heard of what `auto` opened.
  if (before.provider === 'auto') return [];
  const field = now.provider !== before.provider ? 'provider' : now.url !== before.url ? 'url' : undefined;
  if (field === undefined || (field === 'url' && now.provider !== 'http')) return [];
  const { name } = object.metadata;
  const there = [...world.lbtickets()].filter(
    ({ spec, status }) =>
      status?.application !== undefined && (status.filing?.loadbalancer ?? spec.loadbalancer) === name,
  );
  if (there.length === 0) return [];
  const names = list(there);
  const words = {
    en: `cannot change while the approver has applications of tickets (${names.en}): delete these first (state disabled, then deleted), or annotate ${forceAnnotation}="true"; then they are asked about and withdrawn where they were filed, without a token`,
    zh: `审批系统中仍有工单的申请时不能更改(${names.zh}):请先删除这些工单(state 先设为 disabled,再设为 deleted),或添加注解 ${forceAnnotation}="true";此后仍向原审批系统查询和撤回这些申请,但不带令牌`,
  };
  return [refusal('denied', words, `spec.policy.${field}`)];
}

/** What tickets that use it could not be compiled with any more: the first fault of each field, and whose. */
function checkTickets(object: Loadbalancer, old: Loadbalancer | undefined, world: World): Refusal[] {
  if (!old || isEqual([old.spec.cis, old.spec.ve.partition], [object.spec.cis, object.spec.ve.partition])) return [];
  const found = new Map<string, { fault: Fault; tickets: Lbticket[] }>();
  const rules = rulesByTicket(world);
  for (const ticket of liveTicketsOf(world, object.metadata.name)) {
    const compiled = { ticket, rules: rules.get(nameOf(ticket)) ?? [] };
    for (const fault of newFaults({ ...compiled, loadbalancer: object }, { ...compiled, loadbalancer: old })) {
      const field = fault.field ?? 'spec.cis';
      const present = found.get(field);
      if (!present) found.set(field, { fault, tickets: [ticket] });
      else if (!present.tickets.includes(ticket)) present.tickets.push(ticket);
    }
  }
  return [...found].map(([field, { fault, tickets }]) => {
    const names = list(tickets);
    const words = {
      en: `tickets use it that this does not fit (${names.en}): ${fault.words.en}`,
      zh: `有工单正在使用,与此不符(${names.zh}):${fault.words.zh}`,
    };
    return refusal('denied', words, field);
  });
}

/** Names for a message: enough to go on, never thousands. */
function list(tickets: { metadata: { name: string; namespace?: string } }[]): Words {
  const names = tickets.map(nameOf).sort();
  const first = names.slice(0, 3).join(', ');
  if (names.length <= 3) return { en: first, zh: first };
  return { en: `${first} and ${names.length - 3} more`, zh: `${first} 及另外 ${names.length - 3} 个` };
}
