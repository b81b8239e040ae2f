// What a case of the suite is: a rule of Kubernetes, and the requests that show it. Pure words; run.ts sends them.

/** Anything JSON can say. */
export type Json = string | number | boolean | null | Json[] | { [key: string]: Json };
export type Tree = { [key: string]: Json };

/**
 * A request. In its path, headers and body `<ns>` stands for the case's own namespace, `<group>` for an API group of
 * the chapter's own, and `<word>` for what an earlier step kept as `word`.
 */
export interface Ask {
  method: string;
  path: string;
  /** Sent as JSON; a string is sent as it is. */
  body?: Json;
  /** Content type of the body; JSON unless given. */
  type?: string;
  /** What answers are wanted in; JSON unless given. */
  accept?: string;
  /** Who asks: `admin` unless given, or `nobody`, who has no token. */
  as?: string;
  headers?: Record<string, string>;
  /** Not the rule itself: it has to succeed, and its answer is not compared. */
  isArranged?: true;
  /** An arranged step that is wanted to be refused. */
  mayFail?: true;
  /** Parts of the answer that later steps need, by the word they use; see `partOf` for paths. */
  keep?: Record<string, string>;
  /** Asked again until each part has this value; for what a server does in its own time. */
  until?: Record<string, Json>;
  /** Compare these parts of the answer's body only; the whole body otherwise. */
  only?: readonly string[];
  /** Parts of the answer's body that are told as `<as sent>` where they are what is given here, beside what `only` names. */
  sent?: Record<string, Json>;
  /** A list of the answer's body whose order a server leaves to chance: it is sorted before it is compared. */
  unordered?: string;
  /** Compare managedFields too: most rules are not about them. */
  hasManagers?: true;
}

/** A watch: it is opened, `during` is asked one after the other, then events are read. */
export interface Watching {
  watch: string;
  accept?: string;
  during?: Ask[];
  /** How many events to wait for; `end` for all until the server ends the stream. */
  events: number | 'end';
  only?: readonly string[];
}

export type Step = Ask | Watching;

export interface Case {
  /** The rule, as a sentence; no two of the suite are alike. */
  name: string;
  steps: Step[];
  /** Why the embedded server does not have to answer alike; such a case runs on the real one only. */
  realOnly?: string;
}

/** Cases on one subject. `before` runs once for each server; its answers are not compared. */
export interface Chapter {
  name: string;
  /**
   * What of a server its cases count on: `hook`, that it reaches the webhook on this machine; `bare`, that nothing but
   * the API server is there, with our users and ranges. A whole cluster that was given has neither.
   */
  needs?: 'hook' | 'bare';
  before?: Ask[];
  cases: Case[];
}

export const isWatching = (step: Step): step is Watching => 'watch' in step;

type Rest = Omit<Ask, 'method' | 'path' | 'body'>;

export const get = (path: string, rest: Rest = {}): Ask => ({ method: 'GET', path, ...rest });
export const post = (path: string, body: Json, rest: Rest = {}): Ask => ({ method: 'POST', path, body, ...rest });
export const put = (path: string, body: Json, rest: Rest = {}): Ask => ({ method: 'PUT', path, body, ...rest });
export const remove = (path: string, body?: Json, rest: Rest = {}): Ask => ({
  method: 'DELETE',
  path,
  ...(body === undefined ? {} : { body }),
  ...rest,
});

/** The kinds of patch by the last part of their media types. */
export type PatchType = 'json-patch' | 'merge-patch' | 'strategic-merge-patch' | 'apply-patch';

export const patch = (type: PatchType, path: string, body: Json, rest: Rest = {}): Ask => ({
  method: 'PATCH',
  path,
  body,
  type: `application/${type}+${type === 'apply-patch' ? 'yaml' : 'json'}`,
  ...rest,
});

/** Server-side apply by `manager`, which does not insist. */
export const apply = (manager: string, path: string, body: Json, rest: Rest = {}): Ask =>
  patch('apply-patch', `${path}${path.includes('?') ? '&' : '?'}fieldManager=${manager}`, body, rest);

/** A step that is not the rule itself: it has to succeed, and is not compared. */
export const arranged = (ask: Ask, keep: Record<string, string> = {}): Ask => ({ ...ask, keep, isArranged: true });

/** `path` in the case's namespace, in the core group: `core('configmaps/a')`. */
export const core = (path: string): string => `/api/v1/namespaces/<ns>/${path}`;

/** `path` in the case's namespace, in a group: `of('apps/v1', 'deployments/a')`. */
export const of = (groupVersion: string, path: string): string => `/apis/${groupVersion}/namespaces/<ns>/${path}`;

export const apps = (path: string): string => of('apps/v1', path);
