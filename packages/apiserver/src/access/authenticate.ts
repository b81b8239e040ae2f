// Who asks: a client certificate, a token from the list, or a service account's token; nobody in particular without any of them.
import type { UserInfo } from '../cluster.ts';
import type { AccountTokens } from './account-tokens.ts';
import type { ClientCertificates } from './client-certificates.ts';

export interface Token {
  token: string;
  user: string;
  groups: string[];
}

/** The connection a request came by, as far as the server needs to know it. */
export interface Peer {
  /** The client's certificate, DER, when it showed one and proved (in the TLS handshake) to have its key. */
  certificate?: Uint8Array;
}

export interface Authenticators {
  tokens: readonly Token[];
  accounts: AccountTokens;
  certificates: ClientCertificates | undefined;
}

const anonymous: UserInfo = { username: 'system:anonymous', groups: ['system:unauthenticated'] };

/*
   certificate | bearer token | the user is
   ------------+--------------+------------------------------------------
   good        | any          | the certificate's subject
   bad, none   | good         | the token's
   bad, none   | bad          | refused (undefined)
   bad         | none         | refused
   none        | none         | system:anonymous, which RBAC lets see /healthz and /version
*/
export async function authenticate(
  request: Request,
  peer: Peer,
  authenticators: Authenticators,
): Promise<UserInfo | undefined> {
  const { certificates } = authenticators;
  if (peer.certificate && certificates) {
    const user = await certificates.userOf(peer.certificate);
    if (user) return user;
  }
  const token = bearerOf(request);
  if (token !== undefined) return userOfToken(token, authenticators);
  return peer.certificate && certificates ? undefined : { ...anonymous, groups: [...anonymous.groups] };
}

const bearerOf = (request: Request): string | undefined =>
  /^Bearer (.+)$/i.exec(request.headers.get('authorization') ?? '')?.[1]?.trim();

async function userOfToken(token: string, { tokens, accounts }: Authenticators): Promise<UserInfo | undefined> {
  const listed = userOfListed(token, tokens);
  if (listed) return listed;
  const found = await accounts.verify(token);
  return found.ok ? found.user : undefined;
}

/** The user a token of the list belongs to. */
export function userOfListed(token: string, tokens: readonly Token[]): UserInfo | undefined {
  // Compared whole, every time: how long it takes must not tell how much of a guess was right.
  let match: Token | undefined;
  for (const one of tokens) if (isSameText(one.token, token)) match = one;
  return match && { username: match.user, groups: [...match.groups, 'system:authenticated'] };
}

function isSameText(a: string, b: string): boolean {
  let difference = a.length ^ b.length;
  for (let i = 0; i < Math.max(a.length, b.length); i++) difference |= (a.charCodeAt(i) || 0) ^ (b.charCodeAt(i) || 0);
  return difference === 0;
}
