// Expected failures as values, and the one table that says which of them a later try may cure.

/**
 * Codes of expected failures. `retry`: may a later try succeed though the user changed nothing?
 * The code is also the `reason` of status conditions.
 */
export const problems = {
  invalid: { retry: false },
  missing: { retry: false },
  exists: { retry: false },
  taken: { retry: false },
  denied: { retry: false },
  exhausted: { retry: false },
  /** A guard of ours (policy, brake) would not let it be done; an operator can. */
  withheld: { retry: false },
  /** A certificate whose time is over; what uses it goes on, for its clients to judge. */
  expired: { retry: false },
  conflict: { retry: true },
  gone: { retry: true },
  busy: { retry: true },
  unreachable: { retry: true },
} as const;

export type ProblemCode = keyof typeof problems;

/** What went wrong, in words that say what was tried and what to do. `path`: the field at fault, as `spec.listners[0].port`. */
export interface Problem {
  code: ProblemCode;
  message: string;
  path?: string | undefined;
}

export type Result<T, P extends Problem = Problem> = { ok: true; value: T } | { ok: false; problem: P };

export const ok = <T>(value: T): { ok: true; value: T } => ({ ok: true, value });

export const fail = (code: ProblemCode, message: string, path?: string): { ok: false; problem: Problem } => ({
  ok: false,
  problem: path === undefined ? { code, message } : { code, message, path },
});
