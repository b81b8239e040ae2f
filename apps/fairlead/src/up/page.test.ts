// docs/tickets.md, typed line by line with the real kubectl: what the page says is seen must be seen.
import { spawn, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { silent } from '../testing/environment.ts';
import { dataDir } from './data-dir.ts';
import { managementName, startEnvironment, type Environment } from './environment.ts';
import { applyQuickstart } from './quickstart.ts';
import { untilCarried } from './wait.ts';

const root = fileURLToPath(new URL('../../../../', import.meta.url));
const hasKubectl = spawnSync('kubectl', ['version', '--client']).status === 0;
if (!hasKubectl) process.stderr.write('docs/tickets.md is NOT TRIED: there is no kubectl here\n');

const dir = dataDir('', true);
let environment: Environment | undefined;

beforeAll(async () => {
  if (!hasKubectl) return;
  environment = await startEnvironment({ dir, map: [], progress: silent });
  const applied = await applyQuickstart(environment, silent);
  expect(await untilCarried({ environment, applied }, silent)).toEqual([]);
  await typed(`kubectl config use-context ${managementName}`);
}, 90_000);

afterAll(async () => {
  await environment?.close();
  dir.close();
}, 60_000);

interface Line {
  command: string;
  /** What is to be seen; `…` for anything. */
  seen: string;
  section: string;
}

/** The commands of the page's `console` blocks. A here-document belongs to the command that begins it. */
function linesOf(page: string): Line[] {
  const lines: Line[] = [];
  let [section, isConsole, here] = ['', false, false];
  for (const text of page.split('\n')) {
    const last = lines.at(-1);
    if (text.startsWith('## ')) section = text.slice(3);
    else if (text.startsWith('```')) isConsole = text === '```console';
    else if (!isConsole) continue;
    else if (here && last) {
      last.command += `\n${text}`;
      here = text !== 'YAML';
    } else if (text.startsWith('$ ')) {
      lines.push({ command: text.slice(2), seen: '', section });
      here = text.endsWith("<<'YAML'");
    } else if (last) last.seen += `${text}\n`;
  }
  return lines;
}

function typed(command: string): Promise<string> {
  const main = `"${root}node_modules/.bin/tsx" "${root}apps/fairlead/src/main.ts"`;
  const child = spawn('bash', ['-c', `fairlead() { ${main} "$@"; }\n${command}`], {
    cwd: root,
    env: { ...process.env, KUBECONFIG: dir.file('kubeconfig') },
  });
  let printed = '';
  const take = (text: string) => (printed += text);
  child.stdout.setEncoding('utf8').on('data', take);
  child.stderr.setEncoding('utf8').on('data', take);
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', () => resolve(printed));
  });
}

const oneSpace = (text: string) => text.replace(/[ \t]+/g, ' ').trim();

const pattern = (seen: string) =>
  new RegExp(
    `^${oneSpace(seen)
      .split('…')
      .map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`))
      .join('[^]*')}$`,
  );

test.skipIf(!hasKubectl)(
  'every command of the page shows what the page says',
  async () => {
    const page = readFileSync(`${root}docs/tickets.md`, 'utf8');
    const lines = linesOf(page);
    expect(lines.length).toBeGreaterThan(80);
    const other: string[] = [];
    for (const { command, seen, section } of lines) {
      const printed = await typed(command);
      if (!pattern(seen).test(oneSpace(printed))) other.push(`${section}\n$ ${command}\n${printed}`);
    }
    expect(other).toEqual([]);
  },
  300_000,
);
