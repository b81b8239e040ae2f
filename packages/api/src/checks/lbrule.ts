// Whether an Lbrule may be written (spec/tickets.md §7).
import { type Condition, type Problem, parseCondition } from '@fairlead/core';
import type { Lbcanary } from '../lbcanary.ts';
import { type Lbrule, type LbruleEntry, lbrule as definition } from '../lbrule.ts';
import { type Listner, isHttp } from '../listner.ts';
import { checkStructure, isUntouched } from './structure.ts';
import { droppedByCanary } from './lbcanary.ts';
import { type World, ticketNamed } from './world.ts';

/** Problems of writing `object`; `old` is what is there before, if anything. */
export function checkLbrule(object: Lbrule, old: Lbrule | undefined, world: World): Problem[] {
  if (isUntouched(object, old)) return [];
  const wrong = checkStructure(definition, object, old);
  if (wrong.length > 0) return wrong;
  return [
    ...checkTarget(object, old, world),
    ...object.spec.rules.flatMap(checkEntry),
    ...(old ? droppedByCanary({ ...world, lbrules: () => [object] }, isOn(object)) : []),
  ];
}

/** Problems of removing the object. */
export const checkLbruleRemoval = (object: Lbrule, world: World): Problem[] =>
  droppedByCanary({ ...world, lbrules: () => [] }, isOn(object)).map((problem) => ({
    ...problem,
    path: 'metadata.name',
  }));

const isOn =
  (rule: Lbrule) =>
  ({ metadata, spec }: Lbcanary): boolean =>
    spec.lbrule === rule.metadata.name && metadata.namespace === rule.metadata.namespace;

/** An entry in the words of the model. */
export function conditionOf(entry: LbruleEntry): Condition {
  const tests = entry.values.map(({ operator, value }) => ({
    operator: operator === 'startwith' ? ('prefix' as const) : operator,
    value,
  }));
  return { subject: subjects[entry.type], ...(entry.key ? { key: entry.key } : {}), tests };
}

const subjects = {
  domain: 'host',
  url: 'path',
  ip: 'address',
  header: 'header',
  cookie: 'cookie',
  urlparam: 'query',
} as const;

function checkTarget(object: Lbrule, old: Lbrule | undefined, world: World): Problem[] {
  const { lbticket, listner: name } = object.spec;
  const ticket = ticketNamed(world, object.metadata.namespace, lbticket);
  const listner = ticket?.spec.listners?.find((l) => l.name === name);
  if (listner) return checkTypes(object, listner);
  // What was true when the rule was made may have been undone since by force; its owner may still edit the rest.
  if (old && old.spec.lbticket === lbticket && old.spec.listner === name) return [];
  if (!ticket) {
    const where = object.metadata.namespace === undefined ? '' : ` in namespace ${object.metadata.namespace}`;
    return [missing('spec.lbticket', `there is no Lbticket ${lbticket}${where}: file it first, or correct the name`)];
  }
  const names = (ticket.spec.listners ?? []).map((l) => l.name);
  const known = names.length === 0 ? 'it has none' : `it has ${names.join(', ')}`;
  return [missing('spec.listner', `Lbticket ${lbticket} has no listner ${name}: ${known}`)];
}

function checkTypes({ spec }: Lbrule, { name, protocal }: Listner): Problem[] {
  if (isHttp(protocal)) return [];
  return spec.rules.flatMap(({ type }, i): Problem[] => {
    if (type === 'ip') return [];
    const message = `listner ${name} speaks ${protocal}, where only the client's address is known: use type ip, or an http or https listner`;
    return [{ code: 'invalid', message, path: `spec.rules[${i}].type` }];
  });
}

/** One value at a time, so that each fault is reported and not just the first. */
function checkEntry(entry: LbruleEntry, index: number): Problem[] {
  const path = `spec.rules[${index}]`;
  return entry.values.flatMap((value, i) => {
    const got = parseCondition(conditionOf({ ...entry, values: [value] }), path);
    return got.ok ? [] : [{ ...got.problem, path: got.problem.path?.replace('.tests[0]', `.values[${i}]`) ?? path }];
  });
}

const missing = (path: string, message: string): Problem => ({ code: 'missing', message, path });
