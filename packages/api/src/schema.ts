// The vocabulary our kinds are written in: typebox schemas that are also OpenAPI v3, and rules written once for both sides.
import { type Static, type TSchema, type TUnsafe, Type } from 'typebox';

/**
 * One rule in its two forms: CEL for the API server, TypeScript for what runs without one (webhook, browser, command line).
 * A test runs both over the same rows, so that they cannot drift apart.
 */
export interface Rule<T = unknown> {
  /** CEL over `self` and, for rules about change, `oldSelf`. */
  cel: string;
  /** The rule, and what to do about it. */
  message: string;
  /** The same in simplified Chinese. Definitions carry the English alone. */
  zh: string;
  /** The field at fault, relative to where the rule stands, such as `.session`; absent when it is the place itself. */
  field?: string;
  /** Rules about change have nothing to say of new objects. */
  onChange?: true;
  holds(self: T, old: T): boolean;
}

/** Key under which a schema carries its rules; it is not written to a CRD. */
export const rulesKey = 'x-fairlead-rules';

/** `schema` with rules on its value. */
export function ruled<S extends TSchema>(schema: S, ...rules: Rule<Static<S>>[]): S {
  return Object.assign(schema, { [rulesKey]: rules });
}

interface Words {
  title: string;
  description: string;
}

/** A string that also may be null, as in `ltmip:` with nothing after it. */
export const nullable = (words: Words, constraints: object): TUnsafe<string | null> =>
  Type.Unsafe<string | null>({ type: 'string', nullable: true, ...words, ...constraints });

/** One of a few words. A `default` makes it always present in what the API server returns. */
export const choice = <const V extends string[]>(values: readonly [...V], words: Words & { default?: V[number] }) =>
  Type.Enum(values, { type: 'string', ...words });

/** A DNS label: a namespace, a Service. */
export const label = (words: Words) =>
  Type.String({ ...words, minLength: 1, maxLength: 63, pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$' });

/** A DNS subdomain: the name of most objects. */
export const objectName = (words: Words) =>
  Type.String({ ...words, minLength: 1, maxLength: 253, pattern: '^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$' });

/** A name of our own making, such as that of a listner or a cluster. */
export const identifier = (words: Words) =>
  Type.String({ ...words, minLength: 1, maxLength: 63, pattern: '^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$' });

export const port = (words: Words) => Type.Integer({ ...words, format: 'int32', minimum: 1, maximum: 65_535 });

/** A network as `10.0.0.0/24` or `fd00::/64`. */
export const cidr = (words: Words) => Type.String({ ...words, maxLength: 49, format: 'cidr' });

/** A list whose elements are told apart by some of their fields: the API server refuses the same key twice. */
export const listMap = <S extends TSchema>(items: S, keys: string[], options: Words & Sizes) =>
  Type.Array(items, { ...options, 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': keys });

/** A list that changes as a whole: order matters, or elements have no key. */
export const atomicList = <S extends TSchema>(items: S, options: Words & Partial<Sizes>) =>
  Type.Array(items, { ...options, 'x-kubernetes-list-type': 'atomic' });

interface Sizes {
  minItems?: number;
  /** Also what bounds the cost of CEL rules inside: the API server multiplies by it. */
  maxItems: number;
}
