// CEL of admission: what match conditions and policies may name and of which types, and how their expressions run.
import type { Environment, ParseResult } from '@marcbachmann/cel-js';
import { addAuthorizer, authorizerType } from './authorizer.ts';
import { environmentOf } from './environment.ts';
import { compileProblemOf } from './problem.ts';
import { safeText } from './rules.ts';

/** What an expression may name besides `object`, `oldObject`, `request` and `namespaceObject`. */
export interface Names {
  params: boolean;
  authorizer: boolean;
  /** Types by name of the policy's variables; undefined where there are none to be named. */
  variables?: Readonly<Record<string, string>>;
}

/*
   name             | type
   -----------------+------------------------------------------
   object, params   | whatever they are: known when they are
   request          | of fixed fields; without the objects
   namespaceObject  | of fixed fields
   variables        | each as its expression says
*/
function addTypes(environment: Environment): Environment {
  // Any object may be compared with null.
  const of = (name: string, schema: Record<string, string>): void =>
    void environment
      .registerType({ name: `kubernetes.${name}`, schema })
      .registerOperator(`kubernetes.${name} == null`, () => false);
  of('GroupVersionKind', { group: 'string', version: 'string', kind: 'string' });
  of('GroupVersionResource', { group: 'string', version: 'string', resource: 'string' });
  of('UserInfo', {
    username: 'string',
    uid: 'string',
    groups: 'list<string>',
    extra: 'map<string, list<string>>',
  });
  of('AdmissionRequest', {
    kind: 'kubernetes.GroupVersionKind',
    resource: 'kubernetes.GroupVersionResource',
    subResource: 'string',
    requestKind: 'kubernetes.GroupVersionKind',
    requestResource: 'kubernetes.GroupVersionResource',
    requestSubResource: 'string',
    name: 'string',
    namespace: 'string',
    operation: 'string',
    userInfo: 'kubernetes.UserInfo',
    dryRun: 'bool',
    options: 'dyn',
  });
  const [time, strings, labels] = ['google.protobuf.Timestamp', 'list<string>', 'map<string, string>'];
  const condition = { status: 'string', type: 'string', lastTransitionTime: time, message: 'string', reason: 'string' };
  of('NamespaceCondition', condition);
  of('NamespaceSpec', { finalizers: strings });
  of('NamespaceStatus', { conditions: 'list<kubernetes.NamespaceCondition>', phase: 'string' });
  of('NamespaceMetadata', {
    name: 'string',
    generateName: 'string',
    namespace: 'string',
    labels,
    annotations: labels,
    UID: 'string',
    creationTimestamp: time,
    deletionGracePeriodSeconds: 'int',
    deletionTimestamp: time,
    generation: 'int',
    resourceVersion: 'string',
    finalizers: strings,
  });
  of('Namespace', {
    metadata: 'kubernetes.NamespaceMetadata',
    spec: 'kubernetes.NamespaceSpec',
    status: 'kubernetes.NamespaceStatus',
  });
  return environment
    .registerVariable('request', 'kubernetes.AdmissionRequest')
    .registerVariable('namespaceObject', 'kubernetes.Namespace');
}

const typed = new Map<string, Environment>();

function environmentFor({ params, authorizer, variables }: Names): Environment {
  const key = `${params} ${authorizer}`;
  let found = typed.get(key);
  if (!found) {
    found = environmentOf(['object', 'oldObject', ...(params ? ['params'] : [])]);
    addTypes(found);
    addAuthorizer(found);
    if (authorizer) found.registerVariable('authorizer', authorizerType);
    typed.set(key, found);
  }
  return variables ? found.clone().registerVariable('variables', { schema: { ...variables } }) : found;
}

export type Compiled = { ok: true; type: string } | { ok: false; why: string };

/** What an expression gives, or why it does not compile. */
export function compiled(text: string, names: Names): Compiled {
  const environment = environmentFor(names);
  try {
    const checked = environment.parse(safeText(text, environment)).check();
    if (checked.valid) return { ok: true, type: checked.type ?? 'dyn' };
    return { ok: false, why: `compilation failed: ${compileProblemOf(checked.error, text)}` };
  } catch (error) {
    // The evaluator throws for text that is no expression; the message goes to the author of the expression.
    return { ok: false, why: `compilation failed: ${compileProblemOf(error, text)}` };
  }
}

/** Why an expression cannot be used where one of the types is wanted; undefined when it can. */
export function expressionProblem(text: string, names: Names, ...wanted: string[]): string | undefined {
  const found = compiled(text, names);
  if (!found.ok) return found.why;
  if (wanted.includes(found.type)) return undefined;
  const [first = ''] = wanted;
  const said = wanted.length === 1 ? toldType(first) : `one of [${wanted.map(toldType).join(' ')}]`;
  return `must evaluate to ${said} but got ${toldType(found.type)}`;
}

const told: Record<string, string> = {
  null: 'null_type',
  list: 'list(dyn)',
  map: 'map(dyn, dyn)',
  'google.protobuf.Timestamp': 'timestamp',
  'google.protobuf.Duration': 'duration',
};

/** A type's name as Kubernetes prints it. */
function toldType(type: string): string {
  const parts = /^(\w+)<(.*)>$/.exec(type);
  if (!parts) return told[type] ?? (/^[A-Z]$/.test(type) ? 'dyn' : type);
  const [, name = '', inner = ''] = parts;
  if (name !== 'map') return `${name === 'optional' ? 'optional_type' : name}(${toldType(inner)})`;
  const comma = inner.indexOf(', ');
  return `map(${toldType(inner.slice(0, comma))}, ${toldType(inner.slice(comma + 2))})`;
}

const scalars = /^(bool|bytes|double|int|null|string|uint|google\.protobuf\.(Timestamp|Duration))$/;

/** The type a variable has whose expression is of `type`: objects are seen through no variable. */
export function variableType(type: string): string {
  const parts = /^(list|map)<(?:(\w+), )?(.*)>$/.exec(type);
  if (!parts) return scalars.test(type) ? type : 'dyn';
  const [, name = '', key, inner = ''] = parts;
  return key === undefined
    ? `${name}<${variableType(inner)}>`
    : `${name}<${variableType(key)}, ${variableType(inner)}>`;
}

let running: Environment | undefined;
/** Programs by text; those nobody uses any more are dropped with the rest when there are too many. */
const programs = new Map<string, ParseResult | string>();
const most = 1000;

/** An expression ready to run, or why it does not compile. Types were checked when it was written. */
export function programOf(text: string): ParseResult | string {
  let found = programs.get(text);
  if (found !== undefined) return found;
  found = parsed(text);
  if (programs.size >= most) programs.clear();
  programs.set(text, found);
  return found;
}

function parsed(text: string): ParseResult | string {
  running ??= runningEnvironment();
  try {
    return running.parse(safeText(text, running));
  } catch (error) {
    return `compilation failed: ${compileProblemOf(error, text)}`;
  }
}

function runningEnvironment(): Environment {
  const names = ['object', 'oldObject', 'request', 'namespaceObject', 'params', 'authorizer', 'variables'];
  const environment = environmentOf(names);
  addAuthorizer(environment);
  return environment;
}
