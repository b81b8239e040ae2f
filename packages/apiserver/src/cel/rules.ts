// `x-kubernetes-validations`: compiles rules once, runs them wherever their schema has a value, and words what fails.
import { Optional, type ASTNode, type Environment, type ParseResult } from '@marcbachmann/cel-js';
import { isEqual, isTree, treeOf, type Tree } from '../object.ts';
import { elementKey, partsOf } from '../patch/field-set.ts';
import { recent } from '../recent.ts';
import { reach } from '../schema/reach.ts';
import { fieldSchema, type Schema, type ValidationRule } from '../schema/schema.ts';
import type { Cause } from '../status.ts';
import { ruleEnvironment } from './environment.ts';
import { compileProblemOf, evaluationProblem } from './problem.ts';
import { isNothing, nothing, readsOf, together, type Reads } from './reads.ts';
import { safeMatches } from './text.ts';
import { celParts, textOfParts, type Forms } from './values.ts';

interface Compiled {
  run: ParseResult;
  /** Of messageExpression; a text says why it does not compile, and is not asked then. */
  message: ParseResult | string | undefined;
  /** Uses oldSelf: says something of a change, so it has nothing to say of a new value. */
  isTransition: boolean;
  reads: { self: Reads; oldSelf: Reads };
}

let environment: Environment | undefined;
const compiled = new Map<string, Compiled | string>();

/** Why a rule does not compile; undefined when it does. */
export function ruleProblem(rule: ValidationRule): string | undefined {
  const found = compile(rule);
  return typeof found === 'string' ? found : undefined;
}

/** Why the messageExpression of a rule that compiles cannot be used; undefined when it can. */
export function messageProblem(rule: ValidationRule): string | undefined {
  const found = compile(rule);
  return typeof found !== 'string' && typeof found.message === 'string' ? found.message : undefined;
}

/** Whether a rule that compiles says something of a change. */
export function usesOldSelf(rule: ValidationRule): boolean {
  const found = compile(rule);
  return typeof found !== 'string' && found.isTransition;
}

/** The syntax tree of an expression that compiles, as it is written. */
export const parsedRule = (text: string): ASTNode => (environment ??= ruleEnvironment()).parse(text).ast;

function compile(rule: ValidationRule): Compiled | string {
  const key = `${rule.rule}\n${rule.messageExpression ?? ''}`;
  let found = compiled.get(key);
  if (found === undefined) compiled.set(key, (found = attempt(rule)));
  return found;
}

function messageOf(text: string, env: Environment): ParseResult | string {
  try {
    const run = env.parse(safeText(text, env));
    const checked = run.check();
    if (!checked.valid) return `messageExpression compilation failed: ${compileProblemOf(checked.error, text)}`;
    const isText = checked.type === 'string' || checked.type === 'dyn';
    return isText ? run : 'messageExpression must evaluate to a string';
  } catch (error) {
    return `messageExpression compilation failed: ${compileProblemOf(error, text)}`;
  }
}

function attempt(rule: ValidationRule): Compiled | string {
  environment ??= ruleEnvironment();
  try {
    const run = environment.parse(safeText(rule.rule, environment));
    const checked = run.check();
    if (!checked.valid) return compileProblemOf(checked.error, rule.rule);
    if (checked.type !== 'bool' && checked.type !== 'dyn') return `cel expression must evaluate to a bool`;
    const message = rule.messageExpression ? messageOf(rule.messageExpression, environment) : undefined;
    const isTransition = nodesOf(run.ast).some((node) => node.op === 'id' && node.args === 'oldSelf');
    const of = (variable: string): Reads => {
      const reads = readsOf(run.ast, variable);
      return typeof message === 'function' ? together(reads, readsOf(message.ast, variable)) : reads;
    };
    return { run, message, isTransition, reads: { self: of('self'), oldSelf: of('oldSelf') } };
  } catch (error) {
    // The evaluator throws for text that is no expression; the message goes to the author of the rule.
    return compileProblemOf(error, rule.rule);
  }
}

/** The expression with every call of `matches` made safe, found by its place in the syntax tree and not by its looks. */
export function safeText(text: string, env: Environment): string {
  const places: number[] = [];
  for (const node of nodesOf(env.parse(text).ast)) {
    const after =
      node.op === 'rcall' && node.args[0] === 'matches'
        ? node.args[1].range.end
        : node.op === 'call' && node.args[0] === 'matches'
          ? node.range.start
          : -1;
    if (after >= 0) places.push(text.indexOf('matches', after));
  }
  const withSets = (piece: string) => piece.replace(/\bsets\.(contains|equivalent|intersects)\(/g, 'sets_$1(');
  let out = text;
  for (const at of [...new Set(places)].sort((a, b) => b - a))
    out = out.slice(0, at) + safeMatches + out.slice(at + 'matches'.length);
  return withSets(out);
}

function nodesOf(root: unknown): ASTNode[] {
  const out: ASTNode[] = [];
  const visit = (value: unknown): void => {
    if (Array.isArray(value)) value.forEach(visit);
    else if (typeof value === 'object' && value !== null && 'op' in value && 'args' in value) {
      out.push(value as ASTNode);
      visit(value.args);
    }
  };
  visit(root);
  return out;
}

interface Site {
  value: unknown;
  /** What the value was; undefined where it was not, or nobody can say. Found out only for rules that ask. */
  old: () => unknown;
  schema: Schema;
  path: string;
  check: Check;
}

/** What all sites of one object share. */
interface Check {
  causes: Cause[];
  warn: Warn;
  forms: { now: Forms; old: Forms };
}

type Warn = (text: string) => void;

/**
 * What the rules of `schema`, at every depth, find wrong with `object` (and with its change from `old`). `warn` is told of
 * what was wrong before and has not changed: a rule may have come since, and only rules about the change itself refuse
 * it ("CRD validation ratcheting", Kubernetes 1.33).
 */
export function ruleProblems(object: unknown, old: unknown, schema: Schema, warn: Warn = () => undefined): Cause[] {
  if (!hasRules(schema)) return [];
  const causes: Cause[] = [];
  const forms = { now: new WeakMap(), old: new WeakMap() };
  visit({ value: object, old: () => old, schema, path: '', check: { causes, warn, forms } });
  return causes;
}

/** Whether a schema has a rule anywhere: most have none, and are not walked. */
const hasRules = reach((schema) => (schema['x-kubernetes-validations'] ?? []).length > 0);

function visit(site: Site): void {
  const { value, schema } = site;
  if (value === undefined || value === null) return;
  if ((schema['x-kubernetes-validations'] ?? []).length > 0) runRules(site, programOf(schema));
  if (Array.isArray(value)) visitItems(site, value);
  else if (isTree(value)) visitFields(site, value);
}

function visitFields(site: Site, value: Tree): void {
  for (const name of Object.keys(value)) {
    const schema = fieldSchema(site.schema, name);
    if (!schema || !hasRules(schema)) continue;
    visit({
      value: value[name],
      old: () => treeOf(site.old())[name],
      schema,
      path: site.path === '' ? name : `${site.path}.${name}`,
      check: site.check,
    });
  }
}

/** Elements of a map list are matched with what they were by key; of other lists nobody can say which was which. */
function visitItems(site: Site, value: unknown[]): void {
  const schema = site.schema.items;
  if (!schema || !hasRules(schema)) return;
  const isKeyed = site.schema['x-kubernetes-list-type'] === 'map';
  let before: Map<string, unknown> | undefined;
  const oldOf = (item: unknown): unknown => {
    before ??= new Map(partsOf(site.old(), site.schema)?.map((part) => [part.key, part.value]));
    return before.get(elementKey(item, site.schema));
  };
  for (const [i, item] of value.entries()) {
    const old = isKeyed ? () => oldOf(item) : () => undefined;
    visit({ value: item, old, schema, path: `${site.path}[${i}]`, check: site.check });
  }
}

/** The rules of one schema, and what they read together. */
interface Program {
  rules: { rule: ValidationRule; found: Compiled | string }[];
  reads: Compiled['reads'];
  /** Before the texts of values that pass; undefined where a text does not tell all that matters. */
  mark: string | undefined;
}

const programs = new WeakMap<Schema, Program>();
let marks = 0;

/*
   Values that have passed all rules of their schema: written again, or in another object, they would pass again, and nothing
   would be said of them. Rules about a change are asked each time. A text does not tell -0 from 0, which a double may be.
   What is long is seldom said twice, and to look it up costs as much as a rule.
*/
const passed = recent(5000);
const longestPassed = 200;
const hasDoubles = reach((schema) => schema.type === 'number');

function programOf(schema: Schema): Program {
  let program = programs.get(schema);
  if (!program) {
    const rules = (schema['x-kubernetes-validations'] ?? []).map((rule) => ({ rule, found: compile(rule) }));
    const of = (variable: 'self' | 'oldSelf'): Reads =>
      rules.reduce<Reads>(
        (reads, { found }) => (typeof found === 'string' ? reads : together(reads, found.reads[variable])),
        nothing,
      );
    const reads = { self: of('self'), oldSelf: of('oldSelf') };
    const isPlain = reads.self !== 'all' && isNothing(reads.oldSelf) && !hasDoubles(schema);
    programs.set(schema, (program = { rules, reads, mark: isPlain ? `${++marks} ` : undefined }));
  }
  return program;
}

function runRules(site: Site, program: Program): void {
  const { reads, mark } = program;
  const { schema, path, check } = site;
  const rooted = (one: unknown): unknown => (path === '' ? seen(one) : one);
  const value = rooted(site.value);
  const text = mark === undefined ? '' : mark + textOfParts(value, schema, reads.self);
  const isShort = text !== '' && text.length <= longestPassed;
  if (isShort && passed.has(text)) return;
  const names: Tree = { self: celParts(value, schema, reads.self, check.forms.now) };
  const old = isNothing(reads.oldSelf) ? undefined : site.old();
  if (old !== undefined) names.oldSelf = celParts(rooted(old), schema, reads.oldSelf, check.forms.old);
  const found = program.rules.filter((one) => !passes(site, one, names));
  if (found.length === 0 && isShort) passed.add(text);
}

/** Whether a rule has nothing to say; else it is told, or warned of. */
function passes(site: Site, { rule, found }: Program['rules'][number], names: Tree): boolean {
  const { causes, warn } = site.check;
  if (typeof found === 'string') {
    causes.push(causeOf(site, rule, `rule compile error: ${found}`));
    return false;
  }
  if (found.isTransition && names.oldSelf === undefined && !rule.optionalOldSelf) return true;
  const optional = rule.optionalOldSelf ? { ...names, oldSelf: Optional.of(names.oldSelf) } : names;
  const problem = evaluate(found, rule, optional);
  if (problem === undefined) return true;
  const cause = causeOf(site, rule, problem);
  if (found.isTransition || isNew(site)) causes.push(cause);
  else warn(`${cause.field}: ${cause.message}`);
  return false;
}

/** Whether a value was not there, or was another. */
function isNew(site: Site): boolean {
  const old = site.old();
  return old === undefined || !isEqual(site.value, old);
}

/** Of an object's metadata rules see the names alone: the others are not declared (`decl.ts`). */
function seen(object: unknown): unknown {
  if (!isTree(object) || !isTree(object.metadata)) return object;
  const { name, generateName } = object.metadata;
  const metadata = { ...(name === undefined ? {} : { name }), ...(generateName === undefined ? {} : { generateName }) };
  return { ...object, metadata };
}

function evaluate(found: Compiled, rule: ValidationRule, names: Tree): string | undefined {
  try {
    if (found.run(names) === true) return undefined;
  } catch (error) {
    return `${evaluationProblem(error)} evaluating rule: ${rule.message ?? rule.rule}`;
  }
  return expressed(found, names) ?? rule.message?.trim() ?? `failed rule: ${rule.rule.trim()}`;
}

/** The text of messageExpression; undefined when it has none, fails, or is not one line of text: then `message` speaks. */
function expressed(found: Compiled, names: Tree): string | undefined {
  if (typeof found.message !== 'function') return undefined;
  try {
    const text: unknown = found.message(names);
    return typeof text === 'string' && text.trim() !== '' && !text.includes('\n') ? text.trim() : undefined;
  } catch {
    return undefined;
  }
}

const words: Record<string, (why: string, type: string) => string> = {
  FieldValueRequired: (why) => `Required value: ${why}`,
  FieldValueForbidden: (why) => `Forbidden: ${why}`,
  FieldValueDuplicate: (why, type) => `Duplicate value: "${type}": ${why}`,
  FieldValueInvalid: (why, type) => `Invalid value: "${type}": ${why}`,
};

function causeOf(site: Site, rule: ValidationRule, why: string): Cause {
  const reason = rule.reason && Object.hasOwn(words, rule.reason) ? rule.reason : 'FieldValueInvalid';
  const type = site.schema.type ?? (site.schema['x-kubernetes-int-or-string'] ? 'string' : 'object');
  const word = words[reason] ?? ((text: string) => text);
  return { reason, message: word(why, type), field: `${site.path}${rule.fieldPath ?? ''}`.replace(/^\./, '') };
}
