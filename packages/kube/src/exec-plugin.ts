// Tokens from a program that the kubeconfig names (client.authentication.k8s.io), as clouds use.
import type { Clock } from './clock.ts';
import type { KubeResult } from './kube.ts';
import type { Cluster, ExecPlugin } from './kubeconfig.ts';
import { denied } from './problem.ts';

export interface Command {
  command: string;
  args: string[];
  /** On top of the program's own environment. */
  env: Record<string, string>;
}

/** Runs a program to its end, with no terminal. Rejects when it cannot be started. */
export type Run = (command: Command) => Promise<{ code: number; stdout: string; stderr: string }>;

export interface ExecParts {
  run: Run;
  clock: Clock;
}

export interface ExecToken {
  token: string;
  /** Milliseconds since the epoch; infinite when the plugin gives no end. */
  until: number;
}

interface ExecCredential {
  kind?: string;
  apiVersion?: string;
  status?: { token?: string; clientCertificateData?: string; expirationTimestamp?: string };
}

const versions = ['client.authentication.k8s.io/v1', 'client.authentication.k8s.io/v1beta1'];
/** Renewed this long before the end, as a request takes time to arrive. Milliseconds. */
const margin = 10_000;

/** Runs the plugin once. The caller keeps the token. */
export async function execToken(
  plugin: ExecPlugin,
  cluster: Cluster,
  { run, clock }: ExecParts,
): Promise<KubeResult<ExecToken>> {
  const { command, apiVersion = '', args, env, installHint } = plugin;
  if (!command) return denied('the exec plugin of the kubeconfig names no command');
  if (!versions.includes(apiVersion))
    return denied(`the exec plugin ${command} speaks "${apiVersion}"; known: ${versions.join(', ')}`);
  const given = Object.fromEntries((env ?? []).map(({ name, value }) => [name, value]));
  const asked = { command, args: args ?? [], env: { ...given, KUBERNETES_EXEC_INFO: execInfo(plugin, cluster) } };
  try {
    const { code, stdout, stderr } = await run(asked);
    if (code !== 0) return denied(`the exec plugin ${command} ended with ${code}: ${stderr.trim().slice(0, 300)}`);
    return tokenOf(command, apiVersion, stdout, clock.now());
  } catch (error) {
    return denied(
      `cannot run the exec plugin ${command}: ${(error as Error).message}${installHint ? `; ${installHint}` : ''}`,
    );
  }
}

function execInfo({ apiVersion, provideClusterInfo }: ExecPlugin, cluster: Cluster): string {
  const told = {
    server: cluster.server,
    'tls-server-name': cluster['tls-server-name'],
    'insecure-skip-tls-verify': cluster['insecure-skip-tls-verify'],
    'certificate-authority-data': cluster['certificate-authority-data'],
  };
  const spec = { interactive: false, ...(provideClusterInfo ? { cluster: told } : {}) };
  return JSON.stringify({ apiVersion, kind: 'ExecCredential', spec });
}

function tokenOf(command: string, apiVersion: string, stdout: string, now: number): KubeResult<ExecToken> {
  let credential: ExecCredential | null;
  try {
    credential = JSON.parse(stdout) as ExecCredential | null;
  } catch {
    return denied(`the exec plugin ${command} printed something that is not JSON`);
  }
  if (credential?.kind !== 'ExecCredential' || credential.apiVersion !== apiVersion)
    return denied(`the exec plugin ${command} printed no ExecCredential of ${apiVersion}`);
  const { token, clientCertificateData, expirationTimestamp } = credential.status ?? {};
  if (!token) {
    const what = clientCertificateData ? 'a client certificate; only tokens are supported' : 'no token';
    return denied(`the exec plugin ${command} gave ${what}`);
  }
  const end = expirationTimestamp === undefined ? Infinity : Date.parse(expirationTimestamp) - margin;
  if (Number.isNaN(end))
    return denied(`the exec plugin ${command} gave the expirationTimestamp "${expirationTimestamp}"`);
  // A token that ends within the margin is still to be used, if only once.
  return { ok: true, value: { token, until: Math.max(end, now) } };
}
