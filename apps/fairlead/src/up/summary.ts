// What `fairlead up` found: the shape of summary.json, and the same for people.
import type { Answers } from './traffic.ts';

/** `summary.json`. Counts are of real answers. */
export interface Summary {
  ok: boolean;
  /** From the first line of `up` to the summary. */
  seconds: number;
  tickets: { name: string; process: string; veip: string; ltmip: string }[];
  split: { outside: Record<string, number>; inside: Record<string, number> };
  tcp: { ok: boolean };
  device: { declarations: number; memberWrites: number };
  urls: Record<string, string>;
  /** Sentences that say what did not hold; empty when all did. */
  failures: string[];
}

/** How far a measured share may be from the weight: at 2,000 answers 5 points are more than four standard deviations. */
const tolerance = 0.05;

/** Sentences for what is wrong with a measured split; `weights` by Service, in any unit. */
export function splitFailures(
  name: string,
  answers: Answers,
  weights: Record<string, number>,
  count: number,
): string[] {
  const failures: string[] = [];
  const answered = Object.values(answers.counts).reduce((a, b) => a + b, 0);
  const sum = Object.values(weights).reduce((a, b) => a + b, 0);
  if (answered < count) {
    const reasons = [...answers.wrong].map(([reason, times]) => `${reason} ×${times}`).join(', ');
    failures.push(`${name}: ${count - answered} of ${count} requests got no answer (${reasons})`);
  }
  for (const service of Object.keys(answers.counts)) {
    if (!(service in weights))
      failures.push(`${name}: ${answers.counts[service]} requests went to ${service}, which has no weight there`);
  }
  for (const [service, weight] of Object.entries(weights)) {
    const share = (answers.counts[service] ?? 0) / Math.max(answered, 1);
    if (Math.abs(share - weight / sum) > tolerance) {
      failures.push(
        `${name}: ${service} got ${percent(share)} of the requests, its weight is ${percent(weight / sum)}`,
      );
    }
  }
  return failures;
}

/** Lines for a person. */
export function summaryLines(summary: Summary): string[] {
  const split = (name: string, counts: Record<string, number>) => {
    const sum = Object.values(counts).reduce((a, b) => a + b, 0);
    const parts = Object.entries(counts).map(([service, n]) => `${service} ${n} (${percent(n / Math.max(sum, 1))})`);
    return `${name.padEnd(18)} ${sum} answers: ${parts.join(', ')}`;
  };
  return [
    ...summary.tickets.map(
      (t) => `${`ticket ${t.name}`.padEnd(18)} ${t.process}, VE VIP ${t.veip}, LTM VIP ${t.ltmip}`,
    ),
    split('outside the rule', summary.split.outside),
    split('inside the rule', summary.split.inside),
    `${'TCP listner'.padEnd(18)} ${summary.tcp.ok ? 'answers' : 'does not answer'}`,
    `${'on the device'.padEnd(18)} ${summary.device.declarations} declarations, ${summary.device.memberWrites} member writes`,
    ...Object.entries(summary.urls).map(([name, url]) => `${name.padEnd(18)} ${url}`),
    ...summary.failures.map((failure) => `FAILED             ${failure}`),
  ];
}

const percent = (share: number) => `${(share * 100).toFixed(1)} %`;
