// Match conditions: expressions in CEL over a review's request that must all hold for a webhook or a policy to be asked.
import type { Cluster } from '../cluster.ts';
import { decide } from '../access/authorize.ts';
import { expressionProblem, programOf } from '../cel/admission.ts';
import { Authorizer } from '../cel/authorizer.ts';
import { evaluationProblem } from '../cel/problem.ts';
import { celValue } from '../cel/values.ts';
import type { Tree } from '../object.ts';
import type { Call } from '../request.ts';
import { anything } from '../schema/schema.ts';
import { namespaceAsked, type Attributes } from './attributes.ts';

export interface Condition {
  name: string;
  expression: string;
}

export type Verdict = { sort: 'yes' } | { sort: 'no' } | { sort: 'broken'; why: string };

/** Why an expression cannot be a match condition; undefined when it can. Those of a policy may have parameters. */
export const conditionProblem = (expression: string, params = false): string | undefined =>
  expressionProblem(expression, { params, authorizer: true }, 'bool');

/** What is written, as expressions name it: `request` is an AdmissionReview's. */
export function namesOf(cluster: Cluster, call: Call, asked: Attributes, request: Tree): Tree {
  const { group, resource } = asked.resource;
  const { subresource } = call.target;
  const about = { group, resource, subresource, namespace: namespaceAsked(asked), name: asked.name };
  const authorizer = new Authorizer(
    (action, account) => decide(cluster, account ? accountOf(account) : call.user, action),
    about,
  );
  const { object, oldObject, uid: _, ...rest } = request;
  return {
    object: valueOf(object),
    oldObject: valueOf(oldObject),
    request: valueOf(rest),
    namespaceObject: null,
    authorizer,
  };
}

const accountOf = ({ namespace, name }: { namespace: string; name: string }) => ({
  username: `system:serviceaccount:${namespace}:${name}`,
  groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`],
});

/** A value of any shape as CEL sees it; what is not there is null. */
export const valueOf = (value: unknown): unknown => celValue(value ?? null, anything);

/** One that is false decides, even when another cannot be told. */
export function conditionsHold(conditions: Condition[], names: Tree): Verdict {
  if (conditions.length === 0) return { sort: 'yes' };
  const verdicts = conditions.map(({ expression }): Verdict => {
    const result = evaluated(expression, names);
    if (!result.ok) return { sort: 'broken', why: result.why };
    return { sort: result.value === true ? 'yes' : 'no' };
  });
  if (verdicts.some(({ sort }) => sort === 'no')) return { sort: 'no' };
  const why = [...new Set(verdicts.flatMap((one) => (one.sort === 'broken' ? [one.why] : [])))];
  if (why.length === 0) return { sort: 'yes' };
  return { sort: 'broken', why: why.length === 1 ? (why[0] ?? '') : `[${why.join(', ')}]` };
}

export type Evaluated = { ok: true; value: unknown } | { ok: false; why: string };

/** What an expression gives, or the words for its failure. */
export function evaluated(expression: string, names: Tree): Evaluated {
  const run = programOf(expression);
  if (typeof run === 'string') return { ok: false, why: `compilation error: ${run}` };
  try {
    const value: unknown = run(names);
    return { ok: true, value };
  } catch (error) {
    return { ok: false, why: `expression '${expression}' resulted in error: ${evaluationProblem(error)}` };
  }
}
