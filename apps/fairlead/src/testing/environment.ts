// For tests over the whole of `fairlead up`: its environment, manifests as text, and a look that is repeated.
import { authority, issue, type KeyPair } from '@fairlead/apiserver';
import { secrets, type Kube } from '@fairlead/kube';
import { afterAll, beforeAll } from 'vitest';
import { systemClock } from '../clock.ts';
import { applyManifests, parseManifests } from '../manifests.ts';
import { secretData } from '../secret-text.ts';
import { dataDir, type DataDir } from '../up/data-dir.ts';
import { startEnvironment, type Environment, type EnvironmentOptions } from '../up/environment.ts';
import type { Progress } from '../up/progress.ts';

export const silent: Progress = {
  done: () => undefined,
  wrong: () => undefined,
  note: () => undefined,
  seconds: () => 0,
};

/** Before the tests of a file an environment starts, and `prepare` makes it ready; after them it ends. Gives where it keeps its data. */
export function withEnvironment(
  prepare: (environment: Environment) => Promise<void>,
  options: Pick<EnvironmentOptions, 'answered'> = {},
): DataDir {
  const dir = dataDir('', true);
  let environment: Environment | undefined;
  beforeAll(async () => {
    environment = await startEnvironment({ ...options, dir, map: [], progress: silent });
    await prepare(environment);
  }, 90_000);
  afterAll(async () => {
    await environment?.close();
    dir.close();
  }, 60_000);
  return dir;
}

/** The target cluster of the examples. */
export function region01(environment: Environment): Kube {
  const kube = environment.clusters.get('acp-region01');
  if (!kube) throw new Error('bug: there is no cluster acp-region01');
  return kube;
}

/** As `kubectl apply` does it. */
export async function applyText(kube: Kube, yaml: string): Promise<void> {
  const manifests = parseManifests(yaml, 'test.yaml');
  if (!manifests.ok) throw new Error(manifests.problem.message);
  const applied = await applyManifests(kube, manifests.value, 'kubectl');
  if (!applied.ok) throw new Error(applied.problem.message);
}

/** The certificates that the README of examples/https has one make first, signed by the authority that is given back. */
export async function exampleKeyPairs(environment: Environment): Promise<KeyPair> {
  const ca = await authority('Authority of the example', systemClock.now());
  for (const name of ['store', 'api']) {
    const host = `${name}.example.com`;
    const pair = await issue(ca, { commonName: host, dnsNames: [host], usage: 'server' }, systemClock.now());
    const metadata = { name: `${name}-tls`, namespace: 'default' };
    const data = secretData({ 'tls.crt': pair.cert, 'tls.key': pair.key });
    const secret = { apiVersion: 'v1', kind: 'Secret', metadata, type: 'kubernetes.io/tls', data };
    const made = await region01(environment).create(secrets, secret);
    if (!made.ok) throw new Error(made.problem.message);
  }
  return ca;
}

/** A Deployment of one web server, and the Service before it. */
export const webServer = (name: string, ports = '{port: 8080}'): string => `apiVersion: apps/v1
kind: Deployment
metadata: {name: ${name}, namespace: default}
spec:
  replicas: 1
  selector: {matchLabels: {app: ${name}}}
  template:
    metadata: {labels: {app: ${name}}}
    spec: {containers: [{name: web, image: web, ports: [{name: http, containerPort: 8080}]}]}
---
apiVersion: v1
kind: Service
metadata: {name: ${name}, namespace: default}
spec: {selector: {app: ${name}}, ports: [${ports}]}
`;

/** Looked at until it holds, and gives what held; after 5000 looks throws what it gave last, unless the test's time is over before. */
export async function eventually<T>(look: () => T | Promise<T>, holds: (value: T) => boolean): Promise<T> {
  for (let looks = 1; ; looks += 1) {
    const value = await look();
    if (holds(value)) return value;
    if (looks === 5000) throw new Error(`still ${JSON.stringify(value)}`);
    await systemClock.sleep(10);
  }
}
