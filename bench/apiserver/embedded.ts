// Starts the embedded API server as a process of its own, from a bundle as `npm start` makes one.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../apps/fairlead/src/clock.ts';
import { certificates } from '../../apps/fairlead/src/up/certificates.ts';
import { dataDir } from '../../apps/fairlead/src/up/data-dir.ts';
import { bundle } from '../bundle.ts';
import type { Subject } from './subject.ts';

const token = 'bench';

export interface Launch {
  /** A started server, with how long it took to say it listens. */
  subject: Subject;
  kill(): Promise<void>;
}

export interface Launcher {
  /** Starts a server over the database `name`; the same name again finds what was kept. */
  start(name: string): Promise<Launch>;
  /** Removes every database. */
  close(): void;
}

export async function launcher(): Promise<Launcher> {
  const root = new URL('../..', import.meta.url).pathname;
  // Inside the repository, where the native part of classic-level is found.
  const program = join(root, 'dist', 'bench-apiserver.mjs');
  await bundle(join(root, 'bench', 'apiserver', 'embedded-main.ts'), program);
  const folder = mkdtempSync(join(tmpdir(), 'fairlead-bench-'));
  const made = await certificates(dataDir(folder, false), systemClock);
  const [cert, key] = [join(folder, 'server.crt'), join(folder, 'server.key')];
  writeFileSync(cert, made.cert);
  writeFileSync(key, made.key, { mode: 0o600 });
  return {
    async start(name) {
      const database = join(folder, name);
      mkdirSync(database, { recursive: true });
      const child = spawn(process.execPath, [program, database, cert, key, token], {
        stdio: ['pipe', 'pipe', 'inherit'],
      });
      const [said] = (await Promise.race([once(child.stdout, 'data'), once(child, 'exit')])) as [unknown];
      const port = /ready (\d+)/.exec(String(said))?.[1];
      if (port === undefined) throw new Error(`the embedded server ended at its start: ${String(said)}`);
      return {
        subject: {
          name: 'embedded',
          server: `https://127.0.0.1:${port}`,
          ca: made.ca.cert,
          token,
          pids: [child.pid ?? 0],
          stop: async () => {
            child.stdin.end();
            await once(child, 'exit');
          },
        },
        async kill() {
          child.kill('SIGKILL');
          await once(child, 'exit');
        },
      };
    },
    close: () => rmSync(folder, { recursive: true, force: true }),
  };
}
