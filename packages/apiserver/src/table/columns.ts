// The columns `kubectl get` shows for built-in kinds, and the cell of each; `wide` columns show with -o wide.
import { listOf, textOf, treeOf, valueAt, type KubeObject, type Tree } from '../object.ts';
import { part, type Columns } from '../resource.ts';
import { selectorText } from '../selector.ts';
import { age } from './duration.ts';
import { podCells } from './pod-status.ts';
import { paramKind, paramRef } from './policy-cells.ts';

type Cell = (object: KubeObject, now: number) => unknown;
/** The type is what the real server says it is, which is `string` even for most numbers. */
type Definition = [name: string, cell: Cell, options?: { type?: string; wide?: boolean; format?: string }];

const nameNote = 'Name of the object.';
const nameColumn: Definition = ['Name', (object) => object.metadata.name, { format: 'name' }];
const ageColumn: Definition = ['Age', (object, now) => age(object.metadata.creationTimestamp, now)];

function columns(...definitions: Definition[]): Columns {
  return {
    columns: definitions.map(([name, , options = {}]) => ({
      name,
      type: options.type ?? 'string',
      format: options.format ?? '',
      description: name === 'Name' ? nameNote : '',
      priority: options.wide ? 1 : 0,
    })),
    cells: (object, now) => definitions.map(([, cell]) => cell(object, now)),
  };
}

const none = (text: unknown): unknown => (text === undefined || text === '' || text === null ? '<none>' : text);
const at =
  (path: string): Cell =>
  (object) =>
    none(valueAt(object, path));
const count =
  (path: string): Cell =>
  (object) =>
    Number(valueAt(object, path) ?? 0);
const size =
  (...fields: string[]): Cell =>
  (object) =>
    fields.reduce((sum, field) => sum + Object.keys(part(object, field)).length, 0);
const integer = { type: 'integer' };
const wide = { wide: true };

const containers = (spec: Tree, field: 'name' | 'image'): string =>
  listOf(spec.containers)
    .map((item) => textOf(treeOf(item)[field]))
    .join(',');
const templateContainers =
  (field: 'name' | 'image'): Cell =>
  (object) =>
    none(containers(treeOf(treeOf(part(object, 'spec').template).spec), field));
const selector: Cell = (object) => none(selectorText(treeOf(part(object, 'spec').selector)));
const labelsOf = (labels: unknown): unknown =>
  none(
    Object.entries(treeOf(labels))
      .map(([key, value]) => `${key}=${String(value)}`)
      .join(','),
  );
const workloadWide: Definition[] = [
  ['Containers', templateContainers('name'), wide],
  ['Images', templateContainers('image'), wide],
  ['Selector', selector, wide],
];

function externalAddress(object: KubeObject): string {
  const spec = part(object, 'spec');
  const given = listOf(valueAt(object, 'status.loadBalancer.ingress')).map(
    (item) => textOf(treeOf(item).ip) || textOf(treeOf(item).hostname),
  );
  const extra = listOf(spec.externalIPs).map(String);
  if (spec.type === 'ExternalName') return textOf(spec.externalName);
  if (spec.type === 'LoadBalancer') return [...given, ...extra].join(',') || '<pending>';
  return extra.join(',') || '<none>';
}

const servicePorts: Cell = (object) =>
  none(
    listOf(part(object, 'spec').ports)
      .map(treeOf)
      .map((port) => `${String(port.port)}${port.nodePort ? `:${String(port.nodePort)}` : ''}/${textOf(port.protocol)}`)
      .join(','),
  );

function firstFew(items: string[], most = 3): string {
  if (items.length === 0) return '<none>';
  return items.length > most ? `${items.slice(0, most).join(',')} + ${items.length - most} more...` : items.join(',');
}

const subsets: Cell = (object) =>
  firstFew(
    listOf(object.subsets)
      .map(treeOf)
      .flatMap((subset) => {
        const ports = listOf(subset.ports).map((port) => treeOf(port).port);
        return listOf(subset.addresses).flatMap((address) =>
          ports.map((port) => `${textOf(treeOf(address).ip)}:${String(port)}`),
        );
      }),
  );

const conditionOf = (object: KubeObject, type: string): Tree =>
  listOf(part(object, 'status').conditions)
    .map(treeOf)
    .find((condition) => condition.type === type) ?? {};

function nodeStatus(object: KubeObject): string {
  const status = conditionOf(object, 'Ready').status;
  const words = [status === 'True' ? 'Ready' : status === undefined ? 'Unknown' : 'NotReady'];
  if (part(object, 'spec').unschedulable) words.push('SchedulingDisabled');
  return words.join(',');
}

const nodeRoles: Cell = (object) => {
  const prefix = 'node-role.kubernetes.io/';
  const roles = Object.keys(object.metadata.labels ?? {}).filter((key) => key.startsWith(prefix));
  return none(
    roles
      .map((key) => key.slice(prefix.length))
      .sort()
      .join(','),
  );
};

const nodeAddress =
  (type: string): Cell =>
  (object) =>
    none(
      textOf(
        listOf(part(object, 'status').addresses)
          .map(treeOf)
          .find((address) => address.type === type)?.address,
      ),
    );

const nodeSystem =
  (field: string): Cell =>
  (object) =>
    textOf(valueAt(object, `status.nodeInfo.${field}`)) || '<unknown>';

const replicas = (object: KubeObject): string =>
  `${Number(valueAt(object, 'status.readyReplicas') ?? 0)}/${Number(valueAt(object, 'spec.replicas') ?? 0)}`;
const roleRef: Cell = (object) => `${textOf(part(object, 'roleRef').kind)}/${textOf(part(object, 'roleRef').name)}`;
const subjects =
  (kind: string): Cell =>
  (object) =>
    listOf(object.subjects)
      .map(treeOf)
      .filter((subject) => subject.kind === kind)
      .map((subject) =>
        kind === 'ServiceAccount' ? `${textOf(subject.namespace)}/${textOf(subject.name)}` : textOf(subject.name),
      )
      .join(',');
const created: Definition = ['Created At', (object) => object.metadata.creationTimestamp, { type: 'date' }];

const about = (reference: Tree): string => `${textOf(reference.kind).toLowerCase()}/${textOf(reference.name)}`;
const lastSeen = (object: KubeObject): unknown =>
  treeOf(object.series).lastObservedTime ?? object.lastTimestamp ?? object.deprecatedLastTimestamp ?? firstSeen(object);
const firstSeen = (object: KubeObject): unknown =>
  object.firstTimestamp ?? object.deprecatedFirstTimestamp ?? object.eventTime;
const events = (reference: string, message: string): Columns =>
  columns(
    ['Last Seen', (object, now) => age(lastSeen(object), now)],
    ['Type', at('type')],
    ['Reason', at('reason')],
    ['Object', (object) => about(part(object, reference))],
    ['Subobject', (object) => textOf(part(object, reference).fieldPath), wide],
    ['Source', (object) => textOf(part(object, 'source').component ?? object.reportingComponent), wide],
    ['Message', (object) => textOf(object[message]).trim()],
    ['First Seen', (object, now) => age(firstSeen(object), now), wide],
    ['Count', (object) => Number(object.count ?? treeOf(object.series).count ?? 1), wide],
    ['Name', (object) => object.metadata.name, { ...wide, format: 'name' }],
  );

const hosts: Cell = (object) => {
  const names = listOf(part(object, 'spec').rules)
    .map((rule) => textOf(treeOf(rule).host))
    .filter((host) => host !== '');
  return names.length === 0 ? '*' : firstFew(names);
};

const webhooks = columns(nameColumn, ['Webhooks', (object) => listOf(object.webhooks).length, integer], ageColumn);
const roles = columns(nameColumn, created);

/** Name and age: what any kind can show. */
export const plainColumns: Columns = columns(nameColumn, ageColumn);
/** A custom kind without printer columns. */
export const customColumns: Columns = columns(nameColumn, ageColumn);

/** By `resource.group`. */
function parentOf(object: KubeObject): string {
  const { parentRef } = part(object, 'spec');
  const { group, resource, namespace, name } = treeOf(parentRef);
  if (parentRef === undefined) return '<none>';
  const kind = [textOf(resource), textOf(group)].filter((text) => text !== '').join('.');
  return [kind.toLowerCase(), textOf(namespace), textOf(name)].filter((text) => text !== '').join('/');
}

export const kindColumns: Record<string, Columns> = {
  pods: columns(
    nameColumn,
    ...(['Ready', 'Status', 'Restarts', 'Age', 'IP', 'Node', 'Nominated Node', 'Readiness Gates'] as const).map(
      (name, i): Definition => [name, (object, now) => podCells(object, now)[i], i > 3 ? wide : {}],
    ),
  ),
  services: columns(
    nameColumn,
    ['Type', at('spec.type')],
    ['Cluster-IP', at('spec.clusterIP')],
    ['External-IP', externalAddress],
    ['Port(s)', servicePorts],
    ageColumn,
    ['Selector', (object) => labelsOf(part(object, 'spec').selector), wide],
  ),
  endpoints: columns(nameColumn, ['Endpoints', subsets], ageColumn),
  nodes: columns(
    nameColumn,
    ['Status', nodeStatus],
    ['Roles', nodeRoles],
    ageColumn,
    ['Version', (object) => textOf(valueAt(object, 'status.nodeInfo.kubeletVersion'))],
    ['Internal-IP', nodeAddress('InternalIP'), wide],
    ['External-IP', nodeAddress('ExternalIP'), wide],
    ['OS-Image', nodeSystem('osImage'), wide],
    ['Kernel-Version', nodeSystem('kernelVersion'), wide],
    ['Container-Runtime', nodeSystem('containerRuntimeVersion'), wide],
  ),
  namespaces: columns(nameColumn, ['Status', at('status.phase')], ageColumn),
  configmaps: columns(nameColumn, ['Data', size('data', 'binaryData')], ageColumn),
  secrets: columns(nameColumn, ['Type', at('type')], ['Data', size('data')], ageColumn),
  events: events('involvedObject', 'message'),
  'events.events.k8s.io': events('regarding', 'note'),
  serviceaccounts: columns(nameColumn, ['Secrets', (object) => listOf(object.secrets).length], ageColumn),
  'deployments.apps': columns(
    nameColumn,
    ['Ready', replicas],
    ['Up-to-date', count('status.updatedReplicas')],
    ['Available', count('status.availableReplicas')],
    ageColumn,
    ...workloadWide,
  ),
  'replicasets.apps': columns(
    nameColumn,
    ['Desired', count('spec.replicas'), integer],
    ['Current', count('status.replicas'), integer],
    ['Ready', count('status.readyReplicas'), integer],
    ageColumn,
    ...workloadWide,
  ),
  'statefulsets.apps': columns(
    nameColumn,
    ['Ready', replicas],
    ageColumn,
    ['Containers', templateContainers('name'), wide],
    ['Images', templateContainers('image'), wide],
  ),
  'daemonsets.apps': columns(
    nameColumn,
    ['Desired', count('status.desiredNumberScheduled'), integer],
    ['Current', count('status.currentNumberScheduled'), integer],
    ['Ready', count('status.numberReady'), integer],
    ['Up-to-date', count('status.updatedNumberScheduled'), integer],
    ['Available', count('status.numberAvailable'), integer],
    ['Node Selector', (object) => labelsOf(valueAt(object, 'spec.template.spec.nodeSelector'))],
    ageColumn,
    ...workloadWide,
  ),
  'controllerrevisions.apps': columns(
    nameColumn,
    [
      'Controller',
      (object) =>
        none(
          (object.metadata.ownerReferences ?? [])
            .filter((owner) => owner.controller)
            .map(ownerText)
            .join(','),
        ),
    ],
    ['Revision', count('revision')],
    ageColumn,
  ),
  'endpointslices.discovery.k8s.io': columns(
    nameColumn,
    ['AddressType', at('addressType')],
    [
      'Ports',
      (object) =>
        listOf(object.ports).length === 0
          ? '<unset>'
          : firstFew(listOf(object.ports).map((port) => String(treeOf(port).port ?? '*'))),
    ],
    [
      'Endpoints',
      (object) =>
        listOf(object.endpoints).length === 0
          ? '<unset>'
          : firstFew(listOf(object.endpoints).flatMap((endpoint) => listOf(treeOf(endpoint).addresses).map(String))),
    ],
    ageColumn,
  ),
  'ingresses.networking.k8s.io': columns(
    nameColumn,
    ['Class', at('spec.ingressClassName')],
    ['Hosts', hosts],
    [
      'Address',
      (object) =>
        listOf(valueAt(object, 'status.loadBalancer.ingress'))
          .map((item) => textOf(treeOf(item).ip) || textOf(treeOf(item).hostname))
          .join(','),
    ],
    ['Ports', (object) => (listOf(part(object, 'spec').tls).length > 0 ? '80, 443' : '80')],
    ageColumn,
  ),
  'ingressclasses.networking.k8s.io': columns(
    nameColumn,
    ['Controller', at('spec.controller')],
    ['Parameters', at('spec.parameters.name')],
    ageColumn,
  ),
  'ipaddresses.networking.k8s.io': {
    // The real server's rows end with an age that none of its columns is for.
    ...columns(nameColumn, ['ParentRef', parentOf], ageColumn),
    columns: columns(nameColumn, ['ParentRef', parentOf]).columns,
  },
  'networkpolicies.networking.k8s.io': columns(
    nameColumn,
    ['Pod-Selector', (object) => none(selectorText(treeOf(part(object, 'spec').podSelector)))],
    ageColumn,
  ),
  'servicecidrs.networking.k8s.io': columns(
    nameColumn,
    ['CIDRs', (object) => listOf(part(object, 'spec').cidrs).join(',')],
    ageColumn,
  ),
  'leases.coordination.k8s.io': columns(
    nameColumn,
    ['Holder', (object) => textOf(part(object, 'spec').holderIdentity)],
    ageColumn,
  ),
  'poddisruptionbudgets.policy': columns(
    nameColumn,
    ['Min Available', (object) => part(object, 'spec').minAvailable ?? 'N/A'],
    ['Max Unavailable', (object) => part(object, 'spec').maxUnavailable ?? 'N/A'],
    ['Allowed Disruptions', count('status.disruptionsAllowed'), integer],
    ageColumn,
  ),
  'roles.rbac.authorization.k8s.io': roles,
  'clusterroles.rbac.authorization.k8s.io': roles,
  'rolebindings.rbac.authorization.k8s.io': columns(
    nameColumn,
    ['Role', roleRef],
    ageColumn,
    ['Users', subjects('User'), wide],
    ['Groups', subjects('Group'), wide],
    ['ServiceAccounts', subjects('ServiceAccount'), wide],
  ),
  'clusterrolebindings.rbac.authorization.k8s.io': columns(
    nameColumn,
    ['Role', roleRef],
    ageColumn,
    ['Users', subjects('User'), wide],
    ['Groups', subjects('Group'), wide],
    ['ServiceAccounts', subjects('ServiceAccount'), wide],
  ),
  'customresourcedefinitions.apiextensions.k8s.io': columns(nameColumn, created),
  'validatingadmissionpolicies.admissionregistration.k8s.io': columns(
    nameColumn,
    ['Validations', (object) => listOf(part(object, 'spec').validations).length, integer],
    ['ParamKind', paramKind],
    ageColumn,
  ),
  'validatingadmissionpolicybindings.admissionregistration.k8s.io': columns(
    nameColumn,
    ['PolicyName', (object) => textOf(part(object, 'spec').policyName)],
    ['ParamRef', paramRef],
    ageColumn,
  ),
  'validatingwebhookconfigurations.admissionregistration.k8s.io': webhooks,
  'mutatingwebhookconfigurations.admissionregistration.k8s.io': webhooks,
};

function ownerText(owner: { apiVersion: string; kind: string; name: string }): string {
  const group = owner.apiVersion.includes('/') ? `.${owner.apiVersion.split('/')[0] ?? ''}` : '';
  return `${owner.kind.toLowerCase()}${group}/${owner.name}`;
}
