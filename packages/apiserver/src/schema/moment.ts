// Moments as texts, and what is wrong with one in the words of Go's parser, which tells the part of its layout that did not fit.

const layout = { plain: '2006-01-02T15:04:05Z07:00', micro: '2006-01-02T15:04:05.000000Z07:00' };

const two = /^\d\d/;
const zone: [RegExp, string] = [/^(?:Z|[+-]\d\d:\d\d)/, 'Z07:00'];
const second: [RegExp, string][] = [
  [/^\d{4}/, '2006'],
  [/^-/, '-'],
  [two, '01'],
  [/^-/, '-'],
  [two, '02'],
  [/^T/, 'T'],
  [two, '15'],
  [/^:/, ':'],
  [two, '04'],
  [/^:/, ':'],
  [two, '05'],
];
const parts = {
  // A fraction may follow the seconds though the layout has none.
  plain: [...second, [/^(?:\.\d+)?/, ''], zone],
  micro: [...second, [/^\.\d{6}/, '.000000'], zone],
} satisfies Record<string, [RegExp, string][]>;

/** What most moments look like; days that not all months have are looked at closely. */
const common = /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|1\d|2[0-8])T([01]\d|2[0-3]):[0-5]\d:[0-5]\dZ$/;

/** Why `text` is no moment of RFC 3339, or of it with exactly six digits of a second's fraction; undefined where it is. */
export function momentProblem(text: string, precision: 'plain' | 'micro'): string | undefined {
  if (precision === 'plain' && common.test(text)) return undefined;
  const parsing = `parsing time ${JSON.stringify(text)}`;
  let rest = text;
  for (const [pattern, part] of parts[precision]) {
    const found = pattern.exec(rest);
    if (!found)
      return `${parsing} as "${layout[precision]}": cannot parse ${JSON.stringify(rest)} as ${JSON.stringify(part)}`;
    rest = rest.slice(found[0].length);
  }
  if (rest !== '') return `${parsing}: extra text: ${JSON.stringify(rest)}`;
  const wrong = outOfRange(text);
  return wrong && `${parsing}: ${wrong} out of range`;
}

function outOfRange(text: string): string | undefined {
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, seconds = 0] = text.match(/\d+/g)?.map(Number) ?? [];
  if (month < 1 || month > 12) return 'month';
  if (day < 1 || day > new Date(Date.UTC(year, month, 0)).getUTCDate()) return 'day';
  if (hour > 23) return 'hour';
  if (minute > 59) return 'minute';
  return seconds > 59 ? 'second' : undefined;
}
