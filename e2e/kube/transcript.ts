// What people type, replayed with the real kubectl on a server, and what it printed, masked.
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export interface Access {
  server: string;
  ca: string;
  token: string;
}

/** One command with what it came to. */
export interface Typed {
  subject: string;
  command: string;
  code: number;
  printed: string;
}

const folder = fileURLToPath(new URL('kubectl/', import.meta.url));
/** Longer than the longest wait in the transcript. */
const patience = 90_000;

export interface Line {
  subject: string;
  command: string;
}

/** The commands of the transcript, each with its subject. */
export function transcript(): Line[] {
  let subject = '';
  return readFileSync(join(folder, 'transcript.txt'), 'utf8')
    .split('\n')
    .flatMap((line) => {
      if (line.startsWith('#')) subject = line.slice(2);
      return line === '' || line.startsWith('#') ? [] : [{ subject, command: line }];
    });
}

/** Types every line at `access`, in the namespace `namespace`, which is there. */
export async function typeAll(access: Access, namespace: string): Promise<Typed[]> {
  const home = mkdtempSync(join(tmpdir(), 'fairlead-kubectl-'));
  writeFileSync(join(home, 'kubeconfig'), kubeconfig(access, namespace), { mode: 0o600 });
  const all: Typed[] = [];
  try {
    for (const { subject, command } of transcript()) {
      const { code, printed } = await type(command.replaceAll('NS', namespace), home);
      all.push({ subject, command, code, printed: masked(printed, access, namespace) });
    }
    return all;
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

function type(command: string, home: string): Promise<{ code: number; printed: string }> {
  const child = spawn('bash', ['-o', 'pipefail', '-c', command], {
    cwd: join(folder, 'files'),
    env: { ...process.env, HOME: home, KUBECONFIG: join(home, 'kubeconfig'), KUBECACHEDIR: join(home, 'cache') },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: patience,
  });
  let [printed, complained] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => (printed += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (complained += text));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    // The two streams of one command are written in an order nobody controls.
    child.once('close', (code) => resolve({ code: code ?? -1, printed: printed + complained }));
  });
}

const kubeconfig = ({ server, ca, token }: Access, namespace: string): string =>
  JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'it', cluster: { server, 'certificate-authority-data': Buffer.from(ca).toString('base64') } }],
    users: [{ name: 'me', user: { token } }],
    contexts: [{ name: 'it', context: { cluster: 'it', user: 'me', namespace } }],
    'current-context': 'it',
  });

/*
   printed                          | becomes
   ---------------------------------+-----------------------------
   the server's address             | SERVER
   the namespace                    | NS
   a UUID, a moment, an age         | <uid>, <time>, <age>
   a resourceVersion                | <version>
   the end of a pod's name          | <suffix>
   an address of the cluster        | <ip>
   the distance of columns          | two spaces
   what `explain` says of a field   | <description>, once; of our own kinds it stays
*/
function masked(text: string, { server }: Access, namespace: string): string {
  return withoutDescriptions(text)
    .replaceAll(server, 'SERVER')
    .replaceAll(namespace, 'NS')
    .replace(/\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g, '<uid>')
    .replace(/kubectl-edit-\d+/g, 'kubectl-edit-<number>')
    .replace(/\b20\d\d-\d\d-\d\dT[\d:.]+Z/g, '<time>')
    .replace(/\b(Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d \w{3} 20\d\d [\d:]+ [+-]\d{4}/g, '<time>')
    .replace(/("?resource ?version"?: *"?)\d+/gi, '$1<version>')
    .replace(/\b([a-z][a-z0-9-]*-[0-9a-z]{8,10})-[bcdfghjklmnpqrstvwxz2456789]{5}\b/g, '$1-<suffix>')
    .replace(/\b10\.(96|244)\.(?!99\.1\b)\d+\.\d+\b/g, '<ip>')
    .replace(/(?<=^|\s)\d+(ms|s|m|m\d+s)(?=\s|$)/gm, '<age>')
    .replace(/[ \t]{2,}/g, '  ')
    .replace(/[ \t]+$/gm, '')
    .trim();
}

/** The embedded server carries no prose of Kubernetes, so there is only whether a field is told of at all. */
function withoutDescriptions(text: string): string {
  if (!/^DESCRIPTION:$/m.test(text) || text.includes('ebcpaas')) return text;
  const [head = '', fields] = text.split(/^FIELDS:$/m);
  const told = head.replace(/^DESCRIPTION:\n(?: {4}.*\n|\n(?= {4}))*/m, 'DESCRIPTION:\n    <description>\n');
  if (fields === undefined) return told;
  const named = fields.split('\n').filter((line) => !line.startsWith('    ') || /\t<|^ +enum:/.test(line));
  return `${told}FIELDS:${named.join('\n')}`;
}

/** What differs, as lines; empty when both printed the same. */
export function compareTyped(real: readonly Typed[], ours: readonly Typed[]): string[] {
  return real.flatMap((typed, index) => {
    const own = ours[index];
    if (own && own.code === typed.code && own.printed === typed.printed) return [];
    return [`differs    kubectl: ${typed.command}`, ...different(typed, own)];
  });
}

function different(real: Typed, ours: Typed | undefined): string[] {
  if (!ours) return ['           real typed it, ours did not'];
  const [theirs, own] = [real.printed.split('\n'), ours.printed.split('\n')];
  const at = theirs.findIndex((line, index) => line !== own[index]);
  const line = at < 0 ? theirs.length : at;
  return [
    ...(real.code === ours.code ? [] : [`           exit code: real ${real.code}, ours ${ours.code}`]),
    `           line ${line + 1}: real ${JSON.stringify(theirs[line] ?? null)}`,
    `           line ${line + 1}: ours ${JSON.stringify(own[line] ?? null)}`,
  ];
}
