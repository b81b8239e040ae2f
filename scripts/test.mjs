// `npm test`: sets up what is missing, then types, lint and every test. Arguments go to the runner.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { bin, installPackages, installSystemPackages, requireNode, root, run, say } from './setup.mjs';

requireNode();
installPackages();
installSystemPackages();
mkdirSync(join(root, 'dist'), { recursive: true });
for (const [name, command, args] of [
  ['types', bin('tsc'), ['-p', '.']],
  ['lint', bin('oxlint'), []],
]) {
  say(`${name} …`);
  if (run(command, args) !== 0) {
    say(`${name} failed: see above`);
    process.exit(1);
  }
}
const report = join(root, 'dist', 'test-results.json');
process.exit(
  run(bin('vitest'), [
    'run',
    '--reporter=default',
    '--reporter=json',
    `--outputFile.json=${report}`,
    ...process.argv.slice(2),
  ]),
);
