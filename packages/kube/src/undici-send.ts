// Sends by undici: a quarter of the memory and two to three times the speed of built-in fetch and of npm's clients.
import { Agent, request } from 'undici';
import type { Send, SendResponse } from './send.ts';
import type { Tls } from './kubeconfig.ts';

export interface UndiciSend {
  send: Send;
  /** Closes idle connections, and the others when they come to rest. */
  close(): Promise<void>;
}

/** Short calls at once per server; more wait. API servers share themselves among clients, and so should we. */
const callConnections = 16;
/** Kept open this long between calls, in milliseconds; API servers close later, so none is closed as we write to it. */
const keepAlive = 60_000;

/**
 * Watches have connections of their own: with those of the calls, enough watches would leave none for calls. Undici's
 * own time limits are off, as the client has its own for both. `pipelining: 1` is one request at a time.
 */
export function undiciSend(tls: Tls = {}): UndiciSend {
  const { ca, cert, key, serverName, insecure } = tls;
  const connect = {
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
    ...(serverName === undefined ? {} : { servername: serverName }),
    rejectUnauthorized: insecure !== true,
    timeout: 10_000,
    keepAlive: true,
    keepAliveInitialDelay: 30_000,
  };
  const shared = { connect, pipelining: 1, keepAliveTimeout: keepAlive, headersTimeout: 0, bodyTimeout: 0 };
  const calls = new Agent({ ...shared, connections: callConnections });
  const streams = new Agent({ ...shared, connections: null });

  const send: Send = async ({ method, url, headers, body, signal, stream }): Promise<SendResponse> => {
    const response = await request(url, {
      dispatcher: stream ? streams : calls,
      method,
      headers,
      body: body ?? null,
      signal: signal ?? null,
    });
    const { statusCode, headers: received, body: answer } = response;
    return {
      status: statusCode,
      headers: { get: (name) => single(received[name.toLowerCase()]) },
      body: answer,
      text: () => answer.text(),
    };
  };
  return { send, close: async () => void (await Promise.all([calls.close(), streams.close()])) };
}

const single = (value: string | string[] | undefined): string | null =>
  value === undefined ? null : Array.isArray(value) ? value.join(', ') : value;
