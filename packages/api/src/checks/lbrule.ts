// Whether an Lbrule may be written (spec/tickets.md §7).
import { type Refusal, type Words, parseCondition, refusal } from '@fairlead/core';
import type { Lbcanary } from '../lbcanary.ts';
import { type Lbrule, type LbruleEntry, lbrule as definition } from '../lbrule.ts';
import { type Listner, isHttp } from '../listner.ts';
import type { Lbticket } from '../lbticket.ts';
import { newFaults } from './compiled.ts';
import { droppedByCanary } from './lbcanary.ts';
import { rulePickWarnings } from './pick.ts';
import { conditionOf } from './rule-entry.ts';
import { holdersOf, servicesIn, takenBy } from './services.ts';
import { checkStructure, isUntouched } from './structure.ts';
import { type World, isSame, loadbalancerNamed, rulesOf, ticketNamed } from './world.ts';

/** Problems of writing `object`; `old` is what is there before, if anything. */
export function checkLbrule(object: Lbrule, old: Lbrule | undefined, world: World): Refusal[] {
  if (isUntouched(object, old)) return [];
  const wrong = checkStructure(definition, object, old);
  if (wrong.length > 0) return wrong;
  return [
    ...checkTarget(object, old, world),
    ...object.spec.rules.flatMap(checkEntry),
    ...(old ? [] : checkName(object)),
    ...checkServices(object, old, world),
    ...checkCompiled(object, old, world),
    ...(old ? droppedByCanary({ ...world, lbrules: () => [object] }, isOn(object)) : []),
  ];
}

/** What may well not be meant, for the user to know. */
export const lbruleWarnings = (object: Lbrule, old: Lbrule | undefined, world: World): Words[] =>
  isUntouched(object, old) ? [] : rulePickWarnings(object, world);

/** Problems of removing the object. */
export const checkLbruleRemoval = (object: Lbrule, world: World): Refusal[] =>
  droppedByCanary({ ...world, lbrules: () => [] }, isOn(object)).map((problem) => ({
    ...problem,
    path: 'metadata.name',
  }));

const isOn =
  (rule: Lbrule) =>
  ({ metadata, spec }: Lbcanary): boolean =>
    spec.lbrule === rule.metadata.name && metadata.namespace === rule.metadata.namespace;

function checkName({ metadata }: Lbrule): Refusal[] {
  if (metadata.name !== 'default') return [];
  const words = {
    en: 'default stands for the listner itself wherever a choice is told of: choose another name',
    zh: 'default 在说明选择结果时代表监听器本身:请使用其他名称',
  };
  return [refusal('invalid', words, 'metadata.name')];
}

const ticketOf = (rule: Lbrule, world: World): Lbticket | undefined =>
  ticketNamed(world, rule.metadata.namespace, rule.spec.lbticket);

/** As with listners: one ticket, or one F5 Ingress, per Service. Only what this edit adds is judged. */
function checkServices(object: Lbrule, old: Lbrule | undefined, world: World): Refusal[] {
  const ticket = ticketOf(object, world);
  if (!ticket) return [];
  const before = new Set(old?.spec.lbticket === object.spec.lbticket ? servicesIn(old.spec) : []);
  const added = new Set(servicesIn(object.spec).filter((service) => !before.has(service)));
  const holders = holdersOf(ticket, added, world);
  return object.spec.services.flatMap(({ service }, i) => takenBy(holders, service, `spec.services[${i}].service`));
}

/** What its ticket could not be compiled with. */
function checkCompiled(object: Lbrule, old: Lbrule | undefined, world: World): Refusal[] {
  const ticket = ticketOf(object, world);
  if (!ticket) return [];
  const others = rulesOf(ticket, world).filter((rule) => !isSame(rule, object));
  const loadbalancer = loadbalancerNamed(world, ticket.spec.loadbalancer);
  const faults = newFaults(
    { ticket, rules: [...others, object], loadbalancer },
    { ticket, rules: old ? [...others, old] : others, loadbalancer },
  );
  return faults.flatMap(({ code, words, places }) => {
    const place = places.find(({ rule }) => rule === object.metadata.name);
    return place ? [refusal(code, words, place.path)] : [];
  });
}

function checkTarget(object: Lbrule, old: Lbrule | undefined, world: World): Refusal[] {
  const { lbticket, listner: name } = object.spec;
  const ticket = ticketNamed(world, object.metadata.namespace, lbticket);
  const listner = ticket?.spec.listners?.find((l) => l.name === name);
  if (listner) return checkTypes(object, listner);
  // What was true when the rule was made may have been undone since by force; its owner may still edit the rest.
  if (old && old.spec.lbticket === lbticket && old.spec.listner === name) return [];
  if (!ticket) {
    const { namespace } = object.metadata;
    const [en, zh] = namespace === undefined ? ['', ''] : [` in namespace ${namespace}`, `命名空间 ${namespace} 中`];
    const words = {
      en: `there is no Lbticket ${lbticket}${en}: file it first, or correct the name`,
      zh: `${zh}没有 Lbticket ${lbticket}:请先申请该工单,或更正名称`,
    };
    return [refusal('missing', words, 'spec.lbticket')];
  }
  const names = (ticket.spec.listners ?? []).map((l) => l.name);
  const all = names.join(', ');
  const known =
    names.length === 0 ? { en: 'it has none', zh: '它没有监听器' } : { en: `it has ${all}`, zh: `它有 ${all}` };
  const words = {
    en: `Lbticket ${lbticket} has no listner ${name}: ${known.en}`,
    zh: `Lbticket ${lbticket} 没有监听器 ${name}:${known.zh}`,
  };
  return [refusal('missing', words, 'spec.listner')];
}

function checkTypes({ spec }: Lbrule, { name, protocal }: Listner): Refusal[] {
  if (isHttp(protocal)) return [];
  return spec.rules.flatMap(({ type }, i): Refusal[] => {
    if (type === 'ip') return [];
    const words = {
      en: `listner ${name} speaks ${protocal}, where only the client's address is known: use type ip, or an http or https listner`,
      zh: `监听器 ${name} 的协议为 ${protocal},只知道客户端地址:请使用 type ip,或选择 http 或 https 监听器`,
    };
    return [refusal('invalid', words, `spec.rules[${i}].type`)];
  });
}

/** One value at a time, so that each fault is reported and not just the first. */
function checkEntry(entry: LbruleEntry, index: number): Refusal[] {
  const path = `spec.rules[${index}]`;
  return entry.values.flatMap((value, i) => {
    const got = parseCondition(conditionOf({ ...entry, values: [value] }), path);
    return got.ok ? [] : [{ ...got.problem, path: got.problem.path?.replace('.tests[0]', `.values[${i}]`) ?? path }];
  });
}
