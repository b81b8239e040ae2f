// Validating admission policies asked about a write that is as it will be kept: what they find, and what becomes of it.
import { programOf } from '../cel/admission.ts';
import { evaluationProblem } from '../cel/problem.ts';
import { splitApiVersion, without, type Tree } from '../object.ts';
import { keyOf } from '../resource.ts';
import { forbidden, ok, refuse, type Result, type Status } from '../status.ts';
import { decode } from '../store.ts';
import { namespaceAsked } from './attributes.ts';
import { conditionsHold, evaluated, namesOf, valueOf, type Evaluated } from './conditions.ts';
import { parametersOf, paramResource } from './parameters.ts';
import { boundPolicies, isJudged, matchedVersion, type Binding, type Policy, type Validation } from './policy.ts';
import { requestOf, type Subject } from './review.ts';

/** Something a policy has against a write. */
interface Finding {
  reason: string;
  why: string;
  /** Refuses whatever its binding says: not a validation's word, but a fault. */
  isFault?: boolean;
}

/** What is written, as expressions name it. */
type Names = () => Promise<Result<Tree>>;

interface Denial extends Finding {
  policy: Policy;
  /** Absent where the policy itself cannot be used. */
  binding?: Binding;
}

/*
   a validation               | bound to Deny | to Warn  | to Audit
   ---------------------------+---------------+----------+---------
   is false                   | refused       | warned   | passes
   fails, failurePolicy Fail  | refused       | warned   | passes
   fails, Ignore              | passes        | passes   | passes

   parameters or audit annotations that cannot be had refuse whatever the binding says, unless the failurePolicy is Ignore
*/
/** Refuses what any policy denies: the first by binding's name. Warnings reach the client either way. */
export async function judgedByPolicies(subject: Subject): Promise<Result<void>> {
  const { cluster, call, asked } = subject;
  const bound = boundPolicies(cluster);
  if (bound.length === 0 || !isJudged(asked)) return ok(undefined);
  // Made once for each version that policies want to see the object in.
  const known = new Map<string, Promise<Result<Tree>>>();
  const names = (version: string): Promise<Result<Tree>> => {
    const found = known.get(version) ?? namesIn(subject, version);
    known.set(version, found);
    return found;
  };
  let first: Denial | undefined;
  for (const { policy, bindings } of bound) {
    const version = matchedVersion(cluster, call, asked, policy.match);
    if (version === undefined) continue;
    for (const denial of await denials(subject, policy, bindings, () => names(version))) first ??= denial;
  }
  return first ? refuse(refusal(subject, first)) : ok(undefined);
}

/** Of a policy that the write is about. */
async function denials(subject: Subject, policy: Policy, bindings: Binding[], names: Names): Promise<Denial[]> {
  const { cluster, call, asked } = subject;
  const { paramKind } = policy;
  if (paramKind && !paramResource(cluster, paramKind)) {
    const { group, version: name } = splitApiVersion(paramKind.apiVersion);
    const at = `${group}/${name}, Kind=${paramKind.kind}`;
    const why = `failed to configure policy: failed to find resource referenced by paramKind: '${at}'`;
    return faults(policy, why).map((fault) => ({ ...fault, policy }));
  }
  const found: Denial[] = [];
  for (const binding of bindings) {
    if (binding.match && matchedVersion(cluster, call, asked, binding.match) === undefined) continue;
    const against = await findingsBy(subject, policy, binding, names);
    for (const finding of against)
      if (isDenied(subject, policy, binding, finding)) found.push({ ...finding, policy, binding });
  }
  return found;
}

/** What a policy finds wrong by the parameters of one of its bindings. */
async function findingsBy(subject: Subject, policy: Policy, binding: Binding, naming: Names): Promise<Finding[]> {
  const { cluster, asked } = subject;
  const broken = (why: string): Finding[] => faults(policy, `failed to configure binding: ${why}`, true);
  const parameters = await parametersOf(cluster, policy, binding.paramRef, namespaceAsked(asked));
  if (!parameters.ok) return broken(parameters.why);
  if (parameters.value.length === 0) return [];
  const names = await naming();
  if (!names.ok) return broken(`failed to convert object version: ${names.status.message}`);
  return parameters.value.flatMap((params) => findings(policy, subject, { ...names.value, params: valueOf(params) }));
}

async function namesIn(subject: Subject, version: string): Promise<Result<Tree>> {
  const request = await requestOf(subject, version);
  return request.ok ? ok(namesOf(subject.cluster, subject.call, subject.asked, request.value)) : request;
}

/** That a policy cannot be used refuses, unless it is to be passed over then. */
const faults = (policy: Policy, why: string, isFault = false): Finding[] =>
  policy.isIgnoredOnFailure ? [] : [{ reason: 'Invalid', why, ...(isFault ? { isFault } : {}) }];

/** Warns where the binding says so. */
function isDenied({ call }: Subject, policy: Policy, binding: Binding, { why, isFault }: Finding): boolean {
  if (isFault) return true;
  if (binding.actions.includes('Warn'))
    call.warnings.push(
      `Validation failed for ValidatingAdmissionPolicy '${policy.name}' with binding '${binding.name}': ${why}`,
    );
  return binding.actions.includes('Deny');
}

/** What a policy finds wrong by one of its parameters. */
function findings(policy: Policy, subject: Subject, names: Tree): Finding[] {
  const holds = conditionsHold(policy.conditions, names);
  if (holds.sort === 'no') return [];
  if (holds.sort === 'broken') return faults(policy, holds.why);
  const all: Tree = { ...names, namespaceObject: valueOf(namespaceOf(subject)) };
  all.variables = variablesOf(policy, all);
  const failed = policy.validations.flatMap((validation) => {
    const result = evaluated(validation.expression, all);
    if (!result.ok) return faults(policy, result.why);
    return result.value === true ? [] : [{ reason: validation.reason, why: messageOf(validation, all) }];
  });
  // What they give goes to an audit log, which this server has none of.
  const unnoted = policy.annotations.flatMap(({ expression }) => {
    const result = evaluated(expression, all);
    return result.ok ? [] : faults(policy, result.why, true);
  });
  return [...failed, ...unnoted];
}

/** The longest text a message expression may give. */
const longest = 5 * 1024;

function messageOf({ expression, message, messageExpression }: Validation, names: Tree): string {
  const told = messageExpression === '' ? undefined : evaluated(messageExpression, names);
  const text = told?.ok && typeof told.value === 'string' ? told.value.trim() : '';
  const isUsable = text !== '' && Buffer.byteLength(text) <= longest && !text.includes('\n');
  return (isUsable ? text : message.trim()) || `failed expression: ${expression.trim()}`;
}

/** Each is evaluated when it is first asked for, and once. */
function variablesOf({ variables }: Policy, names: Tree): Tree {
  const out: Tree = {};
  for (const { name, expression } of variables) {
    let known: Evaluated | undefined;
    const get = (): unknown => {
      known ??= variable(expression, names);
      if (known.ok) return known.value;
      throw new Error(`composited variable ${JSON.stringify(name)} ${known.why}`);
    };
    Object.defineProperty(out, name, { enumerable: true, configurable: true, get });
  }
  return out;
}

function variable(expression: string, names: Tree): Evaluated {
  const run = programOf(expression);
  if (typeof run === 'string') return { ok: false, why: `fails to compile: ${run}` };
  try {
    const value: unknown = run(names);
    return { ok: true, value };
  } catch (error) {
    return { ok: false, why: `fails to evaluate: ${evaluationProblem(error)}` };
  }
}

/** The namespace that the object is in, as expressions see it; undefined for what is in none. */
function namespaceOf({ cluster, asked }: Subject): Tree | undefined {
  const at = { group: '', resource: 'namespaces', isNamespaced: false };
  const entry = asked.resource.isNamespaced ? cluster.store.get(keyOf(at, '', asked.namespace)) : undefined;
  if (!entry) return undefined;
  const { metadata, spec = {}, status = {} } = decode(entry.text);
  return { metadata: without(metadata, 'managedFields', 'ownerReferences'), spec, status };
}

const codes: Record<string, number> = { Forbidden: 403, Unauthorized: 401, RequestEntityTooLarge: 413 };

function refusal({ asked }: Subject, { policy, binding, reason, why }: Denial): Status {
  const by = binding ? `'${policy.name}' with binding '${binding.name}'` : `'${policy.name}'`;
  const message = `ValidatingAdmissionPolicy ${by} denied request: ${why}`;
  const { group, resource } = asked.resource;
  const status = forbidden({ group, resource }, asked.name || 'Unknown', message);
  return { ...status, reason, code: codes[reason] ?? 422, details: { ...status.details, causes: [{ message }] } };
}
