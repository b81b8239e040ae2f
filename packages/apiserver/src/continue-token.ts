// Where a list goes on: the revision of its first page and the last key said, as an opaque text.
import { parseJsonBytes } from './json.ts';
import { isTree } from './object.ts';
import { badRequest, ok, refuse, type Result } from './status.ts';

const version = 'meta.k8s.io/v1';

/** Keys are told from `prefix` on: a token names nothing outside what was listed. */
export const continueAfter = (key: string, prefix: string, revision: number): string =>
  Buffer.from(JSON.stringify({ v: version, rv: revision, start: `${key.slice(prefix.length)}\0` })).toString(
    'base64url',
  );

export interface ContinueToken {
  /** Negative for the newest there is. */
  revision: number;
  /** The list goes on with the first key after it. */
  after: string;
}

/** The token in `text`, for a list of the keys under `prefix`; undefined where there is none. */
export function tokenOf(text: string, prefix: string): Result<ContinueToken | undefined> {
  if (text === '') return ok(undefined);
  const stray = /[^A-Za-z0-9_-]/.exec(text);
  if (stray || text.length % 4 === 1)
    return invalid(`: illegal base64 data at input byte ${stray?.index ?? text.length - 1}`);
  const parsed = parseJsonBytes(Buffer.from(text, 'base64url'));
  if (!parsed.ok) return invalid(`: ${parsed.message}`);
  const { v = '', rv = 0, start = '' } = isTree(parsed.value) ? parsed.value : {};
  if (v !== version) return invalid(`: server does not recognize this encoded version ${String(v)}`);
  if (typeof rv !== 'number' || rv === 0)
    return invalid(`: incorrect encoded start resourceVersion (version ${version})`);
  if (typeof start !== 'string' || start === '') return invalid(`: encoded start key empty (version ${version})`);
  if (!isClean(start)) return invalid(`: ${start}`);
  return ok({ revision: rv, after: `${prefix}${start.replace(/^\//, '').replace(/\0$/, '')}` });
}

const invalid = (why: string) => refuse(badRequest(`invalid continue token: continue key is not valid${why}`));

/** A key that climbs, or that could be written shorter, is nobody's. */
const isClean = (start: string): boolean =>
  start
    .replace(/^\//, '')
    .split('/')
    .every((step) => step !== '' && step !== '.' && step !== '..');
