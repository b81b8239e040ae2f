// What a rule is made of, read without running it: events, the pools and data-groups it names, and whether it holds
// together at all. AS3 looks at none of this; the device refuses the whole tenant, or runs what follows a stray brace.
import { fail, ok, type Result } from '@fairlead/core';
import { commands, TclFault, unbalanced, type Command, type Word } from './tcl-words.ts';

export interface RuleStructure {
  /** Such as `HTTP_REQUEST`. */
  events: string[];
  /** Names of pools written out, absolute or relative to the rule's folder. */
  pools: string[];
  /** Names of data-groups written out. */
  lists: string[];
}

/** Problems are `invalid` and say the line. */
export function structure(text: string): Result<RuleStructure> {
  if (text.trim() === '') return fail('invalid', 'the rule is empty');
  const stray = unbalanced(text);
  if (stray !== undefined) return fault(text, stray, 'the braces do not balance');
  const found: RuleStructure = { events: [], pools: [], lists: [] };
  try {
    for (const command of commands(text)) topLevel(command, found);
  } catch (error) {
    if (error instanceof TclFault) return fault(text, error.at, error.message);
    throw error;
  }
  const once = (names: string[]) => [...new Set(names)];
  const { events, pools, lists } = found;
  return events.length > 0
    ? ok({ events, pools: once(pools), lists: once(lists) })
    : fail('invalid', 'the rule has no "when EVENT { … }"');
}

const fault = (text: string, at: number, why: string): Result<never> =>
  fail('invalid', `line ${text.slice(0, at).split('\n').length} of the rule: ${why}`);

/** Outside of events stand only these; the device refuses the rest. */
function topLevel({ words, at }: Command, found: RuleStructure): void {
  const [name, event] = words;
  if (name?.text === 'priority' || name?.text === 'timing') return;
  const last = words.at(-1);
  if ((name?.text !== 'when' && name?.text !== 'proc') || last?.kind !== 'braced')
    throw new TclFault(`"${name?.text.slice(0, 40)}" stands outside of "when EVENT { … }"`, at);
  if (name.text === 'when' && event) found.events.push(event.text);
  within(last, found);
}

function within(script: Word, found: RuleStructure): void {
  try {
    for (const command of commands(script.text)) inside(command, found);
  } catch (error) {
    if (error instanceof TclFault) throw new TclFault(error.message, script.at + error.at);
    throw error;
  }
}

function inside({ words, at }: Command, found: RuleStructure): void {
  const [name, first] = words;
  if (name?.text === 'else' || name?.text === 'elseif')
    throw new TclFault(`"${name.text}" has to stand on the line of the brace before it`, at);
  if (name?.text === 'pool' && isWrittenOut(first)) found.pools.push(first.text);
  for (const word of words) found.lists.push(...listNames(word));
  for (const script of scripts(words)) within(script, found);
}

/** The words of a command that are scripts themselves. */
function scripts(words: readonly Word[]): Word[] {
  const braced = (list: readonly (Word | undefined)[]) => list.filter((word) => word?.kind === 'braced') as Word[];
  switch (words[0]?.text) {
    case 'if':
      return braced(words.filter((_, i) => i > 1 && words[i - 1]?.text !== 'elseif'));
    case 'foreach':
    case 'while':
      return braced([words.at(-1)]);
    case 'for':
      return braced([words[1], words[3], words[4]]);
    case 'catch':
      return braced([words[1]]);
    default:
      return [];
  }
}

const isWrittenOut = (word: Word | undefined): word is Word =>
  word !== undefined && word.kind !== 'braced' && /^[A-Za-z0-9_./-]+$/.test(word.text);

function listNames(word: Word): string[] {
  const uses = word.text.matchAll(/\bclass (?:match|search) (?:-\w+ |-- )*\S+ \w+ ([A-Za-z0-9_./-]+)/g);
  return [...uses].map(([, name = '']) => name);
}
