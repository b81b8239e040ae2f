// What the containers of a pod may say: those of its start, of its life, and those for looking into it.
import { duplicate, forbiddenField, invalidValue, required } from '../field-error.ts';
import { labelProblems } from '../names.ts';
import { isTree, listOf, textOf, treeOf, type Tree } from '../object.ts';
import type { Cause } from '../status.ts';
import { rangeCauses } from './amounts.ts';
import { envCauses, envFromCauses } from './env.ts';
import { isPort, portNameProblems, portRange } from './ports.ts';
import { actionCauses, probeCauses } from './probe.ts';
import { resourceCauses } from './requirements.ts';
import { mountCauses } from './volume.ts';

/** A pod's spec at `path`, and how many seconds its containers have to end. */
export interface PodParts {
  spec: Tree;
  path: string;
  grace: number;
}

const probes = ['livenessProbe', 'readinessProbe', 'startupProbe'] as const;

export function containerCauses({ spec, path, grace }: PodParts): Cause[] {
  const containers = listOf(spec.containers);
  if (containers.length === 0) return [required(`${path}.containers`)];
  const names = new Set<string>();
  return containers.flatMap((item, i) => {
    const container = treeOf(item);
    const at = `${path}.containers[${i}]`;
    return [
      ...oneCauses(container, spec, at),
      ...uniqueCauses(textOf(container.name), names, at),
      ...actingCauses(container, at, grace),
    ];
  });
}

/*
   An init container | lifecycle and probes
   ------------------+-------------------------------------
   that ends         | none: nothing waits for it to be ready
   restarted Always  | as a container's
*/
export function initCauses({ spec, path, grace }: PodParts): Cause[] {
  const names = new Set(listOf(spec.containers).map((item) => textOf(treeOf(item).name)));
  return listOf(spec.initContainers).flatMap((item, i) => {
    const container = treeOf(item);
    const at = `${path}.initContainers[${i}]`;
    const causes = oneCauses(container, spec, at);
    causes.push(...uniqueCauses(textOf(container.name), names, at));
    if (container.restartPolicy === 'Always') return [...causes, ...actingCauses(container, at, grace)];
    for (const field of ['lifecycle', ...probes]) {
      if (container[field] !== undefined)
        causes.push(
          forbiddenField(`${at}.${field}`, 'may not be set for init containers without restartPolicy=Always'),
        );
    }
    return causes;
  });
}

const closedToEphemeral = ['ports', 'lifecycle', ...probes, 'resizePolicy'];

export function ephemeralCauses({ spec, path }: PodParts): Cause[] {
  const others = [...listOf(spec.containers), ...listOf(spec.initContainers)];
  const names = new Set(others.map((item) => textOf(treeOf(item).name)));
  return listOf(spec.ephemeralContainers).flatMap((item, i) => {
    const container = treeOf(item);
    const at = `${path}.ephemeralContainers[${i}]`;
    const causes = oneCauses(container, spec, at);
    causes.push(...uniqueCauses(textOf(container.name), names, at));
    const target = textOf(container.targetContainerName);
    if (target !== '' && !others.some((one) => treeOf(one).name === target)) {
      const field = `${at}.targetContainerName`;
      causes.push({ reason: 'FieldValueNotFound', message: `Not found: ${JSON.stringify(target)}`, field });
    }
    for (const field of closedToEphemeral) {
      if (container[field] !== undefined)
        causes.push(forbiddenField(`${at}.${field}`, 'cannot be set for an Ephemeral Container'));
    }
    return causes;
  });
}

function uniqueCauses(name: string, names: Set<string>, at: string): Cause[] {
  const causes = name !== '' && names.has(name) ? [duplicate(`${at}.name`, name)] : [];
  names.add(name);
  return causes;
}

/** What every sort of container is checked for. */
function oneCauses(container: Tree, spec: Tree, at: string): Cause[] {
  const name = textOf(container.name);
  const image = textOf(container.image);
  const causes =
    name === '' ? [required(`${at}.name`)] : labelProblems(name).map((why) => invalidValue(`${at}.name`, name, why));
  if (image === '') causes.push(required(`${at}.image`));
  else if (image !== image.trim())
    causes.push(invalidValue(`${at}.image`, image, 'must not have leading or trailing whitespace'));
  return [
    ...causes,
    ...portsCauses(listOf(container.ports), `${at}.ports`),
    ...envCauses(listOf(container.env), `${at}.env`),
    ...envFromCauses(listOf(container.envFrom), `${at}.envFrom`),
    ...mountCauses(container, listOf(spec.volumes), at),
    ...resourceCauses(treeOf(container.resources), `${at}.resources`),
    ...securityCauses(treeOf(container.securityContext), `${at}.securityContext`),
  ];
}

function actingCauses(container: Tree, at: string, grace: number): Cause[] {
  const lifecycle = treeOf(container.lifecycle);
  const causes = ['postStart', 'preStop'].flatMap((moment) => {
    const hook = lifecycle[moment];
    return isTree(hook) ? actionCauses(hook, `${at}.lifecycle.${moment}`, grace) : [];
  });
  for (const probe of probes) {
    const found = container[probe];
    if (isTree(found)) causes.push(...probeCauses(found, `${at}.${probe}`, { kind: probe, grace }));
  }
  return causes;
}

function portsCauses(ports: unknown[], path: string): Cause[] {
  const names = new Set<string>();
  return ports.flatMap((item, i) => {
    const { name: given, containerPort, hostPort } = treeOf(item);
    const at = `${path}[${i}]`;
    const name = textOf(given);
    const problems = name === '' ? [] : portNameProblems(name);
    const causes = problems.map((why) => invalidValue(`${at}.name`, name, why));
    if (name !== '' && problems.length === 0) causes.push(...uniqueCauses(name, names, at));
    if (!containerPort) causes.push(required(`${at}.containerPort`));
    else if (!isPort(containerPort)) causes.push(invalidValue(`${at}.containerPort`, containerPort, portRange));
    if (hostPort && !isPort(hostPort)) causes.push(invalidValue(`${at}.hostPort`, hostPort, portRange));
    return causes;
  });
}

/** In the network of its host a container's port is the host's. */
export function hostPortCauses({ spec, path }: PodParts): Cause[] {
  return listOf(spec.containers).flatMap((container, i) =>
    listOf(treeOf(container).ports).flatMap((item, j) => {
      const { containerPort, hostPort = 0 } = treeOf(item);
      if (hostPort === containerPort) return [];
      const field = `${path}.containers[${i}].ports[${j}].hostPort`;
      return [invalidValue(field, hostPort, 'must match `containerPort` when `hostNetwork` is true')];
    }),
  );
}

function securityCauses(context: Tree, path: string): Cause[] {
  const causes = rangeCauses(context, path, 0, 'runAsUser', 'runAsGroup');
  if (context.allowPrivilegeEscalation === false && context.privileged === true)
    causes.push(invalidValue(path, context, 'cannot set `allowPrivilegeEscalation` to false and `privileged` to true'));
  return causes;
}
