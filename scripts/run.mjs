// The other npm scripts: node scripts/run.mjs check | golden | gen | dev | bench | bundle.
import { bin, build, installPackages, requireNode, root, run } from './setup.mjs';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

requireNode();
installPackages();
const [name, ...args] = process.argv.slice(2);
const tsx = (file, ...rest) => run(bin('tsx'), [join(root, file), ...rest]);
const vitest = (filter, env) => run(bin('vitest'), ['run', ...filter], { env: { ...process.env, ...env } });

const tasks = {
  /** Types, lint, import rules, format: what each commit must pass. */
  check: () =>
    run(bin('tsc'), ['-p', '.']) ||
    run(bin('oxlint'), []) ||
    run(bin('oxfmt'), ['--check']) ||
    // The restarts take most of a minute: npm test has them.
    vitest(['scripts', '--exclude', 'scripts/restart.test.ts'], {}),
  /** Compares golden folders; with --update rewrites them. */
  golden: () => vitest(goldenTests(), args.includes('--update') ? { GOLDEN: 'update' } : {}),
  /** Writes what is made from the code: CRDs, roles, the tables of kinds. */
  gen: () => tsx('scripts/gen.ts', ...args),
  /** `fairlead up`, built again and restarted when a source changes. */
  dev: () => run(bin('tsx'), ['watch', '--clear-screen=false', join(root, 'apps/fairlead/src/main.ts'), 'up', ...args]),
  /** Without a name: lists the benchmarks. */
  bench: () => tsx('bench/bench.ts', ...args),
  /** dist/fairlead.mjs, which has been made by now. */
  bundle: () => 0,
};

/** Test files that compare golden folders. */
function goldenTests() {
  const listed = spawnSync('git', ['grep', '-l', '-E', '\\bgolden\\(', '--', '*.test.ts'], {
    cwd: root,
    encoding: 'utf8',
  });
  return listed.stdout.split('\n').filter((path) => path !== '' && !path.startsWith('packages/testkit/'));
}

const task = tasks[name];
if (!task) {
  process.stderr.write(`usage: npm run ${Object.keys(tasks).join(' | ')}\n`);
  process.exit(2);
}
if (name === 'bench' || name === 'bundle') await build();
process.exit(await task());
