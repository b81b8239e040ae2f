// Objects that cases send: the smallest valid one of each kind, and a way to say what is different about another.
import type { Json, Tree } from './case.ts';
import { isTree } from './part.ts';

/** What is different about an object: the part at each path, or undefined for what it lacks. */
export type Changes = Record<string, Json | undefined>;

/** A copy of `tree` with the part at each path (`spec.ports.0.port`) set, or taken away where it is undefined. */
export function changed(tree: Tree, changes: Changes): Tree {
  const copy = structuredClone(tree);
  for (const [path, value] of Object.entries(changes)) set(copy, path.split('.'), value);
  return copy;
}

function set(owner: Json, [key = '', ...rest]: string[], value: Json | undefined): void {
  if (Array.isArray(owner)) {
    if (rest.length === 0) owner[Number(key)] = value ?? null;
    else set(owner[Number(key)] ?? null, rest, value);
    return;
  }
  if (!isTree(owner)) throw new Error(`bug: a case changes ${key} of what has no fields`);
  if (rest.length > 0) set((owner[key] ??= /^\d+$/.test(rest[0] ?? '') ? [{}] : {}), rest, value);
  else if (value === undefined) delete owner[key];
  else owner[key] = value;
}

const object = (apiVersion: string, kind: string, name: string, rest: Tree = {}): Tree => ({
  apiVersion,
  kind,
  metadata: { name },
  ...rest,
});

export const configMap = (name: string, rest: Tree = {}): Tree =>
  object('v1', 'ConfigMap', name, { data: { a: '1' }, ...rest });

export const labelled = (name: string, labels: Tree): Tree => changed(configMap(name), { 'metadata.labels': labels });

export const secret = (name: string, rest: Tree = {}): Tree => object('v1', 'Secret', name, rest);

const template = (app: string): Tree => ({
  metadata: { labels: { app } },
  spec: { containers: [{ name: 'web', image: 'nginx:1.27' }] },
});

export const pod = (name: string, changes: Changes = {}): Tree =>
  changed(object('v1', 'Pod', name, { spec: { containers: [{ name: 'web', image: 'nginx:1.27' }] } }), changes);

export const service = (name: string, changes: Changes = {}): Tree =>
  changed(object('v1', 'Service', name, { spec: { selector: { app: name }, ports: [{ port: 80 }] } }), changes);

const workload = (kind: string, name: string, spec: Tree = {}): Tree =>
  object('apps/v1', kind, name, {
    spec: { selector: { matchLabels: { app: name } }, template: template(name), ...spec },
  });

export const deployment = (name: string, changes: Changes = {}): Tree => changed(workload('Deployment', name), changes);
export const replicaSet = (name: string, changes: Changes = {}): Tree => changed(workload('ReplicaSet', name), changes);
export const daemonSet = (name: string, changes: Changes = {}): Tree => changed(workload('DaemonSet', name), changes);
export const statefulSet = (name: string, changes: Changes = {}): Tree =>
  changed(workload('StatefulSet', name, { serviceName: name }), changes);

export const ingress = (name: string, changes: Changes = {}): Tree => {
  const path = { path: '/', pathType: 'Prefix', backend: { service: { name: 'web', port: { number: 80 } } } };
  return changed(
    object('networking.k8s.io/v1', 'Ingress', name, {
      spec: { rules: [{ host: 'a.example.com', http: { paths: [path] } }] },
    }),
    changes,
  );
};

export const lease = (name: string, spec: Tree = {}): Tree => object('coordination.k8s.io/v1', 'Lease', name, { spec });

export const budget = (name: string, spec: Tree): Tree =>
  object('policy/v1', 'PodDisruptionBudget', name, { spec: { selector: { matchLabels: { app: name } }, ...spec } });

export const endpointSlice = (name: string, changes: Changes = {}): Tree =>
  changed(
    object('discovery.k8s.io/v1', 'EndpointSlice', name, {
      addressType: 'IPv4',
      endpoints: [{ addresses: ['10.1.2.3'] }],
      ports: [{ name: 'http', port: 80 }],
    }),
    changes,
  );

export const rbac = (kind: string, name: string, rest: Tree): Tree =>
  object('rbac.authorization.k8s.io/v1', kind, name, rest);

export const role = (name: string, rules: Json[]): Tree => rbac('Role', name, { rules });

/** A binding of `role` to the user `user`. */
export const binding = (name: string, roleName: string, user: string): Tree =>
  rbac('RoleBinding', name, {
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: roleName },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: user }],
  });

/** A definition of `Widget`, plural `widgets`, in the chapter's group, with the given schema of its `spec`. */
export const definition = (spec: Tree, changes: Changes = {}): Tree =>
  changed(
    object('apiextensions.k8s.io/v1', 'CustomResourceDefinition', 'widgets.<group>', {
      spec: {
        group: '<group>',
        scope: 'Namespaced',
        names: { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' },
        versions: [
          {
            name: 'v1',
            served: true,
            storage: true,
            schema: { openAPIV3Schema: { type: 'object', properties: { spec } } },
          },
        ],
      },
    }),
    changes,
  );
