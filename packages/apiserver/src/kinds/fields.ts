// What the OpenAPI documents leave out of the built-in kinds and a user sees: enums and defaults, by definition and field.
import type { Schema } from '../schema/schema.ts';
import { link } from '../schema/schema.ts';
import { definitions } from './gen/schemas.ts';

const enums: Record<string, Record<string, string[]>> = {
  'core.v1.ServiceSpec': {
    type: ['ClusterIP', 'ExternalName', 'LoadBalancer', 'NodePort'],
    sessionAffinity: ['ClientIP', 'None'],
    externalTrafficPolicy: ['Cluster', 'Local'],
    internalTrafficPolicy: ['Cluster', 'Local'],
    ipFamilyPolicy: ['PreferDualStack', 'RequireDualStack', 'SingleStack'],
  },
  'core.v1.ServicePort': { protocol: ['SCTP', 'TCP', 'UDP'] },
  'core.v1.ContainerPort': { protocol: ['SCTP', 'TCP', 'UDP'] },
  'core.v1.PodSpec': {
    restartPolicy: ['Always', 'OnFailure', 'Never'],
    dnsPolicy: ['ClusterFirstWithHostNet', 'ClusterFirst', 'Default', 'None'],
  },
  'core.v1.Container': {
    imagePullPolicy: ['Always', 'IfNotPresent', 'Never'],
    terminationMessagePolicy: ['FallbackToLogsOnError', 'File'],
  },
  'discovery.v1.EndpointSlice': { addressType: ['FQDN', 'IPv4', 'IPv6'] },
  'networking.v1.HTTPIngressPath': { pathType: ['Exact', 'ImplementationSpecific', 'Prefix'] },
  'policy.v1.PodDisruptionBudgetSpec': { unhealthyPodEvictionPolicy: ['AlwaysAllow', 'IfHealthyBudget'] },
};

const defaults: Record<string, Record<string, unknown>> = {
  'core.v1.PodSpec': {
    restartPolicy: 'Always',
    dnsPolicy: 'ClusterFirst',
    schedulerName: 'default-scheduler',
    terminationGracePeriodSeconds: 30,
    securityContext: {},
  },
  'core.v1.Container': {
    terminationMessagePath: '/dev/termination-log',
    terminationMessagePolicy: 'File',
    resources: {},
  },
  'core.v1.EphemeralContainer': {
    terminationMessagePath: '/dev/termination-log',
    terminationMessagePolicy: 'File',
    resources: {},
  },
  'core.v1.GRPCAction': { service: '' },
  'core.v1.Probe': { timeoutSeconds: 1, periodSeconds: 10, successThreshold: 1, failureThreshold: 3 },
  'core.v1.HTTPGetAction': { path: '/', scheme: 'HTTP' },
  'core.v1.ObjectFieldSelector': { apiVersion: 'v1' },
  'core.v1.ConfigMapVolumeSource': { defaultMode: 420 },
  'core.v1.SecretVolumeSource': { defaultMode: 420 },
  'core.v1.DownwardAPIVolumeSource': { defaultMode: 420 },
  'core.v1.ProjectedVolumeSource': { defaultMode: 420 },
  'core.v1.ServiceAccountTokenProjection': { expirationSeconds: 3600 },
  'core.v1.HostPathVolumeSource': { type: '' },
  'core.v1.ServiceSpec': { type: 'ClusterIP', sessionAffinity: 'None', internalTrafficPolicy: 'Cluster' },
  'core.v1.ServicePort': { protocol: 'TCP' },
  'core.v1.EndpointPort': { protocol: 'TCP' },
  'core.v1.Secret': { type: 'Opaque' },
  'core.v1.NamespaceSpec': {},
  'apps.v1.DeploymentSpec': { replicas: 1, strategy: {}, revisionHistoryLimit: 10, progressDeadlineSeconds: 600 },
  'apps.v1.DeploymentStrategy': { type: 'RollingUpdate' },
  'apps.v1.ReplicaSetSpec': { replicas: 1 },
  'apps.v1.StatefulSetSpec': {
    replicas: 1,
    podManagementPolicy: 'OrderedReady',
    revisionHistoryLimit: 10,
    updateStrategy: {},
    persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Retain', whenScaled: 'Retain' },
  },
  'apps.v1.StatefulSetUpdateStrategy': { type: 'RollingUpdate' },
  'apps.v1.DaemonSetSpec': { revisionHistoryLimit: 10, updateStrategy: {} },
  'apps.v1.DaemonSetUpdateStrategy': { type: 'RollingUpdate' },
  'networking.v1.NetworkPolicyPort': { protocol: 'TCP' },
  'discovery.v1.EndpointPort': { name: '', protocol: 'TCP' },
  'apiextensions.v1.CustomResourceDefinitionSpec': { conversion: { strategy: 'None' } },
  'admissionregistration.v1.ValidatingWebhook': {
    failurePolicy: 'Fail',
    matchPolicy: 'Equivalent',
    timeoutSeconds: 10,
    namespaceSelector: {},
    objectSelector: {},
  },
  'admissionregistration.v1.MutatingWebhook': {
    failurePolicy: 'Fail',
    matchPolicy: 'Equivalent',
    timeoutSeconds: 10,
    namespaceSelector: {},
    objectSelector: {},
    reinvocationPolicy: 'Never',
  },
  'admissionregistration.v1.ValidatingAdmissionPolicySpec': { failurePolicy: 'Fail' },
  'admissionregistration.v1.MatchResources': { matchPolicy: 'Equivalent', namespaceSelector: {}, objectSelector: {} },
  'admissionregistration.v1.NamedRuleWithOperations': { scope: '*' },
  'admissionregistration.v1.ServiceReference': { port: 443 },
  'admissionregistration.v1.RuleWithOperations': { scope: '*' },
};

// Lists keyed by several fields: the keys' values when an element does not say them.
const keyed: Record<string, Record<string, unknown>> = { 'core.v1.ContainerPort': { protocol: 'TCP' } };

// Moments that are told as null where they are not known.
const moments: Record<string, string[]> = {
  'core.v1.PodCondition': ['lastProbeTime', 'lastTransitionTime'],
  'core.v1.PersistentVolumeClaimCondition': ['lastProbeTime', 'lastTransitionTime'],
  'core.v1.NodeCondition': ['lastHeartbeatTime', 'lastTransitionTime'],
  'core.v1.NamespaceCondition': ['lastTransitionTime'],
  'core.v1.ReplicationControllerCondition': ['lastTransitionTime'],
  'core.v1.ContainerStateRunning': ['startedAt'],
  'core.v1.ContainerStateTerminated': ['startedAt', 'finishedAt'],
  'core.v1.Event': ['firstTimestamp', 'lastTimestamp', 'eventTime'],
  'core.v1.EventSeries': ['lastObservedTime'],
  'events.v1.Event': ['deprecatedFirstTimestamp', 'deprecatedLastTimestamp', 'eventTime'],
  'apps.v1.DeploymentCondition': ['lastUpdateTime', 'lastTransitionTime'],
  'apps.v1.ReplicaSetCondition': ['lastTransitionTime'],
  'apps.v1.StatefulSetCondition': ['lastTransitionTime'],
  'apps.v1.DaemonSetCondition': ['lastTransitionTime'],
  'batch.v1.JobCondition': ['lastProbeTime', 'lastTransitionTime'],
};

const intOrString: Schema = { 'x-kubernetes-int-or-string': true, format: 'int-or-string' };
const quantity: Schema = { format: 'quantity' };
const full = (name: string): string =>
  name.startsWith('apiextensions.') ? `io.k8s.apiextensions-apiserver.pkg.apis.${name}` : `io.k8s.api.${name}`;

/** Every definition, linked, with enums and defaults in place. */
const kindSchemas: Map<string, Schema> = link(withFields());

/** The schema of every kind's metadata. */
export const metadataSchema: Schema = known('io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta');

export function known(name: string): Schema {
  const found = kindSchemas.get(name);
  if (!found) throw new Error(`bug: there is no definition ${name}`);
  return found;
}

function withFields(): Record<string, Schema> {
  const out: Record<string, Schema> = {};
  for (const [name, raw] of Object.entries(definitions)) {
    const schema = { ...raw, ...(raw.properties ? { properties: { ...raw.properties } } : {}) };
    // An object without named fields holds whatever it is given (FieldsV1, RawExtension).
    const isFree = schema.type === 'object' && !schema.properties && schema.additionalProperties === undefined;
    if (isFree) schema['x-kubernetes-preserve-unknown-fields'] = true;
    dropZeroDefaults(schema);
    out[name] = schema;
  }
  out['io.k8s.apimachinery.pkg.util.intstr.IntOrString'] = intOrString;
  out['io.k8s.apimachinery.pkg.api.resource.Quantity'] = quantity;
  for (const [name, fields] of Object.entries(defaults)) addTo(out, name, fields, (value) => ({ default: value }));
  for (const [name, fields] of Object.entries(moments))
    addTo(out, name, Object.fromEntries(fields.map((field) => [field, null])), (value) => ({ default: value }));
  for (const [name, fields] of Object.entries(keyed)) addTo(out, name, fields, (value) => ({ default: value }));
  for (const [name, fields] of Object.entries(enums))
    addTo(out, name, fields, (value) => ({ enum: value as string[] }));
  return out;
}

/** The documents give Go's zero value as default of fields that must be there; filling those in would hide that they are missing. */
function dropZeroDefaults(schema: Schema): void {
  for (const [name, child] of Object.entries(schema.properties ?? {})) {
    if (schema.properties && child.default !== undefined) {
      const { default: _, ...rest } = child;
      schema.properties[name] = rest;
    }
  }
}

function addTo(
  all: Record<string, Schema>,
  name: string,
  fields: Record<string, unknown>,
  make: (value: unknown) => Schema,
): void {
  const schema = all[full(name)];
  if (!schema?.properties) throw new Error(`bug: there is no definition ${name} with fields`);
  for (const [field, value] of Object.entries(fields)) {
    const child = schema.properties[field];
    if (!child) throw new Error(`bug: ${name} has no field ${field}`);
    schema.properties[field] = { ...child, ...make(value) };
  }
}
