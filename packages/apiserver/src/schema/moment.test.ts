import { expect, test } from 'vitest';
import { momentProblem } from './moment.ts';

const cases: [rule: string, text: string, precision: 'plain' | 'micro', problem: string | undefined][] = [
  ['a moment is one', '2020-02-29T03:04:05Z', 'plain', undefined],
  ['a fraction may follow', '2020-01-02T03:04:05.5+01:00', 'plain', undefined],
  ['six digits are microseconds', '2020-01-02T03:04:05.000006Z', 'micro', undefined],
  ['no fraction is no microseconds', '2020-01-02T03:04:05Z', 'micro', 'cannot parse "Z" as ".000000"'],
  ['three digits are no microseconds', '2020-01-02T03:04:05.123Z', 'micro', 'cannot parse ".123Z" as ".000000"'],
  ['a word is told from its beginning', 'now', 'plain', 'cannot parse "now" as "2006"'],
  ['a moment without a zone is none', '2020-01-02T03:04:05', 'plain', 'cannot parse "" as "Z07:00"'],
  ['nothing may follow', '2020-01-02T03:04:05Z!', 'plain', 'extra text: "!"'],
  ['a day that is not in the calendar is told', '2021-02-29T03:04:05Z', 'plain', 'day out of range'],
  ['a 13th month is told', '2021-13-01T03:04:05Z', 'plain', 'month out of range'],
];

test.each(cases)('%s', (_rule, text, precision, problem) => {
  const found = momentProblem(text, precision);
  if (problem === undefined) expect(found).toBeUndefined();
  else expect(found).toContain(problem);
});
