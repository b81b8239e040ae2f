// Finds the real kube-apiserver and etcd, or builds them once from their published Go modules into a cache.
//
//   there is                      | then
//   ------------------------------+--------------------------------------------------------------
//   KUBEBUILDER_ASSETS            | its etcd and kube-apiserver are used
//   a cache of go.mod's version   | that is used
//   Go, and a Go module proxy     | built into the cache: about six minutes on two cores, once
//   none of these                 | undefined, and a sentence that says what to install
//
// Alone: node tools/kube/build.mjs
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));

/** Each program with its folder here, which is its main package. */
const programs = { 'kube-apiserver': 'apiserver', etcd: 'etcd' };

/** The Kubernetes version that go.mod names, such as `v1.34.4`. */
export function version() {
  const found = /^\s*k8s\.io\/kubernetes (v\S+)/m.exec(readFileSync(join(here, 'go.mod'), 'utf8'))?.[1];
  if (!found) throw new Error('bug: tools/kube/go.mod does not require k8s.io/kubernetes');
  return found;
}

/** Where what is built is kept: `$FAIRLEAD_CACHE/kube/<version>`, or under `~/.cache/fairlead`. */
function cacheFolder() {
  return join(process.env.FAIRLEAD_CACHE || join(homedir(), '.cache', 'fairlead'), 'kube', version());
}

/** Paths of the two programs; undefined, and `say` has said why, when they can neither be found nor built. */
export async function kubePrograms(say) {
  const assets = process.env.KUBEBUILDER_ASSETS;
  if (assets) {
    const missing = Object.keys(programs).filter((name) => !existsSync(join(assets, name)));
    if (missing.length === 0) return pathsIn(assets);
    say(`KUBEBUILDER_ASSETS is ${assets}, where there is no ${missing.join(' and no ')}`);
    return undefined;
  }
  const cache = cacheFolder();
  if (Object.keys(programs).every((name) => existsSync(join(cache, name)))) return pathsIn(cache);
  if (!(await built(cache, programs, say))) return undefined;
  return pathsIn(cache);
}

/** The client-go informer program, for `npm run test:kube`; undefined when it can neither be found nor built. */
export async function informerProgram(say) {
  const file = join(cacheFolder(), 'informer');
  const source = join(here, 'informer', 'main.go');
  const isFresh = existsSync(file) && mtime(file) > mtime(source);
  if (isFresh || (await built(cacheFolder(), { informer: 'informer' }, say))) return file;
  return undefined;
}

/** The folder of a kubectl of 1.32 or newer: the machine's own, or one built; undefined when there can be none. */
export async function kubectlFolder(say) {
  const own = spawnSync('kubectl', ['version', '--client', '--output=json'], { encoding: 'utf8' });
  const [, minor] = own.status === 0 ? (/"gitVersion": *"v1\.(\d+)/.exec(own.stdout) ?? []) : [];
  if (Number(minor) >= 32) return dirname(spawnSync('which', ['kubectl'], { encoding: 'utf8' }).stdout.trim());
  const cache = cacheFolder();
  if (existsSync(join(cache, 'kubectl')) || (await built(cache, { kubectl: 'kubectl' }, say))) return cache;
  return undefined;
}

const pathsIn = (folder) => ({ apiserver: join(folder, 'kube-apiserver'), etcd: join(folder, 'etcd') });

/** Builds into a folder beside `cache`, then moves each program in place: nobody sees half a program. */
async function built(cache, wanted, say) {
  if (spawnSync('go', ['version']).status !== 0) {
    say('there is no Go here, so Kubernetes cannot be built; install Go 1.24 or newer, or set KUBEBUILDER_ASSETS');
    return false;
  }
  const began = Date.now();
  const seconds = () => Math.round((Date.now() - began) / 1000);
  mkdirSync(cache, { recursive: true });
  const folder = join(cache, `building-${process.pid}`);
  mkdirSync(folder);
  const names = Object.keys(wanted);
  say(`building ${names.join(' and ')} ${version()} from their Go modules (once, about six minutes) …`);
  const tick = setInterval(() => say(`building Kubernetes: ${seconds()} s …`), 30_000);
  try {
    for (const name of names) {
      if ((await go(wanted[name], join(folder, name))) !== 0) {
        say(`building ${name} failed: see the words of Go above. It needs a Go module proxy, or a cache of it.`);
        return false;
      }
    }
    for (const name of names) renameSync(join(folder, name), join(cache, name));
    say(`built ${names.join(' and ')} in ${seconds()} s, kept in ${cache}`);
    return true;
  } finally {
    clearInterval(tick);
    rmSync(folder, { recursive: true, force: true });
  }
}

function go(main, out) {
  const [, major, minor] = /^v(\d+)\.(\d+)/.exec(version()) ?? [];
  const stamps = { gitVersion: version(), gitMajor: major, gitMinor: minor };
  const flags = Object.entries(stamps).map(([name, value]) => `-X k8s.io/component-base/version.${name}=${value}`);
  const args = ['build', '-trimpath', '-ldflags', `-s -w ${flags.join(' ')}`, '-o', out, `./${main}`];
  const child = spawn('go', args, { cwd: here, stdio: ['ignore', 2, 2], env: { ...process.env, CGO_ENABLED: '0' } });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code) => resolve(code ?? 1));
  });
}

const mtime = (file) => statSync(file).mtimeMs;

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const say = (text) => process.stderr.write(`fairlead: ${text}\n`);
  const found = await kubePrograms(say);
  if (found) process.stdout.write(`${found.apiserver}\n${found.etcd}\n`);
  process.exitCode = found ? 0 : 1;
}
