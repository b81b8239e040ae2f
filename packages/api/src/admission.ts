// Admission: a request to write one of our objects → allowed or not, in the words the API server uses.
import { type Language, type Refusal, type Words, inLanguage, refusal } from '@fairlead/core';
import { checkLbcanary, checkLbcanaryRemoval } from './checks/lbcanary.ts';
import { checkLbrule, checkLbruleRemoval, lbruleWarnings } from './checks/lbrule.ts';
import { checkLbticket, checkLbticketRemoval, lbticketWarnings } from './checks/lbticket.ts';
import { checkLoadbalancer, checkLoadbalancerRemoval, loadbalancerWarnings } from './checks/loadbalancer.ts';
import { isUntouched } from './checks/structure.ts';
import { type World, nameOf } from './checks/world.ts';
import { filled } from './fill.ts';
import type { KindOf, Resource } from './kind.ts';
import { lbcanaries } from './lbcanary.ts';
import { lbrules } from './lbrule.ts';
import { type Lbticket, lbtickets } from './lbticket.ts';
import { answerSigned, signed } from './signed.ts';
import { loadbalancers } from './loadbalancer.ts';

/** The part of an AdmissionReview's request that decisions are made from. */
export interface Review {
  operation: 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT';
  resource: { group: string; version: string; resource: string };
  subresource?: string | undefined;
  namespace?: string | undefined;
  name?: string | undefined;
  object?: unknown;
  oldObject?: unknown;
  userInfo?: unknown;
}

/** `object`: the object as it is to be stored instead, when admission completed it. */
export type Verdict =
  | { allowed: true; object?: unknown; warnings?: string[] }
  | { allowed: false; status: { code: number; reason: string; message: string; details: { causes: Cause[] } } };

/** One wrong field, as clients list them: kubectl shows these, and not the message, of what is Invalid. */
export interface Cause {
  reason: string;
  message: string;
  field: string;
}

/** How one kind is judged. */
export interface Judge<T> {
  kind: KindOf<T>;
  check(object: T, old: T | undefined, world: World): Refusal[];
  remove(object: T, world: World): Refusal[];
  warn?(object: T, old: T | undefined, world: World): Words[];
  /** What is stored instead of what was sent. */
  complete?(object: T, old: T): T;
  /** Leaves the name of the user on it. */
  sign?(object: T, old: T | undefined, userInfo: unknown): T;
  /** The same in a write of the status, where nothing else of the object can be changed. */
  signStatus?(object: T, old: T, userInfo: unknown): T;
}

/** For each of our kinds, how it is judged. */
export const judges: readonly Judge<Any>[] = [
  { kind: loadbalancers, check: checkLoadbalancer, remove: checkLoadbalancerRemoval, warn: loadbalancerWarnings },
  {
    kind: lbtickets,
    check: checkLbticket,
    remove: checkLbticketRemoval,
    warn: lbticketWarnings,
    complete: keepAddresses,
    sign: signed,
    signStatus: answerSigned,
  },
  { kind: lbrules, check: checkLbrule, remove: checkLbruleRemoval, warn: lbruleWarnings },
  { kind: lbcanaries, check: checkLbcanary, remove: checkLbcanaryRemoval },
];

/**
 * Where the world comes from. A function is asked for each write that needs judging, and may wait until what it reads has
 * caught up: a rule that is filed right after its ticket would else be refused by a cache that has not seen the ticket yet.
 */
export type WorldSource = World | ((review: Review) => World | Promise<World>);

/** Judges writes of `kinds` against the world. Everything else is allowed. */
export function admission(
  source: WorldSource,
  kinds: readonly Judge<Any>[] = judges,
): (review: Review) => Promise<Verdict> {
  return async (review) => {
    const { group, resource } = review.resource;
    const judge = kinds.find(({ kind }) => kind.group === group && kind.plural === resource);
    if (!judge || review.operation === 'CONNECT') return { allowed: true };
    const old = isResource(review.oldObject) ? filled(judge.kind, review.oldObject) : undefined;
    const write = review.operation === 'DELETE' ? undefined : completed(judge, review, old);
    if (write && 'problem' in write) return refused(judge.kind, review.name ?? '', [write.problem]);
    // Status, labels and finalizers are most of all writes, and no reason to ask for the world.
    if (write && (review.subresource === 'status' || isUntouched(write.object, old))) return allowed(write);
    const world = typeof source === 'function' ? await source(review) : source;
    if (write) return judgeWrite(judge, { ...write, old }, world);
    // Without an object there is nothing to remove, which the server says itself.
    if (!old || goesWithNamespace(old, world)) return { allowed: true };
    return refusalOf(judge.kind, old, judge.remove(old, world)) ?? { allowed: true };
  };
}

type Any = Resource<unknown, unknown>;

/** Who deleted the namespace has decided already; a refusal now would only keep it for ever. Finalizers see to what has to be withdrawn. */
const goesWithNamespace = ({ metadata: { namespace } }: Any, world: World): boolean =>
  namespace !== undefined && world.namespaceEnds?.(namespace) === true;

/** What was sent, and as it is to be stored. */
interface Write {
  sent: Any;
  object: Any;
}

function completed(
  judge: Judge<Any>,
  { object, userInfo, subresource }: Review,
  old: Any | undefined,
): Write | { problem: Refusal } {
  if (!isResource(object)) {
    const words = { en: 'must be an object with metadata and spec', zh: '须为包含 metadata 和 spec 的对象' };
    return { problem: refusal('invalid', words, 'spec') };
  }
  const sent = filled(judge.kind, object);
  if (subresource === 'status') {
    return { sent, object: old && judge.signStatus ? judge.signStatus(sent, old, userInfo) : sent };
  }
  const whole = old && judge.complete ? judge.complete(sent, old) : sent;
  return { sent, object: judge.sign ? judge.sign(whole, old, userInfo) : whole };
}

function judgeWrite(judge: Judge<Any>, write: Write & { old: Any | undefined }, world: World): Verdict {
  const { object, old } = write;
  const wrong = refusalOf(judge.kind, object, judge.check(object, old, world));
  return wrong ?? allowed(write, judge.warn?.(object, old, world));
}

const allowed = ({ sent, object }: Write, warnings: Words[] = []): Verdict => ({
  allowed: true,
  ...(object === sent ? {} : { object }),
  ...(warnings.length === 0 ? {} : { warnings: warnings.map(({ en }) => en) }),
});

const isResource = (value: unknown): value is Any => {
  const { metadata, spec } = (value ?? {}) as Partial<Any>;
  return typeof metadata === 'object' && metadata !== null && typeof spec === 'object' && spec !== null;
};

const refusalOf = (kind: KindOf<Any>, object: Any, problems: Refusal[]): Verdict | undefined =>
  problems.length === 0 ? undefined : refused(kind, calledOf(object), problems);

/** Before the API server has made a name of it, what is to become one is all there is. */
const calledOf = (object: Any): string =>
  object.metadata.name ? nameOf(object) : (object.metadata.generateName ?? '');

/** Everything that is wrong with an object, in one line: which object, and for each problem its field, the rule and what to do. */
export function refusalText(
  { kind, name }: { kind: string; name: string },
  problems: readonly Refusal[],
  language: Language,
): string {
  const [colon, semicolon] = language === 'zh' ? [':', ';'] : [': ', '; '];
  const said = problems.map((problem) => {
    const text = inLanguage(problem, language);
    return problem.path ? `${problem.path}${colon}${text}` : text;
  });
  return `${kind} ${name}${colon}${said.join(semicolon)}`;
}

/** Wrong fields are Invalid, as the API server says itself; what is well formed but may not be now is Forbidden. */
export function refused(kind: { kind: string }, name: string, problems: Refusal[]): Verdict {
  const isInvalid = problems.every(({ code }) => code === 'invalid');
  const causes = problems.map(({ path = 'spec', message }) => ({ reason: 'FieldValueInvalid', message, field: path }));
  return {
    allowed: false,
    status: {
      code: isInvalid ? 422 : 403,
      reason: isInvalid ? 'Invalid' : 'Forbidden',
      message: refusalText({ kind: kind.kind, name }, problems, 'en'),
      details: { causes },
    },
  };
}

/**
 * Empty addresses mean "choose for me". A ticket that has been given some keeps them when the user's file, in which they
 * are still empty, is applied again. A failed ticket asks anew by emptying them, any ticket by naming another load balancer.
 */
function keepAddresses(object: Lbticket, old: Lbticket): Lbticket {
  if (old.status?.process === 'failed' || old.spec.loadbalancer !== object.spec.loadbalancer) return object;
  const veip = object.spec.veip || old.spec.veip;
  const ltmip = object.spec.ltmip || old.spec.ltmip;
  if (veip === object.spec.veip && ltmip === object.spec.ltmip) return object;
  return { ...object, spec: { ...object.spec, ...(veip ? { veip } : {}), ...(ltmip ? { ltmip } : {}) } };
}
