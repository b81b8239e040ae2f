// The mark in an application: whose it is, for which load balancer, and from which object. It lies in `constants`, the
// one place where AS3 takes and keeps words of our own without making anything of them.
import { isRecord, type Application } from './application.ts';

export interface Mark {
  owner: string;
  /** Key of the load balancer. */
  key: string;
  /** `cluster/namespace/configmap`. */
  source: string;
}

/** Constants with these names are ours; the first three are the mark, the others what fill() put something else for. */
export const wordsOfOurs = ['label', 'key', 'source', 'pools', 'certificates'] as const;

export function marked(application: Application, { owner, key, source }: Mark): Application {
  return withConstants(application, { label: owner, key, source });
}

/** Undefined when it has none: someone else's. */
export function markOf(application: Application): Mark | undefined {
  const { constants } = application;
  if (!isRecord(constants)) return undefined;
  const { label: owner, key, source } = constants;
  if (typeof owner !== 'string' || typeof key !== 'string' || typeof source !== 'string') return undefined;
  return { owner, key, source };
}

/** As it was compiled, for comparison. */
export const unmarked = (application: Application): Application =>
  withConstants(application, { label: undefined, key: undefined, source: undefined });

/** `application` with `words` among its constants; undefined takes a word away, and constants left empty go. */
export function withConstants(application: Application, words: Record<string, unknown>): Application {
  const { constants, ...rest } = application;
  const given = isRecord(constants) ? constants : {};
  const kept = Object.entries({ ...given, ...words }).filter(
    ([word, value]) => word !== 'class' && value !== undefined,
  );
  if (kept.length === 0) return rest;
  return { ...rest, constants: { class: 'Constants', ...Object.fromEntries(kept) } };
}
