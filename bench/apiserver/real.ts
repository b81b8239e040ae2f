// The peer: a real kube-apiserver over a real etcd that keeps what it is told, on free ports and in a folder of their own.
import { spawn, type ChildProcess } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { client, type Subject } from './subject.ts';

const token = 'bench';
const patience = 60_000;

export interface Peer extends Subject {
  version: string;
  /** Milliseconds from the start of kube-apiserver, etcd being ready, until it is ready. */
  startMs: number;
}

/** Unlike the one of the conformance suite, this etcd syncs to the disk: what is compared is durable writes. */
export async function startReal(programs: { apiserver: string; etcd: string }): Promise<Peer> {
  const folder = mkdtempSync(join(tmpdir(), 'fairlead-bench-kube-'));
  const [clientPort, peerPort, securePort] = await freePorts(3);
  const etcdUrl = `http://127.0.0.1:${clientPort}`;
  const children: ChildProcess[] = [];
  const stop = async () => {
    for (const child of children.toReversed()) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      child.kill('SIGKILL');
      await once(child, 'exit');
    }
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    children.push(start(programs.etcd, etcdFlags(folder, etcdUrl, `http://127.0.0.1:${peerPort}`)));
    await until(children, async () => (await fetch(`${etcdUrl}/health`)).ok);
    const began = performance.now();
    children.push(start(programs.apiserver, apiserverFlags(folder, etcdUrl, securePort ?? 0)));
    const certificate = join(folder, 'certs', 'apiserver.crt');
    const subject = (): Subject => ({
      name: 'real',
      server: `https://127.0.0.1:${securePort}`,
      ca: readFileSync(certificate, 'utf8'),
      token,
      pids: children.map(({ pid }) => pid ?? 0),
      stop,
    });
    await until(children, async () => existsSync(certificate) && (await code(subject(), '/readyz')) === 200);
    const startMs = performance.now() - began;
    await until(children, async () => (await code(subject(), '/api/v1/namespaces/default')) === 200);
    const probe = client(subject(), 1);
    const { text } = await probe.ask({ path: '/version', keep: true });
    probe.close();
    return { ...subject(), startMs, version: (JSON.parse(text) as { gitVersion: string }).gitVersion };
  } catch (error) {
    await stop();
    throw error;
  }
}

function start(program: string, flags: string[]): ChildProcess {
  return spawn(program, flags, { stdio: 'ignore' });
}

const etcdFlags = (folder: string, url: string, peer: string): string[] => [
  `--data-dir=${join(folder, 'etcd')}`,
  `--listen-client-urls=${url}`,
  `--advertise-client-urls=${url}`,
  `--listen-peer-urls=${peer}`,
  '--log-level=error',
];

function apiserverFlags(folder: string, etcd: string, port: number): string[] {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const kept = (name: string, text: string | Buffer) => {
    writeFileSync(join(folder, name), text, { mode: 0o600 });
    return join(folder, name);
  };
  return [
    `--etcd-servers=${etcd}`,
    `--secure-port=${port}`,
    '--bind-address=127.0.0.1',
    `--cert-dir=${join(folder, 'certs')}`,
    '--service-account-issuer=https://kubernetes.default.svc',
    `--service-account-signing-key-file=${kept('sa.key', privateKey.export({ type: 'pkcs1', format: 'pem' }))}`,
    `--service-account-key-file=${kept('sa.pub', publicKey.export({ type: 'spki', format: 'pem' }))}`,
    '--service-cluster-ip-range=10.96.0.0/16',
    `--token-auth-file=${kept('tokens.csv', `${token},admin,admin,"system:masters"\n`)}`,
    '--authorization-mode=RBAC',
    '--disable-admission-plugins=ServiceAccount',
    '--v=0',
  ];
}

async function until(children: ChildProcess[], isReady: () => Promise<boolean>): Promise<void> {
  const end = performance.now() + patience;
  while (!(await attempt(isReady))) {
    const dead = children.find((child) => child.exitCode !== null);
    if (dead) throw new Error(`${dead.spawnfile} ended at its start`);
    if (performance.now() > end) throw new Error(`the real server is not ready after ${patience / 1000} s`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/** A connection that is refused means not yet; whoever waits gives up by the clock. */
const attempt = (isReady: () => Promise<boolean>): Promise<boolean> => isReady().catch(() => false);

async function code(subject: Subject, path: string): Promise<number> {
  const probe = client(subject, 1);
  try {
    return (await probe.ask({ path })).code;
  } finally {
    probe.close();
  }
}

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
