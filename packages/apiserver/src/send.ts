// The server's own calls over HTTPS, to webhooks and kubelets: one contract, and the way it is done on Node.
import { isIP } from 'node:net';
import { request as insecure, type IncomingMessage } from 'node:http';
import { request as secure } from 'node:https';

export interface Outgoing {
  method: 'GET' | 'POST';
  url: URL;
  headers?: Record<string, string>;
  body?: string;
  /** Where to connect, when the name in the URL is only the one the certificate is for. */
  connectTo?: { host: string; port: number };
  /** PEM of the authority that signed the other side's certificate; those of the system unless given. */
  ca?: string;
  /** Any certificate will do, as for kubelets, whose certificates nobody signs. */
  isUnverified?: boolean;
  /** Ends the call, and the reading of its answer. */
  signal: AbortSignal;
}

/** Resolves with the answer, of any status, its body still to be read; rejects with a `SendError` when there is none. */
export type Send = (outgoing: Outgoing) => Promise<Response>;

/** A call that got no answer; the message is in the words of Go's HTTP client, which users search for. */
export class SendError extends Error {}

export const send: Send = (outgoing) =>
  new Promise((resolve, reject) => {
    const { url, connectTo, method, headers, body, ca, isUnverified, signal } = outgoing;
    const call = url.protocol === 'https:' ? secure : insecure;
    const request = call({
      method,
      host: connectTo?.host ?? bare(url.hostname),
      port: connectTo?.port ?? Number(url.port || (url.protocol === 'https:' ? 443 : 80)),
      path: url.pathname + url.search,
      headers: {
        host: url.host,
        ...headers,
        ...(body === undefined ? {} : { 'content-length': Buffer.byteLength(body) }),
      },
      // A server name is no address (RFC 6066 §3).
      servername: isIP(bare(url.hostname)) === 0 ? bare(url.hostname) : '',
      rejectUnauthorized: isUnverified !== true,
      signal,
      agent: false,
      ...(ca === undefined ? {} : { ca }),
    });
    request.once('error', (error) =>
      reject(new SendError(`${verb[method]} "${url.href}": ${reasonOf(error, outgoing)}`)),
    );
    request.once('response', (message) => resolve(responseOf(message)));
    request.end(body);
  });

const verb = { GET: 'Get', POST: 'Post' } as const;
const bare = (host: string): string => host.replace(/^\[|\]$/g, '');

function responseOf(message: IncomingMessage): Response {
  const status = message.statusCode ?? 502;
  const hasBody = status !== 204 && status !== 304 && status >= 200;
  if (!hasBody) message.resume();
  const type = message.headers['content-type'];
  return new Response(hasBody ? streamOf(message) : null, {
    status: status < 200 ? 502 : status,
    ...(type === undefined ? {} : { headers: { 'content-type': type } }),
  });
}

/** The answer's body, read only as fast as it is asked for. */
function streamOf(message: IncomingMessage): ReadableStream<Uint8Array> {
  const chunks = message[Symbol.asyncIterator]() as AsyncIterator<Uint8Array>;
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const next = await chunks.next();
        if (next.done) controller.close();
        else controller.enqueue(next.value);
      },
      cancel: () => void message.destroy(),
    },
    { highWaterMark: 0 },
  );
}

const untrusted = 'tls: failed to verify certificate: x509: ';
const reasons: Record<string, (target: string, error: Error) => string> = {
  ABORT_ERR: () => 'context deadline exceeded',
  ECONNREFUSED: (target) => `dial tcp ${target}: connect: connection refused`,
  EHOSTUNREACH: (target) => `dial tcp ${target}: connect: no route to host`,
  ENETUNREACH: (target) => `dial tcp ${target}: connect: network is unreachable`,
  ENOTFOUND: (target) => `dial tcp: lookup ${target.replace(/:\d+$/, '')}: no such host`,
  ECONNRESET: () => 'EOF',
  EPROTO: () => 'http: server gave HTTP response to HTTPS client',
  CERT_HAS_EXPIRED: () => `${untrusted}certificate has expired or is not yet valid`,
  ERR_TLS_CERT_ALTNAME_INVALID: (_, error) => `${untrusted}${error.message}`,
};

function reasonOf(error: Error, { url, connectTo }: Outgoing): string {
  const code = 'code' in error ? String(error.code) : '';
  const target = connectTo
    ? `${connectTo.host}:${connectTo.port}`
    : `${bare(url.hostname)}:${url.port || (url.protocol === 'https:' ? 443 : 80)}`;
  const said = reasons[code];
  if (said) return said(target, error);
  return /CERT|SIGNED|ISSUER/.test(code) ? `${untrusted}certificate signed by unknown authority` : error.message;
}
