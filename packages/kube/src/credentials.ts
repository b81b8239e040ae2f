// Turns what a kubeconfig says of certificates and users into TLS texts and headers, kept fresh.
import type { Auth } from './call.ts';
import type { Clock } from './clock.ts';
import { type ExecParts, execToken } from './exec-plugin.ts';
import type { KubeResult } from './kube.ts';
import type { KubeContext, Tls, User } from './kubeconfig.ts';
import { denied, invalid } from './problem.ts';

/** Reads a text file; rejects when it cannot. Relative paths are relative to the kubeconfig. */
export type Read = (path: string) => Promise<string>;

export interface CredentialParts extends ExecParts {
  read: Read;
}

/** Headers, and until when they are good, in milliseconds since the epoch. */
export interface Fresh {
  headers: Record<string, string>;
  until: number;
}

/** A token file is read again after this long: kubelets renew projected tokens well before they end. Milliseconds. */
const tokenFileAge = 60_000;

export async function tlsOf({ cluster, user }: KubeContext, read: Read): Promise<KubeResult<Tls>> {
  const sources = {
    ca: [cluster['certificate-authority-data'], cluster['certificate-authority']],
    cert: [user['client-certificate-data'], user['client-certificate']],
    key: [user['client-key-data'], user['client-key']],
  } as const;
  const tls: Tls = { serverName: cluster['tls-server-name'], insecure: cluster['insecure-skip-tls-verify'] };
  for (const part of ['ca', 'cert', 'key'] as const) {
    const text = await pem(sources[part], read);
    if (!text.ok) return text;
    tls[part] = text.value;
  }
  if (Boolean(tls.cert) !== Boolean(tls.key))
    return invalid('a client certificate needs its key, and a key its certificate');
  return { ok: true, value: tls };
}

/** Inline text wins over a file, as in kubectl. */
async function pem(
  [inline, path]: readonly (string | undefined)[],
  read: Read,
): Promise<KubeResult<string | undefined>> {
  if (inline) return decoded(inline);
  return path ? file(path, read) : { ok: true, value: undefined };
}

/**
 *   the user has       | sent                                       | after a 401
 *   -------------------+--------------------------------------------+----------------------
 *   tokenFile          | its text, read again after a minute        | read again
 *   token              | it                                         | nothing helps
 *   exec               | the plugin's token, until it expires       | the plugin is run again
 *   username, password | basic                                      | nothing helps
 *   none of these      | nothing: the certificate says who we are   | nothing helps
 *   ... and as, as-uid, as-groups, as headers beside it
 */
export function authOf(context: KubeContext, parts: CredentialParts): Auth {
  const { user } = context;
  const { token, tokenFile, exec, username, password } = user;
  const also = impersonation(user);
  const bearer = (token: string) => ({ ...also, authorization: `Bearer ${token}` });
  if (tokenFile) return kept(parts.clock, () => fileToken(tokenFile, parts, bearer));
  if (token) return fixed(bearer(token));
  if (exec)
    return kept(parts.clock, async () => {
      const ran = await execToken(exec, context.cluster, parts);
      return ran.ok ? { ok: true, value: { headers: bearer(ran.value.token), until: ran.value.until } } : ran;
    });
  if (username !== undefined)
    return fixed({ ...also, authorization: `Basic ${base64(`${username}:${password ?? ''}`)}` });
  return fixed(also);
}

const fixed = (headers: Record<string, string>): Auth => ({
  headers: () => Promise.resolve({ ok: true, value: headers }),
  refused: () => false,
});

/** Keeps what `fetch` gives until its time is up or the server refuses it. Callers at one time share one fetch. */
export function kept(clock: Clock, fetch: () => Promise<KubeResult<Fresh>>): Auth {
  let fresh: Fresh | undefined;
  let flight: Promise<KubeResult<Fresh>> | undefined;
  const renew = async () => {
    const got = await fetch().finally(() => (flight = undefined));
    if (got.ok) fresh = got.value;
    return got;
  };
  return {
    async headers() {
      if (fresh && clock.now() < fresh.until) return { ok: true, value: fresh.headers };
      const got = await (flight ??= renew());
      return got.ok ? { ok: true, value: got.value.headers } : got;
    },
    refused(headers) {
      // Others may have renewed it since these were sent; theirs must not be thrown away.
      if (fresh?.headers === headers) fresh = undefined;
      return true;
    },
  };
}

async function fileToken(
  path: string,
  { read, clock }: CredentialParts,
  bearer: (token: string) => Record<string, string>,
): Promise<KubeResult<Fresh>> {
  const text = await file(path, read);
  if (!text.ok) return denied(text.problem.message);
  const token = text.value.trim();
  if (token === '') return denied(`${path} holds no token`);
  return { ok: true, value: { headers: bearer(token), until: clock.now() + tokenFileAge } };
}

function impersonation(user: User): Record<string, string> {
  const group = user['as-groups']?.[0];
  return {
    ...(user.as ? { 'impersonate-user': user.as } : {}),
    ...(user['as-uid'] ? { 'impersonate-uid': user['as-uid'] } : {}),
    ...(group ? { 'impersonate-group': group } : {}),
  };
}

async function file(path: string, read: Read): Promise<KubeResult<string>> {
  try {
    return { ok: true, value: await read(path) };
  } catch (error) {
    return invalid(`cannot read ${path}: ${(error as Error).message}`);
  }
}

function decoded(text: string): KubeResult<string> {
  try {
    return { ok: true, value: atob(text.trim()) };
  } catch {
    return invalid(`a certificate or key of the kubeconfig is not base64`);
  }
}

// By bytes: btoa alone refuses characters beyond Latin-1.
const base64 = (text: string): string => btoa(String.fromCharCode(...new TextEncoder().encode(text)));
