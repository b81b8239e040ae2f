// The names of the contexts in a kubeconfig.
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
