// What a pod's spec is given where it says nothing and the answer depends on other fields; plain defaults are the schema's.
import { isTree, listOf, textOf, treeOf, type Tree } from '../object.ts';

/** Every container of a spec: of the start, of the pod's life, and for looking into it. */
export const containersOf = (spec: Tree): Tree[] =>
  [...listOf(spec.initContainers), ...listOf(spec.containers), ...listOf(spec.ephemeralContainers)].filter(isTree);

export function fillPodSpec(spec: Tree): void {
  for (const container of containersOf(spec)) {
    if (!container.imagePullPolicy) container.imagePullPolicy = pullPolicy(textOf(container.image));
    for (const item of listOf(container.ports)) {
      const port = treeOf(item);
      if (spec.hostNetwork === true && !port.hostPort) port.hostPort = port.containerPort;
    }
    fillActions(container);
  }
  for (const item of listOf(spec.volumes)) fillVolume(treeOf(item));
  if (spec.serviceAccountName === undefined && spec.serviceAccount !== undefined)
    spec.serviceAccountName = spec.serviceAccount;
  if (spec.serviceAccountName !== undefined && spec.serviceAccount === undefined)
    spec.serviceAccount = spec.serviceAccountName;
  // Less than no time was a way of asking for none at all: it is the shortest there is.
  if (Number(spec.terminationGracePeriodSeconds) < 0) spec.terminationGracePeriodSeconds = 1;
}

/** `latest`, or no tag at all, may have moved since the last pull. */
function pullPolicy(image: string): string {
  if (image.includes('@')) return 'IfNotPresent';
  const last = image.slice(image.lastIndexOf('/') + 1);
  const tag = last.includes(':') ? last.slice(last.indexOf(':') + 1) : 'latest';
  return tag === 'latest' ? 'Always' : 'IfNotPresent';
}

const probeNumbers = { timeoutSeconds: 1, periodSeconds: 10, successThreshold: 1, failureThreshold: 3 };

/** Here zero and the empty text are as good as nothing. */
function fillActions(container: Tree): void {
  const probes = [container.livenessProbe, container.readinessProbe, container.startupProbe].filter(isTree);
  for (const probe of probes) {
    for (const [field, value] of Object.entries(probeNumbers)) if (!probe[field]) probe[field] = value;
  }
  const lifecycle = treeOf(container.lifecycle);
  for (const { httpGet } of [...probes, treeOf(lifecycle.postStart), treeOf(lifecycle.preStop)]) {
    if (!isTree(httpGet)) continue;
    if (!httpGet.path) httpGet.path = '/';
    if (!httpGet.scheme) httpGet.scheme = 'HTTP';
  }
}

function fillVolume(volume: Tree): void {
  const hasSource = Object.entries(volume).some(([name, value]) => name !== 'name' && isTree(value));
  if (!hasSource) volume.emptyDir = {};
}

/** A limit without a request asks for as much as it limits. */
export function fillRequests(container: Tree): void {
  const resources = treeOf(container.resources);
  const limits = treeOf(resources.limits);
  if (Object.keys(limits).length > 0) resources.requests = { ...limits, ...treeOf(resources.requests) };
}
