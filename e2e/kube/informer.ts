// The client-go informers of tools/kube/informer on a server, for a while.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { kubeconfig } from '../../apps/fairlead/src/up/kubeconfig.ts';
import type { Access } from './transcript.ts';

/** Follows `access` for `seconds`; gives what was wrong, or undefined. */
export const inform = (program: string, access: Access, seconds: number): Promise<string | undefined> =>
  informed(program, { access, length: `${seconds}s`, out: 'ignore' });

/** The same for a long time such as `10m`: what the program says of its progress is seen. */
export const followFor = (program: string, access: Access, length: string): Promise<string | undefined> =>
  informed(program, { access, length, out: 'inherit' });

interface Informing {
  access: Access;
  length: string;
  /** What becomes of the program's own words. */
  out: 'ignore' | 'inherit';
}

async function informed(program: string, { access, length, out }: Informing): Promise<string | undefined> {
  const folder = mkdtempSync(join(tmpdir(), 'fairlead-informer-'));
  const file = join(folder, 'kubeconfig');
  writeFileSync(file, kubeconfig([{ ...access, name: 'it' }]), { mode: 0o600 });
  try {
    const { code, printed } = await run(program, ['--kubeconfig', file, '--for', length], out);
    return code === 0 ? undefined : printed.trim();
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function run(program: string, args: string[], out: Informing['out']): Promise<{ code: number; printed: string }> {
  const child = spawn(program, args, { stdio: ['ignore', out, 'pipe'] });
  let printed = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (printed += text));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ code: code ?? 1, printed }));
  });
}
