// Pods and pod templates: what is filled in, what is refused, what may still change once a pod exists.
import { duplicate, forbiddenField, invalidValue, required } from '../field-error.ts';
import { copyOf, isEqual, isTree, listOf, textOf, treeOf, type Tree } from '../object.ts';
import { labelProblems, subdomainProblems, validateLabels } from '../names.ts';
import { part, type Rules } from '../resource.ts';
import { validate } from '../schema/validate.ts';
import type { Cause } from '../status.ts';
import { known } from './fields.ts';

const podSpec = known('io.k8s.api.core.v1.PodSpec');

export const pod: Rules = {
  nameProblems: subdomainProblems,
  hasGeneration: true,
  prepare(object, old) {
    if (!old) tolerateOutages(part(object, 'spec'));
  },
  fill(object) {
    const spec = part(object, 'spec');
    fillPodSpec(spec);
    // A template leaves these open; a pod made of it has them.
    spec.enableServiceLinks ??= true;
    for (const container of containersOf(spec)) fillRequests(container);
    const status = part(object, 'status');
    if (!status.phase) object.status = { ...status, phase: 'Pending' };
    if (!treeOf(object.status).qosClass) treeOf(object.status).qosClass = qosClass(spec);
  },
  validate(object, old) {
    const causes = validatePodSpec(part(object, 'spec'), 'spec');
    return old ? [...causes, ...changeCauses(part(object, 'spec'), part(old, 'spec'))] : causes;
  },
  fields: {
    'status.podIP': (object) => textOf(part(object, 'status').podIP),
    'spec.hostNetwork': (object) => String(part(object, 'spec').hostNetwork === true),
  },
  grace: (object) => {
    const spec = part(object, 'spec');
    // Nobody runs a pod that has no node, or that is over: there is nothing to wait for.
    const phase = part(object, 'status').phase;
    if (!spec.nodeName || phase === 'Succeeded' || phase === 'Failed') return 0;
    return typeof spec.terminationGracePeriodSeconds === 'number' ? spec.terminationGracePeriodSeconds : 30;
  },
};

const outages = ['node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable'];

/** Unless it says otherwise, a pod stays for five minutes on a node that is not well. */
function tolerateOutages(spec: Tree): void {
  const tolerations = listOf(spec.tolerations).map(treeOf);
  const isTolerated = (key: string): boolean =>
    tolerations.some((one) => (!one.key || one.key === key) && (!one.effect || one.effect === 'NoExecute'));
  const added = outages
    .filter((key) => !isTolerated(key))
    .map((key) => ({ key, operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 }));
  if (added.length > 0) spec.tolerations = [...tolerations, ...added];
}

/** Fills what depends on other fields; plain defaults come from the schema. */
export function fillPodSpec(spec: Tree): void {
  for (const container of containersOf(spec)) {
    if (!container.imagePullPolicy) container.imagePullPolicy = pullPolicy(textOf(container.image));
    for (const item of listOf(container.ports)) {
      const port = treeOf(item);
      if (spec.hostNetwork === true && port.hostPort === undefined) port.hostPort = port.containerPort;
    }
  }
  if (spec.serviceAccountName === undefined && spec.serviceAccount !== undefined)
    spec.serviceAccountName = spec.serviceAccount;
  if (spec.serviceAccountName !== undefined && spec.serviceAccount === undefined)
    spec.serviceAccount = spec.serviceAccountName;
}

const containersOf = (spec: Tree): Tree[] =>
  [...listOf(spec.initContainers), ...listOf(spec.containers)].filter(isTree);

/** `latest`, or no tag at all, may have moved since the last pull. */
function pullPolicy(image: string): string {
  if (image.includes('@')) return 'IfNotPresent';
  const last = image.slice(image.lastIndexOf('/') + 1);
  const tag = last.includes(':') ? last.slice(last.indexOf(':') + 1) : 'latest';
  return tag === 'latest' ? 'Always' : 'IfNotPresent';
}

/** A limit without a request asks for as much as it limits. */
function fillRequests(container: Tree): void {
  const resources = treeOf(container.resources);
  const limits = treeOf(resources.limits);
  if (Object.keys(limits).length > 0) resources.requests = { ...limits, ...treeOf(resources.requests) };
}

function qosClass(spec: Tree): string {
  const resources = containersOf(spec).map((container) => treeOf(container.resources));
  if (
    resources.every(
      (one) => Object.keys(treeOf(one.limits)).length === 0 && Object.keys(treeOf(one.requests)).length === 0,
    )
  )
    return 'BestEffort';
  const isGuaranteed = resources.every((one) => {
    const limits = treeOf(one.limits);
    return ['cpu', 'memory'].every(
      (name) => limits[name] !== undefined && isEqual(limits[name], treeOf(one.requests)[name]),
    );
  });
  return isGuaranteed ? 'Guaranteed' : 'Burstable';
}

export function validatePodSpec(spec: Tree, path: string): Cause[] {
  const causes = schemaCauses(spec, path);
  const containers = listOf(spec.containers);
  if (containers.length === 0) causes.push(required(`${path}.containers`));
  const names = new Set<string>();
  for (const [list, items] of [
    ['initContainers', listOf(spec.initContainers)],
    ['containers', containers],
  ] as const) {
    items.forEach((item, i) => causes.push(...validateContainer(treeOf(item), `${path}.${list}[${i}]`, names)));
  }
  causes.push(...validateLabels(spec.nodeSelector, `${path}.nodeSelector`), ...volumeCauses(spec, path));
  const grace = spec.terminationGracePeriodSeconds;
  if (typeof grace === 'number' && grace < 0)
    causes.push(invalidValue(`${path}.terminationGracePeriodSeconds`, grace, 'must be greater than or equal to 0'));
  if (spec.activeDeadlineSeconds !== undefined && Number(spec.activeDeadlineSeconds) < 1) {
    causes.push(
      invalidValue(
        `${path}.activeDeadlineSeconds`,
        spec.activeDeadlineSeconds,
        'must be between 1 and 2147483647, inclusive',
      ),
    );
  }
  return causes;
}

/** Enums by the schema; required fields are told below in the real server's order, so the schema's own are left out. */
function schemaCauses(spec: Tree, path: string): Cause[] {
  return validate(spec, podSpec, path).filter((cause) => cause.reason === 'FieldValueNotSupported');
}

function validateContainer(container: Tree, path: string, names: Set<string>): Cause[] {
  const causes: Cause[] = [];
  const name = textOf(container.name);
  if (name === '') causes.push(required(`${path}.name`));
  else causes.push(...labelProblems(name).map((why) => invalidValue(`${path}.name`, name, why)));
  if (names.has(name) && name !== '') causes.push(duplicate(`${path}.name`, name));
  names.add(name);
  const image = textOf(container.image);
  if (image === '') causes.push(required(`${path}.image`));
  else if (image !== image.trim())
    causes.push(invalidValue(`${path}.image`, image, 'must not have leading or trailing whitespace'));
  causes.push(...portCauses(listOf(container.ports), `${path}.ports`));
  for (const [i, item] of listOf(container.env).entries()) {
    const env = treeOf(item);
    if (!env.name) causes.push(required(`${path}.env[${i}].name`));
    if (env.value && env.valueFrom)
      causes.push(invalidValue(`${path}.env[${i}].valueFrom`, '', 'may not be specified when `value` is not empty'));
  }
  for (const probe of ['livenessProbe', 'readinessProbe', 'startupProbe']) {
    if (isTree(container[probe])) causes.push(...probeCauses(container[probe], `${path}.${probe}`, probe));
  }
  for (const [i, item] of listOf(container.volumeMounts).entries()) {
    const mount = treeOf(item);
    if (!mount.name) causes.push(required(`${path}.volumeMounts[${i}].name`));
    if (!mount.mountPath) causes.push(required(`${path}.volumeMounts[${i}].mountPath`));
  }
  return causes;
}

export const portRange = 'must be between 1 and 65535, inclusive';
export const isPort = (value: unknown): boolean =>
  Number.isInteger(value) && Number(value) >= 1 && Number(value) <= 65535;

function portCauses(ports: unknown[], path: string): Cause[] {
  const causes: Cause[] = [];
  const names = new Set<string>();
  ports.forEach((item, i) => {
    const port = treeOf(item);
    const name = textOf(port.name);
    if (name !== '' && !/^(?=.*[a-z])[a-z0-9]([a-z0-9-]*[a-z0-9])?$/.test(name)) {
      causes.push(
        invalidValue(
          `${path}[${i}].name`,
          name,
          'must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)',
        ),
      );
    } else if (name.length > 15)
      causes.push(invalidValue(`${path}[${i}].name`, name, 'must be no more than 15 characters'));
    if (name !== '' && names.has(name)) causes.push(duplicate(`${path}[${i}].name`, name));
    names.add(name);
    if (port.containerPort === undefined || port.containerPort === 0)
      causes.push(required(`${path}[${i}].containerPort`));
    else if (!isPort(port.containerPort))
      causes.push(invalidValue(`${path}[${i}].containerPort`, port.containerPort, portRange));
    if (port.hostPort !== undefined && port.hostPort !== 0 && !isPort(port.hostPort))
      causes.push(invalidValue(`${path}[${i}].hostPort`, port.hostPort, portRange));
  });
  return causes;
}

const sorts = ['exec', 'httpGet', 'tcpSocket', 'grpc'];

function probeCauses(probe: Tree, path: string, kind: string): Cause[] {
  const causes: Cause[] = [];
  const found = sorts.filter((sort) => probe[sort] !== undefined);
  if (found.length === 0) causes.push(required(path, 'must specify a handler type'));
  found
    .slice(1)
    .forEach((sort) => causes.push(forbiddenField(`${path}.${sort}`, 'may not specify more than 1 handler type')));
  for (const field of [
    'initialDelaySeconds',
    'timeoutSeconds',
    'periodSeconds',
    'successThreshold',
    'failureThreshold',
  ]) {
    if (typeof probe[field] === 'number' && probe[field] < 0)
      causes.push(invalidValue(`${path}.${field}`, probe[field], 'must be greater than or equal to 0'));
  }
  if (kind !== 'readinessProbe' && probe.successThreshold !== undefined && probe.successThreshold !== 1) {
    causes.push(invalidValue(`${path}.successThreshold`, probe.successThreshold, 'must be 1'));
  }
  for (const sort of ['httpGet', 'tcpSocket']) {
    const port = isTree(probe[sort]) ? probe[sort].port : 1;
    if (typeof port === 'number' && !isPort(port)) causes.push(invalidValue(`${path}.${sort}.port`, port, portRange));
  }
  return causes;
}

function volumeCauses(spec: Tree, path: string): Cause[] {
  const causes: Cause[] = [];
  const names = new Set(listOf(spec.volumes).map((item) => textOf(treeOf(item).name)));
  listOf(spec.volumes).forEach((item, i) => {
    if (!treeOf(item).name) causes.push(required(`${path}.volumes[${i}].name`));
  });
  listOf(spec.containers).forEach((item, i) => {
    listOf(treeOf(item).volumeMounts).forEach((mount, j) => {
      const name = textOf(treeOf(mount).name);
      if (name !== '' && !names.has(name)) {
        causes.push({
          reason: 'FieldValueNotFound',
          message: `Not found: ${JSON.stringify(name)}`,
          field: `${path}.containers[${i}].volumeMounts[${j}].name`,
        });
      }
    });
  });
  return causes;
}

/** Of a pod's spec only images, the deadline, added tolerations, a first node name and removed gates may change. */
function changeCauses(spec: Tree, old: Tree): Cause[] {
  const masked = copyOf(spec);
  for (const list of ['containers', 'initContainers']) {
    listOf(masked[list]).forEach((item, i) => {
      const before = treeOf(listOf(old[list])[i]);
      if (isTree(item) && before.image !== undefined) item.image = before.image;
    });
  }
  for (const field of ['activeDeadlineSeconds', 'tolerations', 'schedulingGates']) {
    if (old[field] === undefined) delete masked[field];
    else masked[field] = old[field];
  }
  if (!old.nodeName) delete masked.nodeName;
  if (isEqual(masked, old)) return [];
  return [
    forbiddenField(
      'spec',
      'pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)',
    ),
  ];
}
