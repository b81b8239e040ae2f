// A clause as a Tcl expression, with the meaning that core gives it (core/condition.ts).
import { canonicalNumber, type Check, type Clause } from '@fairlead/core';
import type { Classed } from '../application.ts';
import { isPlain, literal } from './literal.ts';
import type { Reading } from './readings.ts';
import { addressList, longestInline, textList } from './value-list.ts';

/** Where the data-groups of a clause go: `path` on the device and `name` in the application, without their ending. */
export interface ListPlace {
  path: string;
  lists: Record<string, Classed>;
  name: string;
}

/** True when any check of the clause is. Long lists are added to `place.lists`. */
export function clauseExpression(clause: Clause, reading: Reading, place: ListPlace): string {
  const alternatives = clause.subject === 'address' ? [within(clause, place)] : checks(clause.checks, reading, place);
  const any = alternatives.length === 1 ? alternatives[0] : `(${alternatives.join(' || ')})`;
  return reading.isThere === undefined ? `${any}` : `(${reading.isThere} && ${any})`;
}

/** A list even for one address: the device's comparison of single addresses does not take both families in all versions. */
function within(clause: Clause, place: ListPlace): string {
  const ranges = clause.checks.flatMap((check) => (check.operator === 'within' ? [check.range] : []));
  return match('$fl_client', 'equals', { place, ending: 'addresses', list: addressList(ranges) });
}

function checks(all: Check[], { variable }: Reading, place: ListPlace): string[] {
  const listed = { equal: listable(all, 'equal'), prefix: listable(all, 'prefix') };
  const inline = all.filter((check) => !isText(check) || !listed[check.operator].includes(check.text));
  const expressions = inline.map((check) => expression(check, variable));
  const { equal, prefix } = listed;
  if (equal.length > 0) expressions.push(match(variable, 'equals', { place, ending: 'values', list: textList(equal) }));
  if (prefix.length > 0)
    expressions.push(match(variable, 'starts_with', { place, ending: 'prefixes', list: textList(prefix) }));
  return expressions;
}

type TextCheck = Extract<Check, { text: string }>;
const isText = (check: Check): check is TextCheck => check.operator === 'equal' || check.operator === 'prefix';

/** The values of `operator` that go into a data-group: the plain ones, when there are many. */
function listable(all: Check[], operator: 'equal' | 'prefix'): string[] {
  const texts = all.filter(isText).filter((check) => check.operator === operator && isPlain(check.text));
  return texts.length > longestInline ? texts.map(({ text }) => text) : [];
}

interface Listed {
  place: ListPlace;
  ending: string;
  list: Classed;
}

function match(item: string, operator: string, { place, ending, list }: Listed): string {
  place.lists[`${place.name}_${ending}`] = list;
  return `[class match -- ${item} ${operator} ${place.path}_${ending}]`;
}

function expression(check: Check, variable: string): string {
  switch (check.operator) {
    case 'equal':
      return `${variable} eq ${literal(check.text)}`;
    case 'prefix':
      // Not `string match`, to which * and ? of the value would be wild.
      return `[string equal -length ${check.text.length} ${literal(check.text)} ${variable}]`;
    case 'regexp':
      return `[regexp -- ${literal(check.pattern.source)} ${variable}]`;
    case 'range':
      // Without the first test Tcl would compare text where one side is no number, and read 0150 as octal.
      return `([regexp {${canonicalNumber.source}} ${variable}] && ${variable} >= ${check.least} && ${variable} <= ${check.most})`;
    case 'within':
      throw new Error('bug: addresses are compared by list');
  }
}
