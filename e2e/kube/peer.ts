// A real kube-apiserver over a real etcd, on free ports and in a folder of their own, for as long as a test needs them.
import { spawn, type ChildProcess } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { generateKeyPairSync } from 'node:crypto';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Agent, fetch as send } from 'undici';

export interface PeerUser {
  token: string;
  user: string;
  groups: readonly string[];
}

export interface PeerOptions {
  /** Paths of the programs, as tools/kube/build.mjs finds them. */
  programs: { apiserver: string; etcd: string };
  /** Who may come in, by token. */
  users: readonly PeerUser[];
  /** PEM of the authority whose client certificates are believed; none are unless given. */
  clientAuthority?: string;
  /** True: pods wait for their ServiceAccount, as in a whole cluster; something must then make those. */
  serviceAccounts?: boolean;
}

export interface Peer {
  /** `https://127.0.0.1:port`. */
  server: string;
  /** PEM of the authority that vouches for `server`. */
  ca: string;
  /** Of the first user. */
  token: string;
  /** What the server says it is, such as `v1.34.4`. */
  version: string;
  /** Ends both programs and removes their folder. */
  stop(): Promise<void>;
}

/** How long both programs may take to be ready; a loaded machine takes ten seconds. */
const patience = 60_000;
const between = 50;

/*
   etcd (memory-backed folder, no fsync) ── 127.0.0.1:P1 ──> kube-apiserver ── https://127.0.0.1:P3 ──> tests
*/
export async function startPeer(options: PeerOptions): Promise<Peer> {
  const folder = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'fairlead-kube-'));
  const running: Program[] = [];
  const stop = async () => {
    for (const program of running.toReversed()) await program.stop();
    rmSync(folder, { recursive: true, force: true });
  };
  // A test that is interrupted leaves neither processes nor folders.
  const atExit = () => {
    running.forEach(({ child }) => child.kill('SIGKILL'));
    rmSync(folder, { recursive: true, force: true });
  };
  process.once('exit', atExit);
  try {
    const [client, peer, secure] = await freePorts(3);
    const etcd = `http://127.0.0.1:${client}`;
    running.push(start(options.programs.etcd, etcdFlags(folder, etcd, `http://127.0.0.1:${peer}`), folder));
    running.push(
      start(options.programs.apiserver, apiserverFlags(folder, { ...options, etcd, port: secure ?? 0 }), folder),
    );
    const server = `https://127.0.0.1:${secure}`;
    const token = options.users[0]?.token ?? '';
    await ready(server, token, running);
    const ca = readFileSync(join(folder, 'certs', 'apiserver.crt'), 'utf8');
    return {
      server,
      ca,
      token,
      version: await versionOf(server, token),
      async stop() {
        process.off('exit', atExit);
        await stop();
      },
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

function etcdFlags(folder: string, client: string, peer: string): string[] {
  return [
    `--data-dir=${join(folder, 'etcd')}`,
    `--listen-client-urls=${client}`,
    `--advertise-client-urls=${client}`,
    `--listen-peer-urls=${peer}`,
    '--unsafe-no-fsync',
    '--log-level=error',
  ];
}

function apiserverFlags(folder: string, options: PeerOptions & { etcd: string; port: number }): string[] {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const kept = (name: string, text: string) => {
    writeFileSync(join(folder, name), text, { mode: 0o600 });
    return join(folder, name);
  };
  const privatePem = privateKey.export({ type: 'pkcs1', format: 'pem' }).toString();
  const publicPem = publicKey.export({ type: 'spki', format: 'pem' }).toString();
  const rows = options.users.map(({ token, user, groups }) => `${token},${user},,"${groups.join(',')}"\n`);
  return [
    `--etcd-servers=${options.etcd}`,
    `--secure-port=${options.port}`,
    '--bind-address=127.0.0.1',
    `--cert-dir=${join(folder, 'certs')}`,
    '--service-account-issuer=https://kubernetes.default.svc',
    `--service-account-signing-key-file=${kept('sa.key', privatePem)}`,
    `--service-account-key-file=${kept('sa.pub', publicPem)}`,
    '--service-cluster-ip-range=10.96.0.0/16',
    `--token-auth-file=${kept('tokens.csv', rows.join(''))}`,
    '--authorization-mode=RBAC',
    ...(options.clientAuthority ? [`--client-ca-file=${kept('client-ca.crt', options.clientAuthority)}`] : []),
    ...(options.serviceAccounts ? [] : ['--disable-admission-plugins=ServiceAccount']),
    // Leases and tokens of its own would come and go while answers are compared.
    '--v=0',
  ];
}

interface Program {
  name: string;
  child: ChildProcess;
  log: string;
  stop(): Promise<void>;
}

function start(path: string, flags: string[], folder: string): Program {
  const name = path.split('/').at(-1) ?? path;
  const log = join(folder, `${name}.log`);
  const child = spawn(path, flags, { stdio: ['ignore', 'pipe', 'pipe'] });
  const out = createWriteStream(log);
  child.stdout?.pipe(out, { end: false });
  child.stderr?.pipe(out, { end: false });
  const ended = new Promise<void>((resolve) => {
    child.once('exit', () => resolve());
    // Told by `ready`, which finds it not running.
    child.once('error', () => resolve());
  });
  return {
    name,
    child,
    log,
    async stop() {
      if (child.exitCode === null && child.signalCode === null && child.pid !== undefined) child.kill('SIGKILL');
      await ended;
      await new Promise<void>((resolve) => out.end(() => resolve()));
    },
  };
}

async function ready(server: string, token: string, programs: Program[]): Promise<void> {
  const end = Date.now() + patience;
  for (;;) {
    const dead = programs.find(({ child }) => child.exitCode !== null || child.pid === undefined);
    if (dead) throw new Error(`${dead.name} ended at its start:\n${tail(dead.log)}`);
    if (await isReady(server, token)) return;
    if (Date.now() > end)
      throw new Error(`kube-apiserver is not ready after ${patience / 1000} s:\n${tail(programs.at(-1)?.log)}`);
    await new Promise((resolve) => setTimeout(resolve, between));
  }
}

// Its certificate is made by itself at its start, so before that there is nothing to check it against.
const unchecked = new Agent({ connect: { rejectUnauthorized: false } });

async function isReady(server: string, token: string): Promise<boolean> {
  try {
    const answer = await send(`${server}/readyz`, {
      headers: { authorization: `Bearer ${token}` },
      dispatcher: unchecked,
    });
    await answer.text();
    return answer.ok;
  } catch (error) {
    // Not listening yet, which is what is waited for; anything else is a bug of ours.
    if (error instanceof TypeError && error.cause !== undefined) return false;
    throw error;
  }
}

async function versionOf(server: string, token: string): Promise<string> {
  const answer = await send(`${server}/version`, {
    headers: { authorization: `Bearer ${token}` },
    dispatcher: unchecked,
  });
  return ((await answer.json()) as { gitVersion: string }).gitVersion;
}

function tail(log: string | undefined): string {
  return log && existsSync(log) ? readFileSync(log, 'utf8').split('\n').slice(-12).join('\n') : '';
}

/** Ports that were free a moment ago, all different. */
async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer());
  const ports: number[] = [];
  for (const server of servers) {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    ports.push((server.address() as AddressInfo).port);
  }
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}
