// Starts the controller as a process of its own.
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundle } from '../bundle.ts';
import { cpuSeconds, residentMb } from '../process.ts';
import type { Server } from './client.ts';

export interface Controller {
  /** MB, as the operating system says. */
  rss(): number;
  /** Seconds of CPU since its start. */
  cpu(): number;
  stop(): Promise<void>;
}

export interface ControllerLauncher {
  start(): Promise<Controller>;
  /** Kills one that still runs: API servers do not end while it watches them. */
  close(): void;
}

export async function controllerLauncher(servers: {
  management: Server;
  targets: Record<string, Server>;
}): Promise<ControllerLauncher> {
  const root = new URL('../..', import.meta.url).pathname;
  const program = join(root, 'dist', 'bench-controller.mjs');
  await bundle(join(root, 'bench', 'tickets', 'controller-main.ts'), program);
  const folder = mkdtempSync(join(tmpdir(), 'fairlead-bench-'));
  const file = join(folder, 'servers.json');
  writeFileSync(file, JSON.stringify(servers), { mode: 0o600 });
  let last: ChildProcess | undefined;
  return {
    async start() {
      const child = spawn(process.execPath, [program, file], { stdio: ['pipe', 'pipe', 'inherit'] });
      last = child;
      const [said] = (await Promise.race([once(child.stdout, 'data'), once(child, 'exit')])) as [unknown];
      if (!String(said).includes('ready')) throw new Error(`the controller ended at its start: ${String(said)}`);
      const pid = child.pid ?? 0;
      return {
        rss: () => residentMb(pid),
        cpu: () => cpuSeconds(pid),
        async stop() {
          child.stdin.end();
          await once(child, 'exit');
        },
      };
    },
    close() {
      if (last?.exitCode === null) last.kill('SIGKILL');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
