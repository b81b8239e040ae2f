// How long the rule on the device becomes (packages/as3/src/irule), without making it: never less than it does, and little more.
import { type Clause, parseCondition } from '@fairlead/core';
import type { Lbrule } from '../lbrule.ts';
import { conditionOf } from './rule-entry.ts';

/** What stands around the rules: events, the pick and its cookie, what is read of each request. */
const frame = 3_200;

/** More plain values of one operator than this go into a data-group. */
const longestInline = 20;

export interface RulePlace {
  /** Characters of the paths of the pools of the listner itself, together. */
  rest: number;
  /** Characters of the paths of the pools of a rule, together. */
  pools(rule: Lbrule): number;
  /** Characters of the path of a data-group of a rule, at most. */
  list(rule: Lbrule): number;
}

/** Characters, at most, of the text that the rules of one listner become. */
export function ruleLength(rules: readonly Lbrule[], { rest, pools, list }: RulePlace): number {
  const keys = new Map<string, number>();
  let sum = frame + rest;
  for (const rule of rules) {
    sum += 68 + rule.metadata.name.length + pools(rule);
    for (const clause of rule.spec.rules.flatMap((entry) => clausesOf(entry))) {
      sum += clauseLength(clause, list(rule));
      if (clause.key !== '') keys.set(`${clause.subject} ${clause.key}`, readingLength(clause));
    }
  }
  for (const length of keys.values()) sum += length;
  return sum;
}

/** What cannot be read is not compiled either, and refused elsewhere. */
function clausesOf(entry: Lbrule['spec']['rules'][number]): Clause[] {
  const clause = parseCondition(conditionOf(entry), '');
  return clause.ok ? [clause.value] : [];
}

const readingLength = ({ subject, key }: Clause): number =>
  subject === 'query' ? 236 + literalLength(key) : 124 + 2 * literalLength(key);

function clauseLength(clause: Clause, list: number): number {
  const match = 44 + list;
  if (clause.subject === 'address') return 16 + match;
  let sum = clause.subject === 'path' ? 16 : 38;
  for (const operator of ['equal', 'prefix'] as const) {
    const texts = clause.checks.flatMap((check) => (check.operator === operator ? [check.text] : []));
    const plain = texts.filter(isPlain);
    const inline = plain.length > longestInline ? texts.filter((text) => !isPlain(text)) : texts;
    for (const text of inline) sum += (operator === 'equal' ? 17 : 42) + literalLength(text);
    if (inline.length < texts.length) sum += match;
  }
  for (const check of clause.checks) {
    if (check.operator === 'regexp') sum += 26 + literalLength(check.pattern.source);
    if (check.operator === 'range') sum += 88 + `${check.least}${check.most}`.length;
  }
  return sum;
}

/** As as3/src/irule/literal.ts writes it: what could mean something to Tcl becomes `\uXXXX`. */
function literalLength(text: string): number {
  const strange = text.replace(/[A-Za-z0-9 _./:,=@%+*?!^()|&~-]/g, '').length;
  return 2 + text.length + 5 * strange;
}

const isPlain = (text: string): boolean => /^[A-Za-z0-9_./:,=@%+*?!()|&~-]+$/.test(text);
