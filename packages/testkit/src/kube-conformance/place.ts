// Where the suite runs: an API server behind a function, and its way of letting time pass.

import type { Chapter } from './case.ts';

export interface Sending {
  method: string;
  headers: Record<string, string>;
  body?: string;
  signal?: AbortSignal;
}

/** The part of a Response that the suite reads; both Node's and undici's have it. */
export interface Answered {
  status: number;
  headers: { get(name: string): string | null };
  text(): Promise<string>;
  body: { getReader(): { read(): Promise<{ done: boolean; value?: Uint8Array }> } } | null;
}

/** An API server. Cases leave no more in it than their namespaces, so a shared one can be given. */
export interface Place {
  /** `path` begins with a slash. Follows no redirects. */
  send(path: string, sending: Sending): Promise<Answered>;
  /** Bearer tokens by user. Who has none is impersonated by `admin`, who may do everything, by token or otherwise. */
  tokens: Readonly<Record<string, string>>;
  /** Which needs of chapters it meets. */
  meets: readonly NonNullable<Chapter['needs']>[];
  /** Lets `ms` pass for the server; early when `signal` aborts. */
  pass(ms: number, signal?: AbortSignal): Promise<void>;
  /** Tells one run on this server from another, where the server outlives the run; part of names, so a DNS label. */
  run: string;
  /** Where the server finds the webhook of hook.ts: its URL, and its authority in base64 of PEM. */
  hook: { url: string; ca: string };
}

export interface EmbeddedServer {
  answer(request: Request): Promise<Response>;
  /** Resolves when the server's own controllers are at rest. */
  idle(): Promise<void>;
}

/** A server in this process, whose clock moves by `advance` only. */
export function embeddedPlace(
  server: EmbeddedServer,
  advance: (ms: number) => Promise<void>,
  { tokens, hook }: Pick<Place, 'tokens' | 'hook'>,
): Place {
  return {
    tokens,
    run: 'run',
    meets: ['hook', 'bare'],
    hook,
    async send(path, sending) {
      const answered = await server.answer(new Request(`http://embedded${path}`, sending));
      // So that what a step set off is over before the next one looks.
      if (!answered.headers.get('transfer-encoding') && !path.includes('watch=')) await server.idle();
      return answered as Answered;
    },
    pass: (ms) => advance(ms),
  };
}
