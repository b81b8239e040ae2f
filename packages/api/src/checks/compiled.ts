// What the compiler (packages/as3) would refuse of a ticket and its rules, said before it is stored and in users' words.
// packages/tickets holds the two against each other: what passes here compiles.
import {
  type ProblemCode,
  type Words,
  applicationName,
  isEqual,
  longestPath,
  longestRule,
  poolName,
  ruleName,
  virtualName,
} from '@fairlead/core';
import type { Lbrule } from '../lbrule.ts';
import type { Lbticket } from '../lbticket.ts';
import { type Listner, isHttp, monitorOf } from '../listner.ts';
import type { Loadbalancer } from '../loadbalancer.ts';
import { tenantOf } from '../names.ts';
import type { WeightedService } from '../services.ts';
import { ruleLength } from './rule-length.ts';
import { nameOf } from './world.ts';

/** A ticket with all that is compiled with it. */
export interface Compiled {
  ticket: Lbticket;
  rules: readonly Lbrule[];
  loadbalancer: Loadbalancer | undefined;
}

/** A field that a fault can be mended in: of the ticket, or of one of its rules. */
interface Place {
  listner: number;
  path: string;
  /** Name of the rule. */
  rule?: string;
}

export interface Fault {
  /** What tells it from others, whatever figures are in the words. */
  key: string;
  code: ProblemCode;
  words: Words;
  places: Place[];
  /** Of the Loadbalancer, which may be at fault as well. */
  field?: 'spec.cis.tenant' | 'spec.cis.mode' | 'spec.ve.partition';
}

/** Faults that `before` did not have: an edit is not to be refused for what it leaves as it was. */
export function newFaults(now: Compiled, before: Compiled | undefined): Fault[] {
  const known = new Set(before ? faults(before).map(({ key }) => key) : []);
  return faults(now).filter(({ key }) => !known.has(key));
}

const faults = (compiled: Compiled): Fault[] => [
  ...poolFaults(compiled),
  ...nameFaults(compiled),
  ...lengthFaults(compiled),
  ...typeFaults(compiled),
  ...externalFaults(compiled),
];

/** A Service port where a listner, or a rule on it, sends requests. */
interface Use extends Place {
  of: Listner;
  service: WeightedService;
}

function usesOf({ ticket, rules }: Compiled): Use[] {
  return (ticket.spec.listners ?? []).flatMap((of, listner) => [
    ...of.services.map((service, j) => ({
      of,
      service,
      listner,
      path: `spec.listners[${listner}].services[${j}].service`,
    })),
    ...rulesOn(of, rules).flatMap(({ metadata, spec }) =>
      spec.services.map((service, j) => ({
        of,
        service,
        listner,
        rule: metadata.name,
        path: `spec.services[${j}].service`,
      })),
    ),
  ]);
}

const rulesOn = ({ name }: Listner, rules: readonly Lbrule[]): Lbrule[] =>
  rules.filter(({ spec }) => spec.listner === name);

/** Two uses of one Service port under one protocal are one pool, which has one monitor and one balance. */
function poolFaults(compiled: Compiled): Fault[] {
  const pools = new Map<string, Use>();
  const found = new Map<string, Fault>();
  for (const use of usesOf(compiled)) {
    const { service, port } = use.service;
    const pool = `${use.of.protocal} ${poolName(service, port)}`;
    const first = pools.get(pool);
    if (!first) pools.set(pool, use);
    if (!first || isEqual(wayOf(first), wayOf(use))) continue;
    const [a, b] = [first.of.name, use.of.name];
    const words = {
      en: `Service ${service} port ${port} is one pool, and listner ${b} gives it another monitor or balance than listner ${a}: make them equal, or send one of them to another Service`,
      zh: `Service ${service} 的端口 ${port} 是同一个池,而监听器 ${b} 的 monitor 或 balance 与监听器 ${a} 不同:请使其一致,或让其中一个使用其他 Service`,
    };
    const key = `pool ${pool} ${a} ${b}`;
    found.set(key, { key, code: 'invalid', words, places: [...(found.get(key)?.places ?? [first]), use] });
  }
  return [...found.values()];
}

const wayOf = ({ of, service }: Use): unknown => [service.service, monitorOf(of), of.balance];

/** The longest names on the device, each with the field that it comes from. */
function nameFaults(compiled: Compiled): Fault[] {
  const { ticket } = compiled;
  const listners = ticket.spec.listners ?? [];
  const own = { ticket: { en: 'the ticket', zh: '该工单' }, rule: { en: 'the rule', zh: '该规则' } };
  const found: Fault[] = [];
  const look = (whole: string, of: Words, place: Place): void => {
    if (whole.length > longestPath) found.push(tooLong(whole, of, place));
  };
  if (listners.length === 0 && ticket.spec.lbtype === 'listner') {
    const place = placeOn(compiled, 'tcp');
    look(`${place}/${ruleName(virtualName(ticket.metadata.name, 1))}`, own.ticket, {
      listner: 0,
      path: 'metadata.name',
    });
  }
  for (const [listner, of] of listners.entries()) {
    const place = placeOn(compiled, of.protocal);
    const virtual = virtualName(ticket.metadata.name, of.port);
    const longest = of.tls ? `${virtual}_certificate` : ruleName(virtual);
    look(`${place}/${longest}`, own.ticket, { listner, path: 'metadata.name' });
    for (const [j, { secretName }] of (of.tls?.sni ?? []).entries()) {
      const path = `spec.listners[${listner}].tls.sni[${j}].secretName`;
      look(`${place}/${virtual}_certificate_${secretName}`, { en: 'the Secret', zh: '该 Secret' }, { listner, path });
    }
    for (const { metadata, spec } of rulesOn(of, compiled.rules)) {
      const last = spec.rules.findLastIndex(hasList);
      const at = { listner, path: 'metadata.name', rule: metadata.name };
      if (last >= 0) look(listPath(place, virtual, metadata.name, last), own.rule, at);
    }
  }
  for (const use of usesOf(compiled)) {
    const pool = poolName(use.service.service, use.service.port);
    const whole = `${placeOn(compiled, use.of.protocal)}/${pool}${isPlain(use.of) ? '' : '_monitor'}`;
    look(whole, { en: 'the Service', zh: '该 Service' }, use);
  }
  return found;
}

function tooLong(whole: string, of: Words, place: Place): Fault {
  const words = {
    en: `it would be named ${whole} on the device, ${whole.length} characters where ${longestPath} are the most: give ${of.en} a shorter name`,
    zh: `设备上的名称将为 ${whole},共 ${whole.length} 个字符,最多 ${longestPath} 个:请为${of.zh}使用更短的名称`,
  };
  return { key: `name ${whole}`, code: 'invalid', words, places: [place], field: 'spec.cis.tenant' };
}

/** `/tenant/application`. The shortest tenant there is stands for one that is not known. */
function placeOn({ ticket, loadbalancer }: Compiled, protocal: Listner['protocal']): string {
  const { namespace } = ticket.spec;
  return `/${loadbalancer ? tenantOf(loadbalancer, namespace) : 'xx'}/${applicationName(namespace, protocal)}`;
}

/** All addresses, and more than 20 values of one operator, lie in a list of their own. */
const hasList = ({ type, values }: Lbrule['spec']['rules'][number]): boolean => type === 'ip' || values.length > 20;

const listPath = (place: string, virtual: string, rule: string, entry: number): string =>
  `${place}/${virtual}_${rule}_${entry}_addresses`;

/** Without a monitor of its own a pool uses the device's. */
const isPlain = ({ monitor: asked }: Listner): boolean =>
  asked === undefined || (asked.path === undefined && asked.interval === undefined && asked.timeout === undefined);

/** The rules of a listner become one rule on the device. */
function lengthFaults(compiled: Compiled): Fault[] {
  const { ticket, rules } = compiled;
  return (ticket.spec.listners ?? []).flatMap((of, listner): Fault[] => {
    const own = rulesOn(of, rules);
    if (own.length === 0) return [];
    const place = placeOn(compiled, of.protocal);
    const virtual = virtualName(ticket.metadata.name, of.port);
    const paths = (services: readonly WeightedService[]): number =>
      services.reduce((sum, { service, port }) => sum + `${place}/${poolName(service, port)} 100 `.length, 0);
    const length = ruleLength(own, {
      rest: paths(of.services),
      pools: ({ spec }) => paths(spec.services),
      list: ({ metadata, spec }) => listPath(place, virtual, metadata.name, spec.rules.length).length,
    });
    if (length <= longestRule) return [];
    const words = {
      en: `the rules of listner ${of.name} come to some ${length} characters on the device, where ${longestRule} are the most: use fewer regexps, ranges and long values, or put plain values of one operator into one entry`,
      zh: `监听器 ${of.name} 的规则在设备上约为 ${length} 个字符,最多 ${longestRule} 个:请减少正则表达式、范围和长值,或将同一运算符的普通值放入同一条目`,
    };
    const places: Place[] = own.map(({ metadata }) => ({ listner, path: 'spec.rules', rule: metadata.name }));
    return [
      {
        key: `length ${of.name}`,
        code: 'invalid',
        words,
        places: [...places, { listner, path: `spec.listners[${listner}].services` }],
      },
    ];
  });
}

/** A listner that comes after its rules: one of that name was there before, and spoke something else. */
function typeFaults({ ticket, rules }: Compiled): Fault[] {
  return (ticket.spec.listners ?? []).flatMap((of, listner) =>
    (isHttp(of.protocal) ? [] : rulesOn(of, rules))
      .filter(({ spec }) => spec.rules.some(({ type }) => type !== 'ip'))
      .map((rule): Fault => {
        const words = {
          en: `Lbrule ${nameOf(rule)} looks at more than the client's address, which is all that ${of.protocal} shows: remove the rule first, or use http or https`,
          zh: `Lbrule ${nameOf(rule)} 不只检查客户端地址,而 ${of.protocal} 只能看到客户端地址:请先删除该规则,或使用 http 或 https`,
        };
        const places = [{ listner, path: `spec.listners[${listner}].protocal` }];
        return { key: `type ${of.name} ${rule.metadata.name}`, code: 'invalid', words, places };
      }),
  );
}

/** With an external CIS: what it does not serve (spec/f5.md §3.3). */
function externalFaults({ ticket, loadbalancer }: Compiled): Fault[] {
  if (loadbalancer?.spec.cis.mode !== 'external') return [];
  const { name } = loadbalancer.metadata;
  const found = (ticket.spec.listners ?? []).flatMap((of, listner): Fault[] => {
    if (of.protocal !== 'https') return [];
    const words = {
      en: `Loadbalancer ${name} has an external CIS, which reads no Secret for a ConfigMap, and a key may not stand in one: use http here, an F5 Ingress, or a Loadbalancer with cis.mode fairlead`,
      zh: `Loadbalancer ${name} 使用外部(external)CIS,它不为 ConfigMap 读取 Secret,而私钥不能写入 ConfigMap:请改用 http、F5 Ingress,或 cis.mode 为 fairlead 的 Loadbalancer`,
    };
    const places = [{ listner, path: `spec.listners[${listner}].protocal` }];
    return [{ key: `https ${of.name}`, code: 'invalid', words, places, field: 'spec.cis.mode' }];
  });
  if (ticket.spec.lbtype !== 'ingress' || loadbalancer.spec.ve.partition !== undefined) return found;
  const words = {
    en: `Loadbalancer ${name} has an external CIS, which serves Ingresses in its own partition only: set ve.partition there to the one that it was started with`,
    zh: `Loadbalancer ${name} 使用外部(external)CIS,它只在自己的分区中服务 Ingress:请将其 ve.partition 设为启动 CIS 时指定的分区`,
  };
  return [
    {
      key: 'partition',
      code: 'invalid',
      words,
      places: [{ listner: 0, path: 'spec.lbtype' }],
      field: 'spec.ve.partition',
    },
  ];
}
