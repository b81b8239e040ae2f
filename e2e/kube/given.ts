// A cluster that was given by its kubeconfig, to be used and thrown away.
import { readFileSync } from 'node:fs';
import { Agent, fetch as send } from 'undici';
import { parse } from 'yaml';

export interface Given {
  server: string;
  /** PEM. */
  ca: string;
  /** Either a token, or a client certificate with its key, PEM. */
  token?: string;
  cert?: string;
  key?: string;
  version: string;
}

interface Kubeconfig {
  'current-context': string;
  contexts: { name: string; context: { cluster: string; user: string } }[];
  clusters: { name: string; cluster: Record<string, string> }[];
  users: { name: string; user: Record<string, string> }[];
}

/** The current context of `path`. Throws a sentence for what the lane cannot use, such as a login by a program. */
export async function givenCluster(path: string): Promise<Given> {
  const config = parse(textIn(path)) as Kubeconfig;
  const context = named(config.contexts, config['current-context']).context;
  const { cluster } = named(config.clusters, context.cluster);
  const { user } = named(config.users, context.user);
  const access = {
    server: cluster['server'] ?? '',
    ca: textOf(cluster, 'certificate-authority') ?? '',
    ...part('token', user['token']),
    ...part('cert', textOf(user, 'client-certificate')),
    ...part('key', textOf(user, 'client-key')),
  };
  if (!('token' in access) && !('cert' in access))
    throw new Error(`${path}: user ${context.user} has neither a token nor a client certificate`);
  return { ...access, version: await versionOf(access) };
}

/** `options` of undici's Agent that reach the cluster. */
export const connection = ({
  ca,
  cert,
  key,
}: Pick<Given, 'ca' | 'cert' | 'key'>): { connect: Record<string, string> } => ({
  connect: { ca, ...part('cert', cert), ...part('key', key) },
});

async function versionOf(access: Omit<Given, 'version'>): Promise<string> {
  const dispatcher = new Agent(connection(access));
  const answer = await send(`${access.server}/version`, {
    dispatcher,
    ...(access.token ? { headers: { authorization: `Bearer ${access.token}` } } : {}),
  }).catch((error: Error) => {
    const why = error.cause instanceof Error ? error.cause.message : error.message;
    throw new Error(`${access.server} does not answer: ${why}`, { cause: error });
  });
  const { gitVersion } = (await answer.json()) as { gitVersion?: string };
  await dispatcher.close();
  if (!gitVersion) throw new Error(`${access.server} answered ${answer.status} to /version: it is no Kubernetes`);
  return gitVersion;
}

function textIn(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new Error(
      `${path} cannot be read (${(error as NodeJS.ErrnoException).code}): KUBECONFIG is to name one file`,
      {
        cause: error,
      },
    );
  }
}

function named<T extends { name: string }>(list: readonly T[] | undefined, name: string): T {
  const found = list?.find((one) => one.name === name);
  if (!found) throw new Error(`the kubeconfig names ${name} and does not have it`);
  return found;
}

/** A field's text: in the file as base64, or in a file of its own. */
function textOf(fields: Record<string, string>, name: string): string | undefined {
  const inline = fields[`${name}-data`];
  if (inline !== undefined) return Buffer.from(inline, 'base64').toString('utf8');
  const file = fields[name];
  return file === undefined ? undefined : textIn(file);
}

const part = <K extends string>(key: K, value: string | undefined): Partial<Record<K, string>> =>
  (value === undefined ? {} : { [key]: value }) as Partial<Record<K, string>>;
