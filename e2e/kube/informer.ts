// The client-go informers of tools/kube/informer on a server, for a while.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { kubeconfig } from '../../apps/fairlead/src/up/kubeconfig.ts';
import type { Access } from './transcript.ts';

/** Follows `access` for `seconds`; gives what was wrong, or undefined. */
export async function inform(program: string, access: Access, seconds: number): Promise<string | undefined> {
  const folder = mkdtempSync(join(tmpdir(), 'fairlead-informer-'));
  const file = join(folder, 'kubeconfig');
  writeFileSync(file, kubeconfig([{ ...access, name: 'it' }]), { mode: 0o600 });
  try {
    const { code, printed } = await run(program, ['--kubeconfig', file, '--for', `${seconds}s`]);
    return code === 0 ? undefined : printed.trim();
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function run(program: string, args: string[]): Promise<{ code: number; printed: string }> {
  const child = spawn(program, args, { stdio: ['ignore', 'ignore', 'pipe'] });
  let printed = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (printed += text));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ code: code ?? 1, printed }));
  });
}
