// Who may ask: Basic passwords, and tokens that are made, lengthened, used and dropped.

import { randomBytes } from 'node:crypto';
import type { Clock } from './clock.ts';
import { isObject, type Json } from './rest/body.ts';
import { frameworkError, json } from './rest/reply.ts';

interface Token {
  token: string;
  user: string;
  begun: number;
  /** Seconds. */
  timeout: number;
  lastUse: number;
}

const longest = 36_000;
const tokensPerUser = 100;

export class Auth {
  #users: Map<string, string>;
  #clock: Clock;
  #tokens = new Map<string, Token>();

  constructor(users: Record<string, string>, clock: Clock) {
    this.#users = new Map(Object.entries(users));
    this.#clock = clock;
  }

  /** The refusal of a request that shows neither a password nor a live token; nothing when it may go on. */
  refuse(request: Request): Response | undefined {
    const token = request.headers.get('x-f5-auth-token');
    if (token !== null) {
      const known = this.#live(token);
      if (!known) return frameworkError(401, 'X-F5-Auth-Token does not exist.', request);
      known.lastUse = this.#clock.now();
      return undefined;
    }
    const basic = /^Basic\s+(\S+)$/i.exec(request.headers.get('authorization') ?? '');
    if (!basic)
      return frameworkError(
        401,
        'Authorization failed: no user authentication header or token detected. Uri:' + new URL(request.url).pathname,
        request,
      );
    const [user = '', ...password] = Buffer.from(basic[1] ?? '', 'base64')
      .toString('utf8')
      .split(':');
    if (this.#isRight(user, password.join(':'))) return undefined;
    return frameworkError(401, 'Authentication required!', request);
  }

  /** `/mgmt/shared/authn/login`, which needs no authentication, and `/mgmt/shared/authz/tokens`. */
  async answer(request: Request): Promise<Response | undefined> {
    const { pathname } = new URL(request.url);
    if (pathname === '/mgmt/shared/authn/login' && request.method === 'POST') return this.#login(request);
    const match = /^\/mgmt\/shared\/authz\/tokens\/([^/]+)$/.exec(pathname);
    if (!match) return undefined;
    const refused = this.refuse(request);
    if (refused) return refused;
    const token = this.#live(match[1] ?? '');
    if (!token) return frameworkError(404, `[AuthTokenWorker] token ${match[1] ?? ''} does not exist`, request);
    if (request.method === 'DELETE') this.#tokens.delete(token.token);
    if (request.method === 'PATCH') return this.#lengthen(request, token);
    return json(200, show(token));
  }

  async #login(request: Request): Promise<Response> {
    const body: unknown = await request.json().catch(() => undefined);
    if (!isObject(body)) return frameworkError(400, 'Invalid JSON', request);
    const { username, password } = body;
    if (typeof username !== 'string' || typeof password !== 'string' || !this.#isRight(username, password)) {
      return frameworkError(401, 'Authentication failed.', request);
    }
    const mine = [...this.#tokens.keys()].filter((token) => this.#live(token)?.user === username);
    if (username !== 'admin' && mine.length >= tokensPerUser) {
      return frameworkError(400, `user ${username} has reached maximum active login tokens`, request);
    }
    const now = this.#clock.now();
    const token: Token = {
      token: randomBytes(16).toString('hex').toUpperCase(),
      user: username,
      begun: now,
      timeout: 1200,
      lastUse: now,
    };
    this.#tokens.set(token.token, token);
    return json(200, { username, loginProviderName: body['loginProviderName'] ?? 'tmos', token: show(token) });
  }

  async #lengthen(request: Request, token: Token): Promise<Response> {
    const body: unknown = await request.json().catch(() => undefined);
    const timeout = isObject(body) ? Number(body['timeout']) : Number.NaN;
    if (!Number.isInteger(timeout) || timeout < 1 || timeout > longest) {
      return frameworkError(400, `timeout must be from 1 to ${longest} seconds`, request);
    }
    token.timeout = timeout;
    return json(200, show(token));
  }

  #isRight(user: string, password: string): boolean {
    return this.#users.get(user) === password;
  }

  #live(name: string): Token | undefined {
    const token = this.#tokens.get(name);
    if (!token || this.#clock.now() < token.begun + token.timeout * 1000) return token;
    this.#tokens.delete(name);
    return undefined;
  }
}

function show(token: Token): Json {
  return {
    token: token.token,
    name: token.token,
    userName: token.user,
    authProviderName: 'tmos',
    timeout: token.timeout,
    startTime: new Date(token.begun).toISOString(),
    expirationMicros: (token.begun + token.timeout * 1000) * 1000,
    lastUse: token.lastUse,
    kind: 'shared:authz:tokens:authtokenitemstate',
    selfLink: `https://localhost/mgmt/shared/authz/tokens/${token.token}`,
  };
}
