// Who we are to the device: a token that is renewed before it ends, or Basic credentials on each request.
import { ok, type Clock, type Result } from '@fairlead/core';
import type { Answer, Call, CallRequest } from './call.ts';
import { isJson, textOf } from './json.ts';

export interface Credentials {
  /** Given by somebody: shown as it is, and the others are not used. When it ends, that is theirs to mend. */
  token?: string | undefined;
  user: string;
  password: string;
  /** `token`: one login for 20 minutes. `basic`: for a device that has remote authentication without tokens. Default token. */
  login?: 'token' | 'basic' | undefined;
}

/** Renewed this long before it ends, so that no request is on its way when it does. Milliseconds. */
const margin = 60_000;
/** Seconds, when the device does not say. */
const usualLife = 1_200;

/**
 * `call` with our credentials. With tokens:
 *
 *   (none) --request--> logging in --200--> have one --401--> logging in, once more for that request
 *                         ^   | 401: denied    | a minute before its end
 *                         |   v                |
 *                         '-- all wait --------'
 */
export function loggedIn(call: Call, credentials: Credentials, clock: Clock): Call {
  const { user, password, login = 'token' } = credentials;
  if (credentials.token !== undefined) {
    // A BIG-IP looks at the one, an API in front of it at the other.
    const shown = { 'x-f5-auth-token': credentials.token, authorization: `Bearer ${credentials.token}` };
    return (request, signal) => call(withHeaders(request, shown), signal);
  }
  if (login === 'basic') {
    const authorization = `Basic ${btoa(String.fromCharCode(...new TextEncoder().encode(`${user}:${password}`)))}`;
    return (request, signal) => call(withHeaders(request, { authorization }), signal);
  }
  let token: { text: string; until: number } | undefined;
  let pending: Promise<Result<string>> | undefined;

  const fetchToken = async (signal: AbortSignal): Promise<Result<string>> => {
    const body = { username: user, password, loginProviderName: 'tmos' };
    const answer = await call({ method: 'POST', path: '/mgmt/shared/authn/login', body }, signal);
    if (!answer.ok) return answer;
    const given = isJson(answer.value.body['token']) ? answer.value.body['token'] : {};
    const text = textOf(given['token']);
    if (text === undefined)
      return {
        ok: false,
        problem: { code: 'denied', message: 'POST /mgmt/shared/authn/login: no token in the answer' },
      };
    const life = typeof given['timeout'] === 'number' ? given['timeout'] : usualLife;
    token = { text, until: clock.now() + Math.max(life * 1_000 - margin, life * 500) };
    return ok(text);
  };
  // Many requests at once are one login: devices allow a user a hundred tokens, and then no more.
  const current = async (signal: AbortSignal): Promise<Result<string>> => {
    if (token && clock.now() < token.until) return ok(token.text);
    pending ??= fetchToken(signal).finally(() => (pending = undefined));
    return pending;
  };

  const send = async (
    request: CallRequest,
    signal: AbortSignal,
  ): Promise<{ answer: Result<Answer>; with?: string }> => {
    const text = await current(signal);
    if (!text.ok) return { answer: text };
    return { answer: await call(withHeaders(request, { 'x-f5-auth-token': text.value }), signal), with: text.value };
  };

  return async (request, signal) => {
    const first = await send(request, signal);
    if (first.answer.ok || first.answer.problem.code !== 'denied' || first.with === undefined) return first.answer;
    // The device forgets tokens when it restarts, or when an administrator deletes them.
    if (token?.text === first.with) token = undefined;
    return (await send(request, signal)).answer;
  };
}

const withHeaders = (request: CallRequest, headers: Record<string, string>): CallRequest => ({
  ...request,
  headers: { ...request.headers, ...headers },
});
