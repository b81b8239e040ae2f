// Connections to API servers by kubeconfig, for the commands that talk to clusters.
import { randomInt } from 'node:crypto';
import { fail, ok, type Result } from '@fairlead/core';
import type { Kube, Trouble } from '@fairlead/kube';
import { connect, connectText, type Connected } from '@fairlead/kube/node';
import { systemClock } from './clock.ts';
import { managementContext } from './kubeconfig-option.ts';

/** 0 to 1. Jitter needs no more. */
export const random = (): number => randomInt(2 ** 47) / 2 ** 47;

export const userAgent = 'fairlead/0.1.0';

export interface ConnectHow {
  /** A line for the log. Default: standard error. */
  report?: ((line: string) => void) | undefined;
  signal?: AbortSignal | undefined;
  /** Told of watches that broke. */
  onTrouble?: ((trouble: Trouble) => void) | undefined;
}

/**
 * A client for `context`, or for the kubeconfig's current one; without a kubeconfig by the service account of our pod. Its
 * calls end with `signal`. Asks the server nothing yet.
 */
export async function connectTo(
  kubeconfig: string | undefined,
  context: string | undefined,
  { report = toStandardError, signal, onTrouble }: ConnectHow = {},
): Promise<Result<Connected>> {
  const told = (trouble: Trouble) => {
    report(`${context ?? 'kubeconfig'}: ${trouble.doing}: ${wordsOf(trouble)}`);
    onTrouble?.(trouble);
  };
  if (kubeconfig === undefined && context !== undefined && context !== managementContext)
    return fail(
      'invalid',
      `there is no kubeconfig, so no context ${context}: a pod's service account knows one cluster`,
    );
  const { env } = process;
  return connect({ kubeconfig, context, env, clock: systemClock, random, userAgent, report: told, signal });
}

/** Clients for kubeconfigs that others wrote into Secrets: they may name no program and no file. */
export const kubeconfigOpener =
  (report: (line: string) => void, onTrouble?: (trouble: Trouble) => void) =>
  (text: string, from: string, signal?: AbortSignal): Promise<Result<Connected>> =>
    connectText({
      text,
      from,
      signal,
      clock: systemClock,
      random,
      userAgent,
      report(trouble) {
        report(`${from}: ${trouble.doing}: ${wordsOf(trouble)}`);
        onTrouble?.(trouble);
      },
    });

/** The management cluster for a command that asks once and ends. */
export async function connectManagement(options: {
  kubeconfig: string | undefined;
  management: string;
}): Promise<Result<Kube>> {
  const connected = await connectTo(options.kubeconfig, options.management);
  if (connected.ok) return ok(connected.value.kube);
  const { code, message } = connected.problem;
  return fail(code, `${message}. Is an environment running (npm start), or --kubeconfig FILE missing?`);
}

const toStandardError = (line: string): void => void process.stderr.write(`fairlead: ${line}\n`);

function wordsOf(trouble: Trouble): string {
  if ('problem' in trouble) return trouble.problem.message;
  return `bug: ${trouble.bug instanceof Error ? (trouble.bug.stack ?? trouble.bug.message) : String(trouble.bug)}`;
}
