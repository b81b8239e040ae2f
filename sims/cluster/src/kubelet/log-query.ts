// What is asked of a log: the query of the kubelet's containerLogs, checked as the kubelet checks it. Pure.

export interface LogQuery {
  /** Goes on until the container ends. */
  isFollowing: boolean;
  /** The life before the present one. */
  isPrevious: boolean;
  hasTimestamps: boolean;
  /** Nothing older; milliseconds since the epoch. */
  since: number;
  /** So many of the last lines there are at the time of asking. */
  tail: number;
  /** No more bytes than that, though it ends within a line. */
  limit: number;
}

export type Asked = { ok: true; query: LogQuery } | { ok: false; status: 400 | 422; message: string };

/**
 *  parameter            | absent    | refused with 422
 *  ---------------------+-----------+--------------------------------------
 *  follow, previous,    | false     | – (all but false and 0 is true)
 *  timestamps           |           |
 *  tailLines            | all       | below 0
 *  limitBytes           | no limit  | below 1
 *  sinceSeconds         | all       | below 1, or sinceTime is given too
 *  sinceTime (RFC 3339) | all       | see sinceSeconds
 *  stream               | All       | anything else: there is one stream
 *
 * What is no number or no time at all is refused with 400. Empty is absent.
 */
export function logQuery(parameters: URLSearchParams, now: number): Asked {
  const isTrue = (name: string) => parameters.has(name) && !/^(false|0)$/i.test(parameters.get(name)!);
  const [tail, limit, seconds] = ['tailLines', 'limitBytes', 'sinceSeconds'].map((name) => whole(parameters.get(name)));
  const since = timeOf(parameters.get('sinceTime'));
  if ([tail, limit, seconds, since].some(Number.isNaN))
    return { ok: false, status: 400, message: '{"message": "Unable to decode query."}' };
  const isWrong =
    (tail ?? 0) < 0 ||
    (limit ?? 1) < 1 ||
    (seconds ?? 1) < 1 ||
    (seconds !== undefined && since !== undefined) ||
    (parameters.get('stream') || 'All') !== 'All';
  if (isWrong) return { ok: false, status: 422, message: '{"message": "Invalid request."}' };
  return {
    ok: true,
    query: {
      isFollowing: isTrue('follow'),
      isPrevious: isTrue('previous'),
      hasTimestamps: isTrue('timestamps'),
      since: since ?? (seconds === undefined ? Number.NEGATIVE_INFINITY : now - seconds * 1000),
      tail: tail ?? Number.POSITIVE_INFINITY,
      limit: limit ?? Number.POSITIVE_INFINITY,
    },
  };
}

/** Undefined when absent, NaN when it is no whole number. */
function whole(text: string | null): number | undefined {
  if (!text) return undefined;
  return /^[+-]?\d+$/.test(text) ? Number(text) : Number.NaN;
}

function timeOf(text: string | null): number | undefined {
  if (!text) return undefined;
  return /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/.test(text) ? Date.parse(text) : Number.NaN;
}
