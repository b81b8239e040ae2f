// The built-in resources: the generated rows joined with each kind's rules, columns and scale paths.
import type { Resource, Rules, ScalePaths, Twin } from '../resource.ts';
import { kindColumns, plainColumns } from '../table/columns.ts';
import { known } from './fields.ts';
import { rows } from './gen/resources.ts';
import { pod } from './pod.ts';
import type { ResourceRow } from './row.ts';
import { service } from './service.ts';
import { definitionRules } from '../definition-rules.ts';
import { admissionPolicy, policyBinding } from './admission-policy.ts';
import { binding, budget, clusterBinding, clusterRole, role } from './access.ts';
import { endpoints, endpointSlice } from './endpoints.ts';
import { eventTwin } from './event-twin.ts';
import { event, newEvent } from './event.ts';
import { ingress, ingressClass } from './ingress.ts';
import { ipAddress, networkPolicy, serviceRange } from './network.ts';
import { node } from './node.ts';
import { secret } from './secret.ts';
import { webhookConfiguration } from './webhook-configuration.ts';
import * as small from './small.ts';
import { daemonSet, deployment, replicaSet, statefulSet } from './workload.ts';

const fixed: Record<string, Rules> = {
  pods: pod,
  services: service,
  nodes: node,
  namespaces: small.namespace,
  configmaps: small.configMap,
  secrets: secret,
  events: event,
  'events.events.k8s.io': newEvent,
  'deployments.apps': deployment,
  'replicasets.apps': replicaSet,
  'statefulsets.apps': statefulSet,
  'daemonsets.apps': daemonSet,
  'ingresses.networking.k8s.io': ingress,
  'ingressclasses.networking.k8s.io': ingressClass,
  'ipaddresses.networking.k8s.io': ipAddress,
  'networkpolicies.networking.k8s.io': networkPolicy,
  'servicecidrs.networking.k8s.io': serviceRange,
  'leases.coordination.k8s.io': small.lease,
  'poddisruptionbudgets.policy': budget,
  'controllerrevisions.apps': small.revision,
  'roles.rbac.authorization.k8s.io': role,
  'clusterroles.rbac.authorization.k8s.io': clusterRole,
  'rolebindings.rbac.authorization.k8s.io': binding,
  'clusterrolebindings.rbac.authorization.k8s.io': clusterBinding,
  'customresourcedefinitions.apiextensions.k8s.io': definitionRules,
  'validatingadmissionpolicies.admissionregistration.k8s.io': admissionPolicy,
  'validatingadmissionpolicybindings.admissionregistration.k8s.io': policyBinding,
  'validatingwebhookconfigurations.admissionregistration.k8s.io': webhookConfiguration,
  'mutatingwebhookconfigurations.admissionregistration.k8s.io': webhookConfiguration,
};

const twins: Record<string, Twin> = { 'events.events.k8s.io': eventTwin };

const selectable: Record<string, string[]> = {
  pods: [
    'spec.nodeName',
    'spec.restartPolicy',
    'spec.schedulerName',
    'spec.serviceAccountName',
    'spec.hostNetwork',
    'status.phase',
    'status.podIP',
    'status.nominatedNodeName',
  ],
  services: ['spec.clusterIP', 'spec.type'],
  nodes: ['spec.unschedulable'],
  namespaces: ['status.phase'],
  secrets: ['type'],
  events: Object.keys(event.fields ?? {}),
  'events.events.k8s.io': Object.keys(newEvent.fields ?? {}),
  'replicasets.apps': ['status.replicas'],
};

const scale: ScalePaths = { spec: 'spec.replicas', status: 'status.replicas', selector: 'spec.selector' };

export interface BuiltinOptions {
  /** Whether endpoints may be on loopback addresses. */
  loopbackEndpoints: boolean;
}

export function builtin({ loopbackEndpoints }: BuiltinOptions): Resource[] {
  const rules: Record<string, Rules> = {
    ...fixed,
    endpoints: endpoints(loopbackEndpoints),
    'endpointslices.discovery.k8s.io': endpointSlice(loopbackEndpoints),
  };
  return rows.map((row) => resourceOf(row, rules));
}

function resourceOf(row: ResourceRow, rules: Record<string, Rules>): Resource {
  const name = row.group ? `${row.resource}.${row.group}` : row.resource;
  const { group, resource, singular, kind, shortNames, categories, verbs, subresources } = row;
  return {
    group,
    resource,
    singular,
    kind,
    shortNames,
    categories,
    verbs,
    subresources,
    listKind: `${kind}List`,
    isNamespaced: row.namespaced,
    isCustom: false,
    storageVersion: 'v1',
    rules: rules[name] ?? small.plain,
    ...(twins[name] ? { twin: twins[name] } : {}),
    versions: [
      {
        name: 'v1',
        schema: known(row.schema),
        isServed: true,
        columns: kindColumns[name] ?? plainColumns,
        hasStatus: subresources.includes('status'),
        ...(subresources.includes('scale') ? { scale } : {}),
        selectable: selectable[name] ?? [],
        ...(name === 'endpoints'
          ? { deprecation: 'v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice' }
          : {}),
      },
    ],
  };
}
