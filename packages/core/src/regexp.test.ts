import { expect, test } from 'vitest';
import { portable } from './regexp.ts';

function source(text: string): string {
  const found = portable(text);
  if (!found.ok) throw new Error(found.problem.message);
  return found.value.source;
}

test.each([
  ['^/v[0-9]+/', String.raw`^\/v[0-9]+\/`],
  [String.raw`^(?:[0-9]{1,3}\.){3}\d+$`, String.raw`^(?:[0-9]{1,3}\.){3}[0-9]+$`],
  [String.raw`\w\W`, '[0-9A-Z_a-z][^0-9A-Z_a-z]'],
  ['(GET|POST) x?', '(?:GET|POST) x?'],
  ['a|b|(c|d)', 'a|b|c|d'],
  [String.raw`[a\-z\]\[^]`, String.raw`[a\-z\]\[\^]`],
  ['^(?:/[a-z]+)*$', String.raw`^(?:\/[a-z]+)*$`],
])('%s is taken and written as %s, which both languages read alike', (text, want) => {
  expect(source(text)).toBe(want);
});

test.each([
  ['(a', 'at character 1: this "(" is not closed'],
  ['a)', 'at character 2: a ")" without its "("'],
  ['a||b', 'at character 3: nothing stands here'],
  ['*a', 'at character 1: "*" has nothing to repeat'],
  ['a**', 'a repetition of a repetition'],
  ['a+?', 'a repetition of a repetition, or a lazy one'],
  ['^*', '"^" cannot be repeated'],
  ['a{3,2}', 'at character 2: the first count is above the second'],
  ['a{300}', 'counts go up to 255'],
  ['a{x', String.raw`write \{ for the character`],
  ['}', String.raw`write \} for the character`],
  ['[a', 'this "[" is not closed'],
  ['[]', 'an empty set'],
  ['[z-a]', 'this range goes backwards'],
  ['[a-\\d]', 'a range ends in a character'],
  ['[[:alpha:]]', '[:name:] is not taken'],
  [String.raw`(a)\1`, String.raw`"\1" is not one of`],
  [String.raw`\bfoo`, String.raw`"\b" is not one of`],
  ['(?=a)', 'only "(?:" means the same in Tcl'],
  ['(?i)a', 'only "(?:" means the same in Tcl'],
  ['tür', 'only printable ASCII'],
  ['a\\', 'is not one of'],
  ['((a{50}){50})', 'more than 1000 characters'],
  ['a*b*c*d*e*f*', '6 unbounded repetitions'],
  ['x'.repeat(257), '256 is the most'],
  ['', 'nothing stands here'],
])('%s is refused: %s', (text, why) => {
  expect(portable(text)).toMatchObject({
    ok: false,
    problem: { code: 'invalid', message: expect.stringContaining(why) },
  });
});

test.each(['(a+)+$', '(a*)*', '(a|a)*', '(a|ab)*x', '(.*,)*x', '(?:a?a)*', '([a-z]+[0-9]?)+$', String.raw`(\w|\d)+`])(
  '%s is refused, for it can match one text in several ways',
  (text) => {
    const found = portable(text);
    expect(found).toMatchObject({ ok: false, problem: { message: expect.stringContaining('in several ways') } });
  },
);

test.each([
  '([a-z]+,)*$',
  String.raw`^([a-z0-9-]+\.)+example\.com$`,
  '(ab|cd)+',
  '(?:/[^/]+)+$',
  '(a+)?',
  '^.*[.]png$',
])('%s is taken, for its repetitions leave no choice', (text) => expect(portable(text).ok).toBe(true));
