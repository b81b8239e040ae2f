// The contexts in a kubeconfig, and which target clusters they are.
import { readFileSync } from 'node:fs';
import { fail, ok, type Result } from '@fairlead/core';
import { parse } from 'yaml';

export function contextsOf(path: string): Result<string[]> {
  try {
    const { contexts = [] } = parse(readFileSync(path, 'utf8')) as { contexts?: { name: string }[] };
    return ok(contexts.map(({ name }) => name));
  } catch (error) {
    // Only reading and parsing can fail here, and both say why.
    return fail(
      'missing',
      `cannot read the kubeconfig ${path}: ${(error as Error).message}. Give --kubeconfig FILE, or start an environment with npm start`,
    );
  }
}

export interface ClusterOptions {
  /** Undefined in a pod without one: target clusters are those of Secrets. */
  kubeconfig: string | undefined;
  management: string;
  cluster: readonly string[];
}

/** Which context is which target cluster: as `--cluster NAME=CONTEXT` says, or else every other one under its own name. */
export function contextsWanted({ kubeconfig, management, cluster }: ClusterOptions): Result<Map<string, string>> {
  if (kubeconfig === undefined)
    return cluster.length === 0
      ? ok(new Map())
      : fail(
          'invalid',
          `--cluster ${cluster[0]} names a context, and there is no kubeconfig: register it by a Secret, with fairlead cluster add`,
        );
  const contexts = contextsOf(kubeconfig);
  if (!contexts.ok) return contexts;
  const wanted = new Map<string, string>();
  for (const entry of cluster) {
    const [name = '', context = name] = entry.split('=');
    if (!contexts.value.includes(context))
      return fail(
        'missing',
        `--cluster ${entry}: ${kubeconfig} has no context ${context}; it has: ${contexts.value.join(', ')}`,
      );
    wanted.set(name, context);
  }
  if (wanted.size === 0) for (const context of contexts.value) if (context !== management) wanted.set(context, context);
  return ok(wanted);
}
