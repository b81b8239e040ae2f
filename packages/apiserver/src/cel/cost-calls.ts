// What calls of functions cost: those that go over a text or a list by its size, all others one unit.
import type { ASTNode } from '@marcbachmann/cel-js';
import {
  add,
  capped,
  fixed,
  sizeOf,
  times,
  traversal,
  unknownSize,
  type Estimate,
  type Size,
  type Type,
} from './estimate.ts';

export interface CallOf {
  /** With its namespace, as in `sets.contains`. */
  name: string;
  target: Estimate | undefined;
  args: Estimate[];
  nodes: readonly ASTNode[];
}

interface Own {
  cost: number;
  size?: Size;
}

/** The call with its target and arguments. */
export function callCost(call: CallOf): Estimate {
  const { name, target, args } = call;
  const own = calls[name]?.(call) ?? { cost: 1 };
  const cost = args.reduce((sum, arg) => capped(sum + arg.cost), capped(own.cost + (target?.cost ?? 0)));
  const type = typeOf(call);
  return { cost, type, size: own.size ?? (scalars.has(type.kind) ? fixed(1) : undefined) };
}

type Cost = (call: CallOf) => Own | undefined;

/** The first thing a function is about. */
const subject = ({ target, args }: CallOf): Size => {
  const found = target ?? args[0];
  return found ? sizeOf(found) : unknownSize;
};
const argSize = ({ args }: CallOf, at: number): Size => (args[at] ? sizeOf(args[at]) : unknownSize);

const once: Cost = (call) => ({ cost: traversal(subject(call)) });
const rewritten: Cost = (call) => ({ cost: traversal(subject(call)), size: subject(call) });
const method =
  (cost: Cost): Cost =>
  (call) =>
    call.target ? cost(call) : undefined;

/** Every element is compared with another; texts are gone over for that. */
const compared: Cost = (call) => {
  const { target } = call;
  if (!target) return undefined;
  if (target.type.kind === 'string') return { cost: traversal(sizeOf(target)) };
  const { elements } = target.type;
  const isText = elements?.kind === 'string' || elements?.kind === 'bytes';
  const each = isText ? 1 + traversal(elementSizeOf(target)) : 1;
  return { cost: capped(sizeOf(target).max * each) };
};

const elementSizeOf = ({ decl }: Estimate): Size =>
  decl?.elements ? { min: 0, max: decl.elements.most } : unknownSize;

/** A pattern is taken to have a state for every four of its characters. */
const patterned = (call: CallOf): number =>
  capped(traversal(add(subject(call), fixed(1))) * traversal(argSize(call, 0), 0.25));

const replaced: Cost = (call) => {
  const size = subject(call);
  const [from, to] = [argSize(call, 0), argSize(call, 1)];
  let [count, kept] = [0, 0];
  if (from.min === 0) [count, kept] = [size.max + 1, size.max];
  else if (to.max <= from.min) kept = size.max;
  else count = Math.ceil(size.max / from.min);
  return { cost: traversal(size, 0.2), size: { min: 0, max: capped(count * to.max + kept) } };
};

const split: Cost = (call) => {
  const limit = call.nodes[1];
  const most = limit?.op === 'value' && typeof limit.args === 'bigint' ? Number(limit.args) : subject(call).max;
  return { cost: traversal(subject(call), 0.2), size: { min: 0, max: most } };
};

const joined: Cost = (call) => {
  const { target, args } = call;
  if (!target) return undefined;
  const count = sizeOf(target);
  const parts = target.type.elements ? times(count, elementSizeOf(target)) : fixed(0);
  const gaps = { min: Math.max(0, count.min - 1), max: Math.max(0, count.max - 1) };
  const size = args[0] ? add(parts, times(sizeOf(args[0]), gaps)) : parts;
  return { cost: traversal(size), size };
};

const addresses = 4; // Two addresses of 16 bytes, gone over once: ceil(32 / 10).
const parsedText = ({ args }: CallOf): number => (args[0]?.type.kind === 'string' ? traversal(sizeOf(args[0])) : 0);

const setsCost =
  (factor: number): Cost =>
  (call) => ({ cost: capped(argSize(call, 0).max * argSize(call, 1).max * factor + 1) });

const calls: Record<string, Cost | undefined> = {
  startsWith: method((call) => ({ cost: traversal(argSize(call, 0)) })),
  endsWith: method((call) => ({ cost: traversal(argSize(call, 0)) })),
  contains: method((call) => ({ cost: capped(traversal(subject(call)) * traversal(argSize(call, 0))) })),
  matches: method((call) => ({ cost: patterned(call) })),
  find: method((call) => ({ cost: patterned(call), size: { min: 0, max: subject(call).max } })),
  findAll: method((call) => ({ cost: patterned(call), size: { min: 0, max: subject(call).max } })),
  format: method((call) => ({ cost: traversal(subject(call)) })),
  isSorted: compared,
  sum: compared,
  min: compared,
  max: compared,
  indexOf: compared,
  lastIndexOf: compared,
  url: rewritten,
  lowerAscii: method(rewritten),
  upperAscii: method(rewritten),
  substring: method(rewritten),
  trim: method(rewritten),
  replace: method((call) => (call.args.length >= 2 ? replaced(call) : undefined)),
  split: method(split),
  join: joined,
  cidr: once,
  isIP: once,
  isCIDR: once,
  ip: (call) => (call.target ? { cost: 1 } : once(call)),
  'ip.isCanonical': (call) => ({ cost: traversal(subject(call), 0.2) }),
  containsIP: (call) => ({ cost: addresses + parsedText(call) }),
  containsCIDR: (call) => ({ cost: addresses + 2 + 1 + parsedText(call) }),
  quantity: once,
  isQuantity: once,
  semver: once,
  isSemver: once,
  validate: (call) => ({ cost: traversal(fixed(traversal(argSize(call, 0))), 32) }),
  bytes: (call) => {
    const { min, max } = subject(call);
    return isOf(call, 'string') ? { cost: traversal({ min, max }), size: { min, max: capped(max * 4) } } : undefined;
  },
  string: (call) => {
    const { min, max } = subject(call);
    return isOf(call, 'bytes') ? { cost: traversal({ min, max }), size: { min: min / 4, max } } : undefined;
  },
  'strings.quote': (call) => {
    const { min, max } = subject(call);
    return { cost: traversal({ min, max }), size: { min: min + 2, max: capped(max * 2 + 2) } };
  },
  'sets.contains': setsCost(1),
  'sets.intersects': setsCost(1),
  'sets.equivalent': setsCost(2),
};

const isOf = ({ args }: CallOf, kind: string): boolean => args[0]?.type.kind === kind;

const scalars = new Set<Type['kind']>(['bool', 'int', 'double', 'duration', 'timestamp']);
const results: Record<string, Type['kind'] | undefined> = Object.fromEntries(
  Object.entries({
    string:
      'string lowerAscii upperAscii substring trim replace join charAt format find strings.quote getScheme getHostname getHost getPort getEscapedPath',
    bytes: 'bytes',
    bool: 'bool contains startsWith endsWith matches isSorted isIP isCIDR isQuantity isSemver isURL ip.isCanonical hasValue containsIP containsCIDR isGreaterThan isLessThan isInteger isUnspecified isLoopback isGlobalUnicast isLinkLocalUnicast isLinkLocalMulticast sets.contains sets.intersects sets.equivalent',
    int: 'int uint size indexOf lastIndexOf asInteger sign compareTo prefixLength family getFullYear getMonth getDayOfMonth getDayOfWeek getDayOfYear getDate getHours getMinutes getSeconds getMilliseconds',
    double: 'double asApproximateFloat',
    duration: 'duration',
    timestamp: 'timestamp',
    list: 'split findAll',
    map: 'getQuery',
    optional: 'optional.of optional.ofNonZeroValue optional.none or',
    other: 'url cidr quantity ip masked semver add sub',
  }).flatMap(([kind, names]) => names.split(' ').map((name) => [name, kind as Type['kind']])),
);

function typeOf({ name, target, args }: CallOf): Type {
  if (name === 'value' || name === 'orValue') return target?.type.elements ?? { kind: 'dyn' };
  if (name === 'sum' || name === 'min' || name === 'max') return target?.type.elements ?? { kind: 'dyn' };
  if (name.startsWith('optional.of')) return { kind: 'optional', ...(args[0] ? { elements: args[0].type } : {}) };
  const kind = Object.hasOwn(results, name) ? results[name] : undefined;
  if (kind === 'list') return { kind, elements: { kind: 'string' } };
  return { kind: kind ?? 'dyn' };
}
