// What `npm start` and `npm test` need before anything of ours can run: Node, npm packages, system packages, the bundle.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, readdirSync, statSync, copyFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = dirname(dirname(fileURLToPath(import.meta.url)));
const stamp = join(root, 'node_modules', '.fairlead-lock');

/** Stops with a sentence when Node is too old. */
export function requireNode() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major > 20 || (major === 20 && minor >= 19)) return;
  stop(`Fairlead needs Node 20.19 or newer; this is ${process.version}. Install a newer Node and try again.`);
}

/** Installs the packages of the lockfile unless this very lockfile is installed already. */
export function installPackages() {
  const lock = createHash('sha256')
    .update(readFileSync(join(root, 'package-lock.json')))
    .digest('hex');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === lock) return;
  say('installing npm packages from the lockfile (once, about half a minute) …');
  const ran = spawnSync('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: root,
    stdio: ['ignore', 2, 2],
  });
  if (ran.status !== 0) stop('npm ci failed: see its words above. It needs the npm registry, or a cache of it.');
  writeFileSync(stamp, lock);
}

/** Each program we run that npm cannot bring, with the Debian package that holds it. */
const programs = [{ program: 'tclsh', package: 'tcl', why: 'the simulated BIG-IP runs iRules in it' }];

/** Installs missing system packages as root on Debian; elsewhere says which to install, and stops. */
export function installSystemPackages() {
  const missing = programs.filter(({ program }) => !onPath(program));
  if (missing.length === 0) return;
  const names = missing.map((m) => m.package);
  const list = missing.map((m) => `  ${m.package}  (${m.program}: ${m.why})`).join('\n');
  if (process.getuid?.() !== 0 || !onPath('apt-get')) {
    stop(
      `These system packages are missing:\n${list}\nInstall them, on Debian or Ubuntu with: sudo apt-get install ${names.join(' ')}`,
    );
  }
  say(`installing system packages: ${names.join(', ')} …`);
  const quiet = { stdio: ['ignore', 'ignore', 2], env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' } };
  const install = () =>
    spawnSync('apt-get', ['install', '-y', '-qq', '--no-install-recommends', ...names], quiet).status === 0;
  if (!install()) {
    spawnSync('apt-get', ['update', '-qq'], quiet);
    if (!install()) stop(`apt-get could not install: ${names.join(' ')}. Install them by hand and try again.`);
  }
}

/** Bundles apps/fairlead into dist/fairlead.mjs when a source is newer than it. */
export async function build() {
  const out = join(root, 'dist', 'fairlead.mjs');
  const sources = ['packages', 'sims', 'apps'].flatMap((folder) => [...files(join(root, folder))]);
  const newest = Math.max(
    ...sources.map((file) => statSync(file).mtimeMs),
    statSync(join(root, 'package-lock.json')).mtimeMs,
  );
  if (existsSync(out) && statSync(out).mtimeMs > newest) return out;
  const { build: bundle } = await import('esbuild');
  mkdirSync(dirname(out), { recursive: true });
  // Read at run time by a path relative to the module, so they lie beside the bundle as they lie beside the source.
  for (const file of sources.filter((f) => f.endsWith('.tcl'))) {
    const folder = join(dirname(out), basename(dirname(file)));
    mkdirSync(folder, { recursive: true });
    copyFileSync(file, join(folder, basename(file)));
  }
  await bundle({
    entryPoints: [join(root, 'apps/fairlead/src/main.ts')],
    outfile: out,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    sourcemap: true,
    // Has a native part, which cannot be bundled.
    external: ['classic-level'],
    banner: {
      js: "import { createRequire as __createRequire } from 'node:module';\nconst require = __createRequire(import.meta.url);",
    },
    logLevel: 'warning',
  });
  return out;
}

/** Runs a program of the repository and gives its exit code. */
export function run(command, args, options = {}) {
  const ran = spawnSync(command, args, { cwd: root, stdio: 'inherit', ...options });
  return ran.status ?? 1;
}

export const bin = (name) => join(root, 'node_modules', '.bin', name);

export function say(text) {
  process.stderr.write(`fairlead: ${text}\n`);
}

function stop(text) {
  say(text);
  process.exit(1);
}

function onPath(program) {
  return (process.env.PATH ?? '').split(':').some((folder) => folder !== '' && existsSync(join(folder, program)));
}

function* files(folder) {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) {
      if (entry.name !== 'node_modules' && entry.name !== 'testdata') yield* files(path);
    } else if (/\.(ts|tcl|json)$/.test(entry.name) && !entry.name.endsWith('.test.ts')) yield path;
  }
}
