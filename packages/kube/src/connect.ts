// A client from a kubeconfig file, or from the files that a pod is given.
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import type { Auth } from './call.ts';
import { kube, type KubeOptions } from './client.ts';
import { authOf, tlsOf } from './credentials.ts';
import type { Run } from './exec-plugin.ts';
import { inCluster, serviceAccount } from './in-cluster.ts';
import type { Kube, KubeResult } from './kube.ts';
import { kubeconfig, selfContained, type KubeContext, type Tls } from './kubeconfig.ts';
import { invalid } from './problem.ts';
import { authorizedFetch } from './way.ts';
import { undiciSend, type UndiciSend } from './undici-send.ts';

type ClientOptions = Pick<KubeOptions, 'clock' | 'random' | 'userAgent' | 'report' | 'signal'>;

export interface ConnectOptions extends ClientOptions {
  /** Path of a kubeconfig; absent: the pod's service account. */
  kubeconfig?: string | undefined;
  /** The kubeconfig's current one when absent. */
  context?: string | undefined;
  /** The program's environment: where a pod finds its API server, and what exec plugins inherit. */
  env: Readonly<Record<string, string | undefined>>;
  /** Folder of a pod's service account files. Default: where Kubernetes mounts them. */
  serviceAccount?: string | undefined;
}

export interface Connected {
  kube: Kube;
  /** Name of the context; `in-cluster` in a pod. */
  context: string;
  /** The context's, or the pod's. */
  namespace: string;
  /** Closes connections, once calls and watches have ended. */
  close(): Promise<void>;
}

/** Reads the files; asks the server nothing yet. */
export async function connect(options: ConnectOptions): Promise<KubeResult<Connected>> {
  const found = await place(options);
  return found.ok ? { ok: true, value: client(options, found.value, undiciSend(found.value.tls)) } : found;
}

/** A server as a kubeconfig's context names it, for programs with a client of their own. */
export interface Way {
  server: string;
  /** Name of the context; `in-cluster` in a pod. */
  context: string;
  /** Sends what it is given with the context's certificates and credentials. */
  fetch(request: Request): Promise<Response>;
  close(): Promise<void>;
}

export async function wayTo(
  options: Pick<ConnectOptions, 'kubeconfig' | 'context' | 'env' | 'clock'>,
): Promise<KubeResult<Way>> {
  const found = await place(options);
  if (!found.ok) return found;
  const { context, tls, auth } = found.value;
  const { send, close } = undiciSend(tls);
  return {
    ok: true,
    value: { server: context.cluster.server, context: context.name, fetch: authorizedFetch(send, auth), close },
  };
}

export interface ConnectTextOptions extends ClientOptions {
  /** A kubeconfig that names no file and no program: its own context is used. */
  text: string;
  /** Where the text is from, for messages. */
  from: string;
  /** The way to the server; undici's when absent. */
  sender?: ((server: string, tls: Tls) => UndiciSend) | undefined;
}

/** A client from a kubeconfig that others wrote, as in a Secret; asks the server nothing yet. */
export async function connectText(options: ConnectTextOptions): Promise<KubeResult<Connected>> {
  const { text, from, clock, sender = (_, tls) => undiciSend(tls) } = options;
  const parsed = kubeconfig(text, from);
  const picked = parsed.ok ? parsed.value.pick() : parsed;
  if (!picked.ok) return picked;
  const context = selfContained(picked.value);
  if (!context.ok) return invalid(`${from}: ${context.problem.message}`);
  const never = () => Promise.reject(new Error('bug: a kubeconfig without files has a file'));
  const tls = await tlsOf(context.value, never);
  if (!tls.ok) return invalid(`${from}: ${tls.problem.message}`);
  const auth = authOf(context.value, { read: never, clock, run: never });
  const found = { context: context.value, tls: tls.value, auth };
  return { ok: true, value: client(options, found, sender(context.value.cluster.server, tls.value)) };
}

function client(
  { clock, random, userAgent, report, signal }: ClientOptions,
  { context, auth }: Found,
  { send, close }: UndiciSend,
): Connected {
  const made = kube({ server: context.cluster.server, send, auth, clock, random, userAgent, report, signal });
  return { kube: made, context: context.name, namespace: context.namespace, close };
}

interface Found {
  context: KubeContext;
  tls: Tls;
  auth: Auth;
}

type Asking = Pick<ConnectOptions, 'kubeconfig' | 'context' | 'env' | 'clock' | 'serviceAccount'>;

const place = (options: Asking): Promise<KubeResult<Found>> =>
  options.kubeconfig === undefined ? pod(options) : file(options, options.kubeconfig);

async function file(options: Asking, path: string): Promise<KubeResult<Found>> {
  const text = await readFile(path, 'utf8').catch((error: unknown) => error as Error);
  if (text instanceof Error) return invalid(`cannot read the kubeconfig: ${text.message}`);
  const parsed = kubeconfig(text, path);
  const context = parsed.ok ? parsed.value.pick(options.context) : parsed;
  if (!context.ok) return context;
  return found(options, context.value, dirname(path));
}

async function pod(options: Asking): Promise<KubeResult<Found>> {
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port } = options.env;
  const folder = options.serviceAccount ?? serviceAccount;
  const context = await inCluster({ host, port, folder, read: (path) => readFile(path, 'utf8') });
  return context.ok ? found(options, context.value, '/') : context;
}

async function found({ clock, env }: Asking, context: KubeContext, folder: string): Promise<KubeResult<Found>> {
  const read = (path: string) => readFile(resolve(folder, path), 'utf8');
  const tls = await tlsOf(context, read);
  if (!tls.ok) return tls;
  return {
    ok: true,
    value: { context, tls: tls.value, auth: authOf(context, { read, clock, run: program(env, folder) }) },
  };
}

/** Milliseconds after which a plugin that has not ended is killed: it may wait for a terminal that is not there. */
const pluginPatience = 60_000;

const program =
  (own: ConnectOptions['env'], folder: string): Run =>
  ({ command, args, env }) =>
    new Promise((settle, reject) => {
      // A bare name is looked up in PATH, a path is relative to the kubeconfig.
      const file = command.includes('/') ? resolve(folder, command) : command;
      const child = execFile(
        file,
        args,
        { env: { ...own, ...env }, timeout: pluginPatience },
        (error, stdout, stderr) => {
          if (error && typeof error.code !== 'number') reject(error);
          else settle({ code: typeof error?.code === 'number' ? error.code : 0, stdout, stderr });
        },
      );
      child.stdin?.end();
    });
