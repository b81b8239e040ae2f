// The client: each verb of the API as a request, and its answer as a value.
import { type Auth, caller, type Caller } from './call.ts';
import type { Clock } from './clock.ts';
import type { Kube, KubeResult, Trouble } from './kube.ts';
import { list } from './list.ts';
import type { KubeObject } from './object.ts';
import { nonsense } from './problem.ts';
import * as request from './request.ts';
import type { KubeRequest } from './request.ts';
import type { Send } from './send.ts';
import { watch } from './watch.ts';

export interface KubeOptions {
  /** Such as `https://10.0.0.1:6443`; may have a path. */
  server: string;
  send: Send;
  auth?: Auth | undefined;
  clock: Clock;
  /** From 0 up to, not including, 1; spreads retries. */
  random: () => number;
  /** `fairlead` when absent. */
  userAgent?: string | undefined;
  /** Ends all calls when it aborts, with the problem `unreachable`: nothing that was begun is done later. */
  signal?: AbortSignal | undefined;
  /** Told of watch failures that will be tried again, and of listeners that threw. Without it a listener's throw is uncaught. */
  report?: ((trouble: Trouble) => void) | undefined;
}

/** One API server. Calls are tried up to four times where that is safe, each for at most a minute. */
export function kube(options: KubeOptions): Kube {
  const { server, send, auth, clock, random, userAgent = 'fairlead', report = uncaught } = options;
  const calls = endingWith(options.signal, caller({ server, send, auth, clock, random, userAgent }));
  // Learnt from the first watch, for all that follow.
  const watchList = { supported: true };
  const kube: Kube = {
    server,
    get: (kind, at) => object(calls, request.read(kind, at)),
    list: (kind, options = {}) => list(calls, kind, options),
    create: (kind, object_, options = {}) => object(calls, request.create(kind, object_, options)),
    replace: (kind, object_, options = {}) => object(calls, request.replace(kind, object_, options)),
    patch: (kind, at, patch, options = {}) => object(calls, request.patch(kind, at, patch, options)),
    apply: (kind, object_, options) => object(calls, request.apply(kind, object_, options)),
    async remove(kind, at, options = {}) {
      const answer = await sent(calls, request.remove(kind, at, options));
      return answer.ok ? { ok: true, value: undefined } : answer;
    },
    raw: (method, path, body) => sent(calls, request.raw(method, path, body)),
    watch: (kind, options, sink, signal) =>
      watch({ caller: calls, clock, random, report, watchList }, { kind, options, sink }, signal),
  };
  return kube;
}

const endingWith = (end: AbortSignal | undefined, calls: Caller): Caller =>
  end
    ? { ...calls, call: (request, signal) => calls.call(request, signal ? AbortSignal.any([signal, end]) : end) }
    : calls;

const sent = async (calls: Caller, built: KubeResult<KubeRequest>): Promise<KubeResult<unknown>> =>
  built.ok ? calls.call(built.value) : built;

async function object<T extends KubeObject>(calls: Caller, built: KubeResult<KubeRequest>): Promise<KubeResult<T>> {
  if (!built.ok) return built;
  const answer = await calls.call(built.value);
  if (!answer.ok) return answer;
  const value = answer.value as Partial<T> | undefined;
  return typeof value?.metadata === 'object' ? { ok: true, value: value as T } : nonsense(built.value, 'an object');
}

// Nobody asked to be told: then a bug must not pass unseen, and a problem that is tried again may.
function uncaught(trouble: Trouble): void {
  if (!('bug' in trouble)) return;
  queueMicrotask(() => {
    throw trouble.bug;
  });
}
