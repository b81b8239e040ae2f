// What an expression costs at most, before it ever runs: one unit for each step, as often as the schema lets it be taken.
// The units and the estimates are those of Kubernetes' limits on rules.
import type { ASTNode } from '@marcbachmann/cel-js';
import { callCost } from './cost-calls.ts';
import { declOf, keyDecl, type Decl } from './decl.ts';
import { add, capped, fixed, sizeOf, traversal, union, type Estimate, type Size, type Type } from './estimate.ts';
import { predicateProblem, typeProblem } from './type-problem.ts';
import type { Schema } from '../schema/schema.ts';

/** `self` and `oldSelf`, and the variables of macros. */
interface Variables {
  byName: ReadonlyMap<string, Estimate>;
  /** What is wrong with the types, the first of it first. */
  problems: string[];
}

const listCost = 10;
const mapCost = 30;

export interface Costs {
  /** The most that the expression can cost. */
  cost: number;
  /** Why it cannot be about values of the schema; undefined when it can. */
  problem: string | undefined;
  /** What the expression gives. */
  kind: Type['kind'];
}

/** What there is to say of `root`, an expression over a value of `schema`, before it runs. */
export function costsOf(root: ASTNode, schema: Schema, isOldOptional = false): Costs {
  const decl = declOf(schema);
  if (!decl) return { cost: 0, problem: undefined, kind: 'dyn' };
  const self = fromDecl(decl, 1);
  const old: Estimate = isOldOptional ? { ...self, type: { kind: 'optional', elements: self.type } } : self;
  const variables: Variables = {
    byName: new Map([
      ['self', self],
      ['oldSelf', old],
    ]),
    problems: [],
  };
  const { cost, type } = estimate(root, variables);
  return { cost, problem: variables.problems[0], kind: type.kind };
}

function fromDecl(decl: Decl | undefined, cost: number): Estimate {
  if (!decl) return { cost, type: { kind: 'dyn' }, size: undefined };
  return { cost, type: typeOf(decl), size: { min: 0, max: decl.most }, decl };
}

const typeOf = ({ kind, elements, fields }: Decl): Type => ({
  kind,
  ...(elements ? { elements: typeOf(elements) } : {}),
  ...(fields ? { fields } : {}),
});

/** A value of one number, time or truth. */
const scalar = (kind: Type['kind'], cost: number): Estimate => ({ cost, type: { kind }, size: fixed(1) });

function estimate(node: ASTNode, variables: Variables): Estimate {
  /** The parts of the node, which it may not be fit for. */
  const parts = (...nodes: ASTNode[]): Estimate[] => {
    const found = nodes.map((one) => estimate(one, variables));
    note(variables, typeProblem(node, found));
    return found;
  };
  const [left = none, right = none, third = none] = partsOf(node, parts);
  switch (node.op) {
    case 'value':
      return literal(node.args);
    case 'id':
      return { ...(variables.byName.get(node.args) ?? { type: { kind: 'dyn' }, size: rootSize(variables) }), cost: 1 };
    case '.':
    case '.?':
      return selected(left, node.args[1], node.op === '.?');
    case '[]':
    case '[?]':
      return indexed(left, right, node.op === '[?]');
    case 'list':
      return listOf(parts(...node.args));
    case 'map':
      return mapOf(node.args.map(([key, value]) => [estimate(key, variables), estimate(value, variables)]));
    case '?:':
      return either(left, right, third);
    case '&&':
    case '||':
      return scalar('bool', capped(left.cost + right.cost));
    case '!_':
      return scalar('bool', capped(left.cost + 1));
    case '-_':
      return scalar(left.type.kind, node.args.op === 'value' ? 0 : capped(left.cost + 1));
    case 'call':
      return called(node, variables);
    case 'rcall':
      return methodCalled(node, variables);
    default:
      return operated(node.op, left, right);
  }
}

const none: Estimate = { cost: 0, type: { kind: 'dyn' }, size: undefined };

function note({ problems }: Variables, problem: string | undefined): void {
  if (problem !== undefined) problems.push(problem);
}

/** The operands of an operator; calls, lists and maps look after their own. */
function partsOf(node: ASTNode, parts: (...nodes: ASTNode[]) => Estimate[]): Estimate[] {
  switch (node.op) {
    case 'value':
    case 'id':
    case 'list':
    case 'map':
    case 'call':
    case 'rcall':
      return [];
    case '.':
    case '.?':
      return parts(node.args[0]);
    case '!_':
    case '-_':
      return parts(node.args);
    case '?:':
      return parts(...node.args);
    default:
      return parts(node.args[0], node.args[1]);
  }
}

function literal(value: unknown): Estimate {
  if (typeof value === 'string') return { cost: 0, type: { kind: 'string' }, size: fixed([...value].length) };
  if (value instanceof Uint8Array) return { cost: 0, type: { kind: 'bytes' }, size: fixed(value.length) };
  if (typeof value === 'boolean') return scalar('bool', 0);
  if (value === null) return scalar('null', 0);
  return scalar(typeof value === 'number' ? 'double' : 'int', 0);
}

function selected(owner: Estimate, name: string, isOptional: boolean): Estimate {
  const isCharged = owner.type.kind === 'map' || owner.type.kind === 'object' || isOptional;
  const cost = capped(owner.cost + (isCharged ? 1 : 0));
  const decl = owner.decl?.kind === 'map' ? owner.decl.elements : owner.decl?.fields?.get(name);
  const field = owner.type.fields?.get(name);
  const found = decl || !field ? fromDecl(decl, cost) : { cost, type: typeOf(field), size: undefined };
  return isOptional ? { ...found, type: { kind: 'optional', elements: found.type } } : found;
}

function indexed(owner: Estimate, index: Estimate, isOptional: boolean): Estimate {
  const cost = capped(owner.cost + index.cost + 1);
  const decl = owner.decl?.elements;
  const found: Estimate = decl
    ? fromDecl(decl, cost)
    : { cost, type: owner.type.elements ?? { kind: 'dyn' }, size: owner.elementSize };
  return isOptional ? { ...found, type: { kind: 'optional', elements: found.type } } : found;
}

function listOf(parts: Estimate[]): Estimate {
  const cost = parts.reduce((sum, part) => capped(sum + part.cost), listCost);
  const sizes = parts.map(sizeOf);
  const elementSize = sizes.length === 0 ? fixed(0) : sizes.reduce(union);
  return { cost, type: { kind: 'list', elements: shared(parts) }, size: fixed(parts.length), elementSize };
}

function mapOf(parts: [Estimate, Estimate][]): Estimate {
  const cost = parts.reduce((sum, [key, value]) => capped(sum + key.cost + value.cost), mapCost);
  const sizes = parts.map(([, value]) => sizeOf(value));
  const elementSize = sizes.length === 0 ? fixed(0) : sizes.reduce(union);
  const elements = shared(parts.map(([, value]) => value));
  return { cost, type: { kind: 'map', elements }, size: fixed(parts.length), elementSize };
}

const shared = (parts: Estimate[]): Type => {
  const [first, ...rest] = parts.map(({ type }) => type);
  return first && rest.every(({ kind }) => kind === first.kind) ? first : { kind: 'dyn' };
};

function either(condition: Estimate, yes: Estimate, no: Estimate): Estimate {
  return {
    cost: capped(condition.cost + Math.max(yes.cost, no.cost)),
    type: yes.type.kind === no.type.kind ? yes.type : { kind: 'dyn' },
    size: union(sizeOf(yes), sizeOf(no)),
    elementSize: yes.elementSize && no.elementSize && union(yes.elementSize, no.elementSize),
  };
}

const texts = ['string', 'bytes', 'dyn'];
const ordered = ['<', '<=', '>', '>='];
const mayBe = ({ type }: Estimate, ...kinds: string[]): boolean => kinds.includes(type.kind);

function operated(op: string, left: Estimate, right: Estimate): Estimate {
  const cost = capped(left.cost + right.cost);
  const areTexts = mayBe(left, ...texts) && mayBe(right, ...texts);
  if (op === '+') return added(left, right, cost);
  if (op === 'in') {
    const isList = mayBe(right, 'list', 'dyn');
    return scalar('bool', capped(cost + Math.max(1, isList ? sizeOf(right).max : 0)));
  }
  const smaller = { min: 0, max: Math.min(sizeOf(left).max, sizeOf(right).max) };
  if (op === '==' || op === '!=') return scalar('bool', capped(cost + (isValue(left, right) ? 1 : traversal(smaller))));
  if (ordered.includes(op)) {
    const isSure = areTexts && (left.type.kind !== 'dyn' || right.type.kind !== 'dyn');
    const compared = areTexts ? traversal(smaller) : 1;
    return scalar('bool', capped(cost + (isSure ? compared : Math.max(1, compared))));
  }
  const isSpan = op === '-' && mayBe(left, 'timestamp') && mayBe(right, 'timestamp');
  return scalar(isSpan ? 'duration' : left.type.kind === 'dyn' ? right.type.kind : left.type.kind, capped(cost + 1));
}

/** Addresses, networks, quantities and the like are compared at once. */
const isValue = (left: Estimate, right: Estimate): boolean => left.type.kind === 'other' && right.type.kind === 'other';

function added(left: Estimate, right: Estimate, cost: number): Estimate {
  const size = add(sizeOf(left), sizeOf(right));
  const type = left.type.kind === 'dyn' || mayBe(right, 'timestamp') ? right.type : left.type;
  const elementSize = left.elementSize && right.elementSize && union(left.elementSize, right.elementSize);
  const areTexts = mayBe(left, ...texts) && mayBe(right, ...texts);
  if (!areTexts && !mayBe(left, 'list', 'dyn')) return scalar(type.kind, capped(cost + 1));
  const isSure = type.kind === 'string' || type.kind === 'bytes';
  const joining = areTexts ? (isSure ? traversal(size) : Math.max(1, traversal(size))) : 1;
  return { cost: capped(cost + joining), type, size, elementSize };
}

function called(node: ASTNode & { op: 'call' }, variables: Variables): Estimate {
  const [name, args] = node.args;
  const [first] = args;
  if (name === 'has' && first && (first.op === '.' || first.op === '.?'))
    return scalar('bool', estimate(first.args[0], variables).cost);
  const parts = args.map((arg) => estimate(arg, variables));
  if (name === 'dyn' && parts[0]) return { ...parts[0], type: { kind: 'dyn' }, cost: capped(parts[0].cost + 1) };
  return callCost({ name, target: undefined, args: parts, nodes: args });
}

const namespaces = new Set(['sets', 'optional', 'math', 'ip', 'format', 'strings', 'base64', 'cel', 'lists']);

function methodCalled(node: ASTNode & { op: 'rcall' }, variables: Variables): Estimate {
  const [name, receiver, args] = node.args;
  if (receiver.op === 'id' && namespaces.has(receiver.args) && !variables.byName.has(receiver.args)) {
    if (receiver.args === 'cel' && name === 'bind') return bound(args, variables);
    const parts = args.map((arg) => estimate(arg, variables));
    return callCost({ name: `${receiver.args}.${name}`, target: undefined, args: parts, nodes: args });
  }
  const target = estimate(receiver, variables);
  const [first] = args;
  const body = args.at(-1);
  if (first?.op === 'id' && body && args.length > 1) {
    const found = loop({ node, name, target, variable: first.args, args, body, variables });
    if (found) return found;
  }
  // What is put into a format alone may be of several types.
  const parts = args.map((arg) =>
    name === 'format' && arg.op === 'list'
      ? listOf(arg.args.map((one) => estimate(one, variables)))
      : estimate(arg, variables),
  );
  note(variables, typeProblem(node, [target, ...parts]));
  return callCost({ name, target, args: parts, nodes: args });
}

const within = (variables: Variables, name: string, value: Estimate): Variables => ({
  ...variables,
  byName: new Map(variables.byName).set(name, value),
});

function bound([name, value, body]: ASTNode[], variables: Variables): Estimate {
  if (name?.op !== 'id' || !value || !body) return scalar('dyn', 0);
  const given = estimate(value, variables);
  const result = estimate(body, within(variables, name.args, given));
  return { ...result, cost: capped(listCost + given.cost + result.cost) };
}

interface Loop {
  node: ASTNode & { op: 'rcall' };
  name: string;
  target: Estimate;
  variable: string;
  args: ASTNode[];
  body: ASTNode;
  variables: Variables;
}

/*
   macro        | once           | for each element
   -------------+----------------+-----------------------------------------
   all          | 1              | 3 and the predicate
   exists       | 1              | 4 and the predicate
   exists_one   | 2              | 2 and the predicate
   map          | 11             | 12 and the value, and the filter if any
   filter       | 11             | 13 and the predicate
*/
function loop({ node, name, target, variable, args, body, variables }: Loop): Estimate | undefined {
  const element = elementOf(target, rootSize(variables));
  const scope = within(variables, variable, element);
  const each = estimate(body, scope);
  note(variables, predicateProblem(node, each.type, element.type));
  const count = sizeOf(target);
  const total = (once: number, step: number): number => capped(target.cost + once + count.max * capped(step));
  switch (name) {
    case 'all':
      return scalar('bool', total(1, 3 + each.cost));
    case 'exists':
      return scalar('bool', total(1, 4 + each.cost));
    case 'exists_one':
    case 'existsOne':
      return scalar('bool', total(2, 2 + each.cost));
    case 'filter': {
      const elementSize = union(fixed(0), sizeOf(element));
      const cost = total(listCost + 1, listCost + 3 + each.cost);
      return { cost, type: { kind: 'list', elements: element.type }, size: count, elementSize };
    }
    case 'map': {
      const filter = args.length === 3 && args[1] ? estimate(args[1], scope).cost : 0;
      const cost = total(listCost + 1, listCost + 2 + each.cost + filter);
      const elementSize = union(fixed(0), sizeOf(each));
      return { cost, type: { kind: 'list', elements: each.type }, size: count, elementSize };
    }
    case 'optMap':
    case 'optFlatMap':
      return { ...each, cost: capped(2 * target.cost + listCost + 3 + each.cost), type: { kind: 'optional' } };
    default:
      return undefined;
  }
}

/**
 * What a macro's variable stands for: an element of a list, a key of a map. Those of lists and maps that the expression
 * makes are taken to be as large as `self` is, as the real server takes them.
 */
function elementOf({ type, decl }: Estimate, root: Size): Estimate {
  if (decl && type.kind === 'map') return fromDecl(keyDecl, 1);
  if (decl) return fromDecl(decl.elements, 1);
  const element: Type = type.kind === 'map' ? { kind: 'string' } : (type.elements ?? { kind: 'dyn' });
  return { cost: 1, type: element, size: root };
}

const rootSize = (variables: Variables): Size => sizeOf(variables.byName.get('self') ?? fromDecl(undefined, 1));
