// What probes and hooks of a container do: run a command, ask over HTTP, TCP or gRPC, or sleep.
import { forbiddenField, invalidValue, required, unsupported } from '../field-error.ts';
import { isTree, listOf, textOf, type Tree } from '../object.ts';
import type { Cause } from '../status.ts';
import { negativeCauses } from './amounts.ts';
import { portCauses } from './ports.ts';

type Check = (action: Tree, path: string, grace: number) => Cause[];

const schemes = ['HTTP', 'HTTPS'];

/** The sorts of action, in the order in which one too many is found. */
const sorts: Record<string, Check> = {
  exec: ({ command }, path) => (listOf(command).length === 0 ? [required(`${path}.command`)] : []),
  httpGet({ path: asked, port, scheme, httpHeaders }, path) {
    const causes = asked ? [] : [required(`${path}.path`)];
    causes.push(...portCauses(port, `${path}.port`));
    if (!schemes.includes(textOf(scheme))) causes.push(unsupported(`${path}.scheme`, scheme ?? '', schemes));
    for (const header of listOf(httpHeaders)) {
      const name = isTree(header) ? textOf(header.name) : '';
      if (!/^[-A-Za-z0-9]+$/.test(name)) causes.push(invalidValue(`${path}.httpHeaders`, name, headerHint));
    }
    return causes;
  },
  tcpSocket: ({ port }, path) => portCauses(port, `${path}.port`),
  grpc: ({ port }, path) => portCauses(port, `${path}.port`),
  sleep({ seconds }, path, grace) {
    const isFit = typeof seconds !== 'number' || (seconds >= 0 && seconds <= grace);
    if (isFit) return [];
    return [invalidValue(path, seconds, `must be non-negative and less than terminationGracePeriodSeconds (${grace})`)];
  },
};
const headerHint =
  "a valid HTTP header must consist of alphanumeric characters or '-' (e.g. 'X-Header-Name', regex used for validation is '[-A-Za-z0-9]+')";

/** A hook or probe does one thing. */
export function actionCauses(owner: Tree, path: string, grace: number): Cause[] {
  const found = Object.keys(sorts).filter((sort) => isTree(owner[sort]));
  if (found.length === 0) return [required(path, 'must specify a handler type')];
  return found.flatMap((sort, i) => {
    const action = owner[sort];
    if (i > 0) return [forbiddenField(`${path}.${sort}`, 'may not specify more than 1 handler type')];
    return isTree(action) ? (sorts[sort]?.(action, `${path}.${sort}`, grace) ?? []) : [];
  });
}

export interface ProbeKind {
  kind: 'livenessProbe' | 'readinessProbe' | 'startupProbe';
  grace: number;
}

const counts = ['initialDelaySeconds', 'timeoutSeconds', 'periodSeconds', 'successThreshold', 'failureThreshold'];

export function probeCauses(probe: Tree, path: string, { kind, grace }: ProbeKind): Cause[] {
  const causes = [...actionCauses(probe, path, grace), ...negativeCauses(probe, path, ...counts)];
  const end = probe.terminationGracePeriodSeconds;
  const endPath = `${path}.terminationGracePeriodSeconds`;
  if (typeof end === 'number' && end <= 0) causes.push(invalidValue(endPath, end, 'must be greater than 0'));
  if (kind === 'readinessProbe') {
    // A container that is not ready is left alone: there is no end to give time to.
    if (end !== undefined) causes.push(invalidValue(endPath, end, 'must not be set for readinessProbes'));
  } else if (probe.successThreshold !== undefined && probe.successThreshold !== 1)
    causes.push(invalidValue(`${path}.successThreshold`, probe.successThreshold, 'must be 1'));
  return causes;
}
