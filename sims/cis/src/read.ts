// ConfigMaps, labels, Services and endpoints, read by the rules that F5 documents for CIS and for CIS-C.

export type Controller = 'cis' | 'cis-c';

interface Meta {
  name: string;
  namespace?: string;
  labels?: Record<string, string>;
  creationTimestamp?: string;
}

interface ConfigMap {
  metadata: Meta;
  data?: Record<string, string>;
}

interface Service {
  metadata: Meta;
  spec: { ports?: { port: number; targetPort?: number | string; name?: string }[] };
}

interface Slice {
  metadata: Meta;
  ports?: { name?: string; port?: number }[];
  endpoints: { addresses: string[]; conditions?: { ready?: boolean } }[];
}

export interface Objects {
  configmaps: readonly ConfigMap[];
  services: readonly Service[];
  endpointslices: readonly Slice[];
  namespaces: readonly { metadata: Meta }[];
}

export interface Found {
  /** By pool path, `address:port` each, sorted. Pools with addresses of their own are left out. */
  members: Record<string, string[]>;
  complaints: string[];
}

/**
 *                              | CIS                                   | CIS-C
 *   ---------------------------+---------------------------------------+---------------------------------
 *   namespaces                 | with the labels given                 | the same
 *   ConfigMap                  | f5type virtual-server, as3 "true"     | f5type virtual-server, as3 there
 *   two with one tenant        | the later one stands alone            | the first one stands
 *   pool to fill               | `members[0].serverAddresses` is []    | the same
 *   Service                    | its namespace, three labels, oldest   | its namespace, three labels, first
 *   `servicePort`              | of the Service; else all, first port  | of the endpoint; else none
 *   `shareNodes` not given     | null: the whole document is refused   | fine
 *   classes                    | those of AS3                          | those of `classesOfCisC`
 */
export function read(controller: Controller, objects: Objects, namespaceLabels: Record<string, string> = {}): Found {
  const found: Found = { members: {}, complaints: [] };
  const isWatched = (name = '') =>
    objects.namespaces.some(({ metadata }) => metadata.name === name && holds(metadata.labels, namespaceLabels));
  const live = objects.configmaps
    .filter(({ metadata }) => isWatched(metadata.namespace) && isLive(controller, metadata.labels))
    .toSorted(byAge);
  for (const [tenant, { applications, namespace }] of tenantsOf(controller, live, found.complaints)) {
    if (controller === 'cis-c') found.complaints.push(...unknownClasses(tenant, applications));
    for (const { application, pool, template } of poolsOf(applications)) {
      const path = `/${tenant}/${application}/${pool}`;
      const service = serviceOf({ tenant, application, pool, namespace }, objects.services);
      found.members[path] = service ? membersOf(controller, { service, template, path }, objects, found) : [];
    }
  }
  if (controller === 'cis' && found.complaints.some((one) => one.startsWith('refused'))) found.members = {};
  return found;
}

function isLive(controller: Controller, labels: Record<string, string> = {}): boolean {
  if (labels['f5type'] !== 'virtual-server') return false;
  return controller === 'cis' ? labels['as3'] === 'true' : labels['as3'] !== undefined;
}

interface Declared {
  applications: Record<string, unknown>;
  namespace: string;
}

function tenantsOf(
  controller: Controller,
  configmaps: readonly ConfigMap[],
  complaints: string[],
): Map<string, Declared> {
  const tenants = new Map<string, Declared>();
  for (const { metadata, data } of configmaps) {
    const body: unknown = JSON.parse(data?.['template'] ?? 'null');
    const adc = isRecord(body) && isRecord(body['declaration']) ? body['declaration'] : {};
    for (const [name, tenant] of Object.entries(adc)) {
      if (!isRecord(tenant) || tenant['class'] !== 'Tenant') continue;
      if (tenants.has(name))
        complaints.push(`tenant ${name} is in two ConfigMaps, one of them ${metadata.namespace}/${metadata.name}`);
      if (tenants.has(name) && controller === 'cis-c') continue;
      tenants.set(name, { applications: tenant, namespace: metadata.namespace ?? '' });
    }
  }
  return tenants;
}

const classesOfCisC: readonly string[] = [
  'AS3',
  'ADC',
  'Tenant',
  'Application',
  'Service_HTTP',
  'Service_HTTPS',
  'Service_TCP',
  'Service_UDP',
  'Service_L4',
  'Service_Address',
  'HTTP_Profile',
  'Multiplex_Profile',
  'TCP_Profile',
  'UDP_Profile',
  'FTP_Profile',
  'L4_Profile',
  'Pool',
  'Monitor',
  'iRule',
  'Persist',
  'SNAT_Pool',
  'TLS_Server',
  'TLS_Client',
  'Certificate',
  'CA_Bundle',
];

/** Of every object below `path` that has a class. */
function unknownClasses(path: string, objects: Record<string, unknown>): string[] {
  return Object.entries(objects).flatMap(([name, object]) => {
    if (!isRecord(object)) return [];
    const { class: kind } = object;
    const at = `${path}/${name}`;
    const isUnknown = typeof kind === 'string' && !classesOfCisC.includes(kind);
    return [...(isUnknown ? [`/${at}: class ${kind} is unknown`] : []), ...unknownClasses(at, object)];
  });
}

interface Template {
  servicePort: number;
  shareNodes?: unknown;
}

interface Fillable {
  application: string;
  pool: string;
  template: Template;
}

/** The pools that wait for members. */
const poolsOf = (applications: Record<string, unknown>): Fillable[] =>
  Object.entries(applications).flatMap(([application, objects]) =>
    Object.entries(isRecord(objects) ? objects : {}).flatMap(([pool, object]) => {
      const template = templateOf(object);
      return template ? [{ application, pool, template }] : [];
    }),
  );

function templateOf(object: unknown): Template | undefined {
  if (!isRecord(object) || object['class'] !== 'Pool' || !Array.isArray(object['members'])) return undefined;
  const first: unknown = object['members'][0];
  if (!isRecord(first) || !Array.isArray(first['serverAddresses']) || first['serverAddresses'].length > 0)
    return undefined;
  const { servicePort, shareNodes } = first;
  return { servicePort: typeof servicePort === 'number' ? servicePort : 80, shareNodes };
}

interface Wanted {
  tenant: string;
  application: string;
  pool: string;
  namespace: string;
}

function serviceOf(
  { tenant, application, pool, namespace }: Wanted,
  services: readonly Service[],
): Service | undefined {
  const labels = { 'cis.f5.com/as3-tenant': tenant, 'cis.f5.com/as3-app': application, 'cis.f5.com/as3-pool': pool };
  return services
    .filter(({ metadata }) => metadata.namespace === namespace && holds(metadata.labels, labels))
    .toSorted(byAge)[0];
}

interface Pool {
  service: Service;
  template: Template;
  path: string;
}

function membersOf(
  controller: Controller,
  { service, template, path }: Pool,
  { endpointslices }: Objects,
  { complaints }: Found,
): string[] {
  const own = endpointslices.filter(
    ({ metadata }) =>
      metadata.namespace === service.metadata.namespace &&
      metadata.labels?.['kubernetes.io/service-name'] === service.metadata.name,
  );
  const all = own.flatMap(({ ports = [], endpoints }) =>
    endpoints
      .filter(({ conditions }) => conditions?.ready ?? true)
      .flatMap(({ addresses }) => ports.map(({ name, port = 0 }) => ({ address: addresses[0] ?? '', name, port }))),
  );
  const asked = template.servicePort;
  const portOf = ({ name, port }: { name?: string | undefined; port: number }): number =>
    controller === 'cis-c'
      ? port
      : ((service.spec.ports ?? []).find((one) => (one.name ?? '') === (name ?? ''))?.port ?? port);
  const matched = all.filter((one) => portOf(one) === asked);
  const [first] = all;
  if (matched.length === 0 && first && controller === 'cis')
    complaints.push(
      `${path}: no address of ${service.metadata.name} has port ${asked}; all are taken, with port ${first.port}`,
    );
  const taken =
    matched.length > 0 || controller === 'cis-c' || !first ? matched : all.map((one) => ({ ...one, port: first.port }));
  if (controller === 'cis' && taken.length > 0 && typeof template.shareNodes !== 'boolean')
    complaints.push(`refused: ${path}: shareNodes is null, expected boolean`);
  return [...new Set(taken.map(({ address, port }) => `${address}:${port}`))].toSorted();
}

const holds = (labels: Record<string, string> = {}, wanted: Record<string, string>): boolean =>
  Object.entries(wanted).every(([key, value]) => labels[key] === value);

const byAge = (a: { metadata: Meta }, b: { metadata: Meta }): number => {
  const [first, second] = [a, b].map(
    ({ metadata }) => `${metadata.creationTimestamp ?? ''} ${metadata.namespace}/${metadata.name}`,
  );
  return (first ?? '') < (second ?? '') ? -1 : 1;
};

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
