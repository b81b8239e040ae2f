import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseAddress, parseAddressRange, parseCidr } from './addresses.ts';
import { parseCondition } from './condition.ts';
import type { Operator, Subject } from './load-balancer.ts';
import { portable } from './regexp.ts';
import { fail } from './problem.ts';
import { inEnglish, inLanguage, preferredLanguage, refusal, type Refusal } from './words.ts';

test.each([
  ['nothing', undefined, 'en'],
  ['an empty header', '', 'en'],
  ['Chinese of China', 'zh-CN', 'zh'],
  ['what browsers in China send', 'zh-CN,zh;q=0.9,en;q=0.8', 'zh'],
  ['what browsers in England send', 'en-GB,en;q=0.9,zh;q=0.8', 'en'],
  ['simplified script, in any case', 'ZH-hans-cn', 'zh'],
  ['weights against the order', 'en;q=0.5, zh;q=0.7', 'zh'],
  ['equal weights: the one written first', 'zh, en', 'zh'],
  ['equal weights, the other way round', 'en, zh', 'en'],
  ['a language that is none of ours, then Chinese', 'fr, zh;q=0.1', 'zh'],
  ['none of ours', 'fr, de;q=0.5', 'en'],
  ['any', '*', 'en'],
  ['any but English', 'en;q=0, *', 'zh'],
  ['any but Chinese', 'zh;q=0, *;q=0.5', 'en'],
  ['nothing at all', '*;q=0', 'en'],
  ['another language of the same first letters', 'zha', 'en'],
  ['a weight that is none counts as not sent', 'zh;q=2, en;q=0.1', 'en'],
  ['blanks', ' zh ; q=1.000 ,\ten ; q=0.999 ', 'zh'],
])('Accept-Language: %s', (_, header, want) => {
  expect(preferredLanguage(header)).toBe(want);
});

test('no header is too odd for an answer', () => {
  fc.assert(fc.property(fc.string(), (header) => ['en', 'zh'].includes(preferredLanguage(header))));
});

test('a refusal says the same in both; what others said stays as they said it', () => {
  const own = refusal('invalid', { en: 'not so', zh: '不行' }, 'spec.a');
  expect(own).toEqual({ code: 'invalid', message: 'not so', zh: '不行', path: 'spec.a' });
  expect([inLanguage(own, 'en'), inLanguage(own, 'zh')]).toEqual(['not so', '不行']);
  expect(JSON.stringify(inEnglish(own))).toBe('{"code":"invalid","message":"not so","path":"spec.a"}');
  const { problem } = fail('unreachable', 'POST /x: 503');
  expect(inLanguage(problem, 'zh')).toBe('POST /x: 503');
});

test('a message in one language does not compile', () => {
  // @ts-expect-error zh is missing
  expect(refusal('invalid', { en: 'not so' }).zh).toBeUndefined();
});

/** What was typed and all figures stand in both, and the Chinese one is Chinese. */
function isSaidInBoth({ message, zh }: Refusal, typed: string): boolean {
  const rest = typed === '' ? message : message.replaceAll(`"${typed}"`, '');
  const figures = rest.match(/\d+/g) ?? [];
  return /\p{Script=Han}/u.test(zh) && zh.includes(typed) && figures.every((figure) => zh.includes(figure));
}

// Characters that the parsers know, so that they are refused for every reason there is.
const text = fc.oneof(
  fc.string(),
  fc.string({ unit: fc.constantFrom(...'0123456789./:-'), maxLength: 24 }),
  fc.string({ unit: fc.constantFrom(...'ab1(){}[]|*+?^$\\,.-:d="é'), maxLength: 16 }),
);

test('whatever is typed is refused in both languages', () => {
  const parsers = [parseAddress, parseCidr, parseAddressRange];
  fc.assert(
    fc.property(text, (typed) => {
      for (const parse of parsers) {
        const got = parse(typed);
        // A range is told of the end that is wrong.
        if (!got.ok) expect(isSaidInBoth(got.problem, parse === parseAddressRange ? '' : typed)).toBe(true);
      }
      const got = portable(typed);
      if (!got.ok) expect(isSaidInBoth(got.problem, typed.length > 256 ? '' : typed)).toBe(true);
    }),
    { numRuns: 2000 },
  );
});

test('so is a condition', () => {
  const subject = fc.constantFrom<Subject>('host', 'path', 'header', 'cookie', 'query', 'address');
  const operator = fc.constantFrom<Operator>('equal', 'prefix', 'regexp', 'range');
  fc.assert(
    fc.property(subject, operator, text, fc.constantFrom('', 'x', 'a b', '\n'), (of, how, value, key) => {
      const got = parseCondition({ subject: of, key, tests: [{ operator: how, value }] }, 'c');
      if (!got.ok) expect(isSaidInBoth(got.problem, '')).toBe(true);
    }),
    { numRuns: 2000 },
  );
});
