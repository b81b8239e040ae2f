// Estimates of what an expression costs and how large what it gives may be; none grows beyond what can be counted.
import type { Decl, Kind } from './decl.ts';

export interface Size {
  min: number;
  max: number;
}

export interface Type {
  kind: Kind | 'optional' | 'other' | 'null';
  elements?: Type;
  /** Of an object. */
  fields?: ReadonlyMap<string, Decl>;
}

/** What is known of an expression: how dear it is, and how large what it gives. */
export interface Estimate {
  cost: number;
  type: Type;
  /** Undefined where nobody knows. */
  size: Size | undefined;
  /** Where the schema tells of the value. */
  decl?: Decl | undefined;
  /** Of each element of a list made in the expression, or value of a map. */
  elementSize?: Size | undefined;
}

/** Beyond this there is no counting. */
const top = 2 ** 64;
export const unknownSize: Size = { min: 0, max: top };
export const capped = (value: number): number => Math.min(value, top);
export const add = (a: Size, b: Size): Size => ({ min: capped(a.min + b.min), max: capped(a.max + b.max) });
export const times = (a: Size, b: Size): Size => ({ min: capped(a.min * b.min), max: capped(a.max * b.max) });
export const union = (a: Size, b: Size): Size => ({ min: Math.min(a.min, b.min), max: Math.max(a.max, b.max) });
export const fixed = (value: number): Size => ({ min: value, max: value });
export const sizeOf = ({ size }: Estimate): Size => size ?? unknownSize;
/** The cost of going over a text once. */
export const traversal = (size: Size, factor = 0.1): number => capped(Math.ceil(size.max * factor));
