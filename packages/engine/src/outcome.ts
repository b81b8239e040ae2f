// What is reported of a turn.
import { problems, type Key, type Origin, type Problem } from '@fairlead/core';
import type { CertificateProblems, RuleProblems } from './certificates.ts';

/**
 *   key    | pool   | what it speaks of
 *   -------+--------+----------------------------------------------------------------------------------
 *   absent | absent | the whole object: it cannot be read; or, without a problem, all of it had its turn
 *   given  | absent | one load balancer of the object, or one it wants no longer and that is not gone
 *   given  | given  | one pool: its way to members, or what the place said to them
 */
export interface Outcome {
  /** Who is told; absent when the object is gone, and only the log can say it. */
  origin?: Origin | undefined;
  /** Its name in places, which outlives it. */
  asker?: string | undefined;
  key?: Key | undefined;
  pool?: string | undefined;
  address?: string | undefined;
  problem?: Problem | undefined;
  /** Of a load balancer that stands: by Secret, what is wrong with its certificates. */
  certificates?: CertificateProblems | undefined;
  /** By path, rules of the place that it names and that are not there. */
  rules?: RuleProblems | undefined;
  /** The load balancer is wanted no longer, and stands no longer. */
  gone?: boolean | undefined;
}

/** May a later turn go better though nothing changed? */
export const mayCure = (outcomes: readonly Outcome[]): boolean =>
  outcomes.some(({ problem }) => problem !== undefined && problems[problem.code].retry);
