// Responses: JSON bodies, Status bodies, warning headers.
import type { Status } from './status.ts';
import { TextResponse } from './text-response.ts';

/** A text or a stream is JSON already; anything else is put into it. */
export function json(body: unknown, code = 200, type = 'application/json'): Response {
  const init = { status: code, headers: { 'content-type': type, 'cache-control': 'no-cache, private' } };
  if (body instanceof ReadableStream) return new Response(body, init);
  return new TextResponse(typeof body === 'string' ? body : JSON.stringify(body), init);
}

export function statusResponse(status: Status): Response {
  const response = json(status, status.code);
  const wait = status.details?.retryAfterSeconds;
  if (wait !== undefined) response.headers.set('retry-after', String(wait));
  return response;
}

/** `299 - "text"`, one header per warning; control characters would break the header, so they are dropped. */
export function withWarnings(response: Response, warnings: readonly string[]): Response {
  for (const warning of new Set(warnings)) {
    const text = [...warning.replace(/[\\"]/g, '\\$&')].filter((mark) => mark >= ' ' && mark < '\u007f').join('');
    response.headers.append('warning', `299 - "${text}"`);
  }
  return response;
}

/** What no part of the API is at. */
export const pageNotFound = (): Response =>
  new Response('404 page not found\n', {
    status: 404,
    headers: { 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff' },
  });
