// Certificates of what is wanted: put in from their Secrets for a write, and left as they are in the place without.
import {
  keyPairId,
  type Completed,
  type Item,
  type Key,
  type KeyPair,
  type OpenCertificate,
  type Problem,
  type Provider,
  type Result,
} from '@fairlead/core';
import type { SecretPair, Source } from '@fairlead/sources';
import type { Wish } from './wishes.ts';

/** By name of a Secret, why its certificate is not as it should be. */
export type CertificateProblems = ReadonlyMap<string, Problem>;

/** By path of a rule of the place, why a listener is without it. */
export type RuleProblems = ReadonlyMap<string, Problem>;

export interface Completion {
  wanted: Item<unknown>[];
  problems: ReadonlyMap<Key, { certificates?: CertificateProblems; rules?: RuleProblems }>;
}

export interface CompletionQuestion {
  owner: string;
  provider: Provider;
  sources: Iterable<Source>;
  found: readonly Item<unknown>[];
  /** Milliseconds since the epoch. */
  now: number;
  signal: AbortSignal;
}

/** Sound wishes as items: whole as far as their Secrets are there, with the texts of certificates beside the form. */
export async function completed(wishes: readonly Wish[], question: CompletionQuestion): Promise<Completion> {
  const { owner, provider, found, signal } = question;
  const present = new Map(found.filter((item) => item.owner === owner).map((item) => [item.key, item]));
  const problems = new Map<Key, { certificates?: CertificateProblems; rules?: RuleProblems }>();
  const wanted: Item<unknown>[] = [];
  for (const wish of wishes) {
    const { lb, asker, form } = wish;
    const there = present.get(lb.key);
    const whole = (await provider.complete?.(form, there?.form, signal)) ?? { form, open: [], absent: [] };
    const certificates = problemsOf(wish, whole, question);
    const rules = ruleProblems(whole);
    problems.set(lb.key, { ...(certificates.size > 0 && { certificates }), ...(rules.size > 0 && { rules }) });
    const keyPairs = new Map<string, KeyPair>([...(there?.keyPairs ?? []), ...(wish.keyPairs ?? [])]);
    wanted.push({ key: lb.key, form: whole.form, owner, asker, ...(keyPairs.size > 0 && { keyPairs }) });
  }
  return { wanted, problems };
}

function ruleProblems({ absent }: Completed<unknown>): Map<string, Problem> {
  const told = absent.map(({ rule, kept }): [string, Problem] => {
    const effect = kept
      ? 'until then its listener has the rules it had'
      : 'until then its listener is left off the device';
    const message = `there is no iRule ${rule} on the device: make it there, or do not name it; ${effect}`;
    return [rule, { code: 'missing', message }];
  });
  return new Map(told);
}

/** What `secrets` of `asker` hold now, as a write needs it; asked in one breath with what is wanted. */
export function keyPairsOf(
  source: Source,
  asker: string,
  secrets: Readonly<Record<string, string>> = {},
): Map<string, SecretPair> {
  const pairs = Object.keys(secrets).flatMap((name) => {
    const pair = source.certificate?.(asker, name);
    return pair?.ok ? [[keyPairId(name, pair.value.digest), pair.value] as const] : [];
  });
  return new Map(pairs);
}

function problemsOf(
  { asker, lb, keyPairs }: Wish,
  { open }: Completed<unknown>,
  { sources, now }: CompletionQuestion,
): Map<string, Problem> {
  const problems = new Map<string, Problem>();
  for (const secret of new Set(open.map((one) => one.secret))) {
    const read = readFrom(sources, asker, secret);
    // By now it is there: its source has told, and the next turn finds it.
    if (read?.ok) continue;
    const { code, message } = read?.problem ?? { code: 'missing', message: `nothing is known of Secret ${secret}` };
    problems.set(secret, { code, message: `${message}; ${effectOn(open.filter((one) => one.secret === secret))}` });
  }
  for (const [secret, digest] of Object.entries(lb.secrets ?? {})) {
    const notAfter = keyPairs?.get(keyPairId(secret, digest))?.notAfter ?? Infinity;
    if (notAfter > now) continue;
    const message = `the certificate in Secret ${lb.origin.namespace}/${secret} ended on ${dayOf(notAfter)}: renew it, for clients refuse it`;
    problems.set(secret, { code: 'expired', message });
  }
  return problems;
}

const effectOn = (open: readonly OpenCertificate[]): string =>
  open.every(({ kept }) => kept)
    ? 'until then the device keeps the certificate it has'
    : 'until then what needs it is left off the device, and all else is there';

function readFrom(sources: Iterable<Source>, asker: string, secret: string): Result<SecretPair> | undefined {
  for (const source of sources) {
    const read = source.certificate?.(asker, secret);
    if (read) return read;
  }
  return undefined;
}

const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);
