// Reads a kubeconfig: which server, by which certificates, as whom.
import { parse } from 'yaml';
import type { KubeResult } from './kube.ts';
import { invalid } from './problem.ts';

/** PEM texts. */
export interface Tls {
  ca?: string | undefined;
  cert?: string | undefined;
  key?: string | undefined;
  /** The name to expect in the server's certificate, when not that in its address. */
  serverName?: string | undefined;
  /** Takes any certificate. */
  insecure?: boolean | undefined;
}

/** Fields as kubectl writes them. */
export interface Cluster {
  server?: string;
  'certificate-authority'?: string;
  'certificate-authority-data'?: string;
  'tls-server-name'?: string;
  'insecure-skip-tls-verify'?: boolean;
  'proxy-url'?: string;
}

export interface ExecPlugin {
  apiVersion?: string;
  command?: string;
  args?: string[] | null;
  env?: { name: string; value: string }[] | null;
  installHint?: string;
  provideClusterInfo?: boolean;
  interactiveMode?: 'Never' | 'IfAvailable' | 'Always';
}

export interface User {
  'client-certificate'?: string;
  'client-certificate-data'?: string;
  'client-key'?: string;
  'client-key-data'?: string;
  token?: string;
  tokenFile?: string;
  username?: string;
  password?: string;
  exec?: ExecPlugin;
  as?: string;
  'as-uid'?: string;
  'as-groups'?: string[];
  'as-user-extra'?: Record<string, string[]>;
  'auth-provider'?: { name?: string };
}

/** One context, its cluster and user looked up. */
export interface KubeContext {
  name: string;
  cluster: Cluster & { server: string };
  user: User;
  /** `default` when the context names none. */
  namespace: string;
}

export interface Kubeconfig {
  /** Empty when none is set. */
  current: string;
  /** Names, in the file's order. */
  contexts: string[];
  /** The context of this name, or the current one. */
  pick(name?: string): KubeResult<KubeContext>;
}

interface Named {
  name?: string;
}

interface File {
  'current-context'?: string;
  contexts?: (Named & { context?: { cluster?: string; user?: string; namespace?: string } })[] | null;
  clusters?: (Named & { cluster?: Cluster })[] | null;
  users?: (Named & { user?: User | null })[] | null;
}

/** `from`: where the text is from, for messages. */
export function kubeconfig(text: string, from = 'kubeconfig'): KubeResult<Kubeconfig> {
  const file = parsed(text, from);
  if (!file.ok) return file;
  const { contexts, clusters, users } = file.value;
  for (const [field, list] of Object.entries({ contexts, clusters, users }))
    if (list != null && !Array.isArray(list)) return invalid(`${from}: ${field} is not a list`);
  const current = file.value['current-context'] ?? '';
  const names = (contexts ?? []).flatMap(({ name }) => name ?? []);
  const pick = (name?: string) => picked(file.value, { name: name ?? current, names, from });
  return { ok: true, value: { current, contexts: names, pick } };
}

function picked(
  file: File,
  { name, names, from }: { name: string; names: string[]; from: string },
): KubeResult<KubeContext> {
  const known = `it has ${names.length === 0 ? 'none' : names.join(', ')}`;
  if (name === '') return invalid(`${from}: no current-context is set; name one (${known})`);
  const context = file.contexts?.find((one) => one.name === name)?.context;
  if (!context) return { ok: false, problem: { code: 'missing', message: `${from}: no context "${name}"; ${known}` } };
  const cluster = file.clusters?.find((one) => one.name === context.cluster)?.cluster;
  if (!cluster) return invalid(`${from}: context "${name}" names the cluster "${context.cluster}", which is not there`);
  // A context without a user is anonymous; one whose user is not there is a mistake.
  const user = context.user ? file.users?.find((one) => one.name === context.user) : { user: {} };
  if (!user) return invalid(`${from}: context "${name}" names the user "${context.user}", which is not there`);
  const { server } = cluster;
  if (!server || !/^https?:\/\//.test(server))
    return invalid(`${from}: cluster "${context.cluster}" has the server "${server}"`);
  const problem = refusal(cluster, user.user ?? {});
  if (problem) return invalid(`${from}: context "${name}": ${problem}`);
  const namespace = context.namespace ?? 'default';
  return { ok: true, value: { name, cluster: { ...cluster, server }, user: user.user ?? {}, namespace } };
}

/** What this client does not know how to honour. To leave it out silently would be to act as someone else, or unsafely. */
function refusal(cluster: Cluster, user: User): string | undefined {
  const hasCa = cluster['certificate-authority'] ?? cluster['certificate-authority-data'];
  if (cluster['proxy-url']) return 'proxy-url is not supported';
  if (hasCa && cluster['insecure-skip-tls-verify'])
    return 'insecure-skip-tls-verify and a certificate authority exclude each other';
  if (user['auth-provider'])
    return `auth-provider "${user['auth-provider'].name}" is not supported; use an exec plugin`;
  if ((user['as-groups'] ?? []).length > 1) return 'as-groups with more than one group is not supported';
  if (user['as-user-extra']) return 'as-user-extra is not supported';
  if (user.exec?.interactiveMode === 'Always')
    return `the exec plugin ${user.exec.command} wants a terminal, and there is none`;
  return undefined;
}

function parsed(text: string, from: string): KubeResult<File> {
  try {
    const file: unknown = parse(text);
    if (file === null || typeof file !== 'object' || Array.isArray(file)) return invalid(`${from}: not a kubeconfig`);
    return { ok: true, value: file };
  } catch (error) {
    return invalid(`${from}: ${(error as Error).message.split('\n')[0]}`);
  }
}

/**
 * `context`, when it says all by itself. One that somebody else wrote into a Secret may not make this program run a
 * program, nor read a file of its own and send it to a server of their choice.
 */
export function selfContained(context: KubeContext): KubeResult<KubeContext> {
  const { cluster, user } = context;
  const files = Object.entries({
    'certificate-authority': cluster['certificate-authority'],
    'client-certificate': user['client-certificate'],
    'client-key': user['client-key'],
    tokenFile: user.tokenFile,
  }).flatMap(([field, path]) => (path ? [field] : []));
  const said = `context "${context.name}"`;
  if (user.exec)
    return invalid(
      `${said}: users[].user.exec would run the program ${user.exec.command ?? ''} here, which only a kubeconfig file may; put the token of a ServiceAccount in users[].user.token`,
    );
  if (files.length === 0) return { ok: true, value: context };
  const instead = files.map((field) => (field === 'tokenFile' ? 'token' : `${field}-data`)).join(', ');
  return invalid(
    `${said}: ${files.join(', ')} would read files here, which only a kubeconfig file may; give ${instead}`,
  );
}
