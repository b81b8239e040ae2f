// One context of a kubeconfig file as a kubeconfig that stands by itself: files it names are read into it.
import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { fail, ok, type Result } from '@fairlead/core';
import { kubeconfig, selfContained, type KubeContext } from '@fairlead/kube';
import { stringify } from 'yaml';

export interface Inlined {
  text: string;
  /** What may go wrong later. */
  warnings: string[];
}

/** Such a text can be kept in a Secret. A program that makes tokens cannot be taken along. */
export async function inlined(path: string, context?: string): Promise<Result<Inlined>> {
  const folder = dirname(path);
  const read = async (file: string, encoding: 'utf8' | 'base64') => readFile(resolve(folder, file), encoding);
  try {
    const parsed = kubeconfig(await readFile(path, 'utf8'), path);
    const picked = parsed.ok ? parsed.value.pick(context) : parsed;
    if (!picked.ok) return picked;
    const { cluster, user } = picked.value;
    const whole = selfContained(await filled(picked.value, read));
    if (!whole.ok) return fail('invalid', `${path}: ${whole.problem.message}`);
    const warnings = user.tokenFile
      ? [`the token of ${user.tokenFile} is copied as it is now; when it ends, add the cluster again`]
      : [];
    const name = picked.value.name;
    const text = stringify({
      apiVersion: 'v1',
      kind: 'Config',
      'current-context': name,
      clusters: [{ name, cluster: whole.value.cluster }],
      users: [{ name, user: whole.value.user }],
      contexts: [{ name, context: { cluster: name, user: name } }],
    });
    return ok({ text, warnings: cluster['insecure-skip-tls-verify'] ? [...warnings, insecure] : warnings });
  } catch (error) {
    // Reading files is all that can throw here, and says which.
    return fail('missing', `${path}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

const insecure = 'insecure-skip-tls-verify: whoever stands between us and the cluster can read the credentials';

async function filled(
  context: KubeContext,
  read: (file: string, encoding: 'utf8' | 'base64') => Promise<string>,
): Promise<KubeContext> {
  const cluster = { ...context.cluster };
  const user = { ...context.user };
  if (cluster['certificate-authority']) {
    cluster['certificate-authority-data'] ??= await read(cluster['certificate-authority'], 'base64');
    delete cluster['certificate-authority'];
  }
  for (const field of ['client-certificate', 'client-key'] as const) {
    const file = user[field];
    if (!file) continue;
    user[`${field}-data`] ??= await read(file, 'base64');
    delete user[field];
  }
  if (user.tokenFile) {
    user.token = (await read(user.tokenFile, 'utf8')).trim();
    delete user.tokenFile;
  }
  return { ...context, cluster, user };
}
