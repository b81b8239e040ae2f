// Whole numbers in a request's texts, refused in the words of Go's parser.
import { badRequest, ok, refuse, type Result } from './status.ts';

const highestSigned = 2n ** 63n - 1n;
const highestUnsigned = 2n ** 64n - 1n;

/** What keeps `text` from being an unsigned number of 64 bits; undefined where it is one. */
export function unsignedProblem(text: string): string | undefined {
  const why = /^\d+$/.test(text)
    ? BigInt(text) > highestUnsigned
      ? 'value out of range'
      : undefined
    : 'invalid syntax';
  return why === undefined ? undefined : `strconv.ParseUint: parsing ${JSON.stringify(text)}: ${why}`;
}

/** A signed number of 64 bits in a query; 0 where it is absent. */
export function integerIn(query: URLSearchParams, name: string): Result<number> {
  const text = query.get(name) ?? '';
  if (text === '') return ok(0);
  const isNumber = /^[-+]?\d+$/.test(text);
  const size = isNumber ? BigInt(text.replace(/^[-+]/, '')) : 0n;
  const isInRange = size <= highestSigned || (size === highestSigned + 1n && text.startsWith('-'));
  if (isNumber && isInRange) return ok(Number(text));
  const why = isNumber ? 'value out of range' : 'invalid syntax';
  return refuse(badRequest(`strconv.ParseInt: parsing ${JSON.stringify(text)}: ${why}`));
}
