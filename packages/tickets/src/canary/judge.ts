// Is the canary worse than the baseline? Pure arithmetic over what the device counted.
import type { CanaryCounts, CanaryMembers, LbcanarySpec } from '@fairlead/api';

export interface Evidence {
  /** Counted before the first step. */
  baseline: CanaryCounts | undefined;
  /** Counted in the present step; absent while it is on its way to the device. */
  measured: CanaryCounts | undefined;
  members: CanaryMembers | undefined;
  /** Does the device count errors here? For tcp and udp it does not. */
  countsErrors: boolean;
}

export interface Verdict {
  isWorse: boolean;
  /** The figures, in a sentence. */
  message: string;
}

type Limits = Pick<LbcanarySpec, 'maxErrorRatio' | 'minRequests' | 'minAvailable'>;

export function judge(limits: Limits, evidence: Evidence): Verdict {
  const members = judgeMembers(limits, evidence.members);
  const errors = judgeErrors(limits, evidence);
  return {
    isWorse: members.isWorse || errors.isWorse,
    message: [members.message, errors.message].filter((text) => text !== '').join('; '),
  };
}

/** Too few of its members are available, while the others are better off. */
function judgeMembers({ minAvailable }: Limits, members: CanaryMembers | undefined): Verdict {
  if (!members) return { isWorse: false, message: '' };
  const { canaryAvailable, canaryMembers, baselineAvailable, baselineMembers } = members;
  const own = canaryMembers === 0 ? 0 : (100 * canaryAvailable) / canaryMembers;
  const others = baselineMembers === 0 ? 0 : (100 * baselineAvailable) / baselineMembers;
  const isTooFew = canaryAvailable === 0 || own < minAvailable;
  const message = `${canaryAvailable} of ${canaryMembers} members of the canary are available, ${baselineAvailable} of ${baselineMembers} of the baseline`;
  return { isWorse: isTooFew && others > own, message };
}

/**
 * The device counts errors by virtual server, not by pool. So what the baseline would have made by itself is taken off,
 * and the rest is the canary's:
 *
 *   expected = (requests − canary's requests) × errors before ÷ requests before
 *   surplus  = errors − expected, at least 0, at most the canary's requests
 *
 * Chance is given its due: two standard deviations of what was expected, or two errors, are no evidence.
 */
function judgeErrors(limits: Limits, { baseline, measured, countsErrors }: Evidence): Verdict {
  if (!measured || !countsErrors) return { isWorse: false, message: '' };
  const { requests, errors, canaryRequests } = measured;
  const before = ratio(baseline?.errors ?? 0, baseline?.requests ?? 0);
  const expected = Math.max(0, requests - canaryRequests) * before;
  const surplus = Math.min(Math.max(0, errors - expected), canaryRequests);
  const evident = Math.max(0, surplus - 2 * Math.sqrt(Math.max(expected, 1)));
  const message = `about ${Math.round(surplus)} of ${canaryRequests} requests to the canary failed (${percent(ratio(surplus, canaryRequests))}), before it ${percent(before)} of all`;
  const isEnough = canaryRequests >= Math.max(limits.minRequests, 1);
  return { isWorse: isEnough && ratio(evident, canaryRequests) - before > limits.maxErrorRatio / 100, message };
}

const ratio = (part: number, whole: number): number => (whole === 0 ? 0 : part / whole);

const percent = (share: number): string => `${(100 * share).toFixed(1)} %`;
