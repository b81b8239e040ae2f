// Loadbalancer: the triple of a first-layer LTM, a second-layer VE and the CIS of one cluster. Platform admins write it.
import { type Static, Type } from 'typebox';
import { conditions, observedGeneration, readiness } from './condition.ts';
import { ltm, secretRef, ve } from './device.ts';
import { type KindOf, type Resource, define } from './kind.ts';
import { atomicList, choice, identifier, ruled } from './schema.ts';

const cis = Type.Object(
  {
    mode: choice(['fairlead', 'external'], {
      title: 'Mode',
      description:
        "fairlead: our own agent configures the VE. external: F5's CIS or CIS-C does; we write only its inputs.",
      default: 'fairlead',
    }),
    tenant: Type.String({
      title: 'Tenant',
      description:
        'Template of the AS3 tenant. {cluster} and {namespace} are filled in; CIS-C needs {cluster}_{namespace}.',
      default: '{cluster}',
      minLength: 1,
      maxLength: 126,
      pattern: '^([A-Za-z0-9_.-]|\\{cluster\\}|\\{namespace\\})+$',
    }),
  },
  {
    title: 'CIS',
    description: 'Who turns ConfigMaps into configuration on the VE.',
    default: { mode: 'fairlead', tenant: '{cluster}' },
  },
);

const policy = ruled(
  Type.Object(
    {
      provider: choice(['auto', 'manual', 'http'], {
        title: 'Provider',
        description:
          'Who opens the network between the two addresses. auto: nobody has to. manual: a network admin approves. http: the approver at url.',
        default: 'auto',
      }),
      url: Type.Optional(
        Type.String({
          title: 'URL',
          description: 'Where the approver is found, for provider http.',
          maxLength: 2048,
          pattern: '^https?://[^/\\s]+\\S*$',
        }),
      ),
      tokenSecretRef: Type.Optional(
        secretRef('Token Secret', 'Secret with the bearer token of the approver under key `token`.'),
      ),
    },
    {
      title: 'Network policy',
      description: 'How the network between LTM and VE address gets opened.',
      default: { provider: 'auto' },
    },
  ),
  {
    cel: "self.provider != 'http' || has(self.url)",
    message: 'provider http needs the url of the approver: give policy.url, or choose auto or manual',
    zh: 'provider 为 http 时需要审批系统的 url:请填写 policy.url,或选择 auto 或 manual',
    field: '.url',
    holds: (p) => p.provider !== 'http' || p.url !== undefined,
  },
);

const spec = ruled(
  Type.Object(
    {
      ltm,
      ve,
      cluster: identifier({ title: 'Cluster', description: 'The target cluster, by the name it is registered with.' }),
      nsselector: Type.Unsafe<Record<string, string>>({
        type: 'object',
        title: 'Namespace selector',
        description: 'Labels by which the CIS finds its namespaces; written to the namespaces of tickets.',
        default: {},
        maxProperties: 32,
        additionalProperties: {
          type: 'string',
          maxLength: 63,
          pattern: '^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$',
        },
      }),
      cis,
      policy,
      reclaimQuarantine: Type.String({
        title: 'Quarantine',
        description: 'How long a released address waits before it is given to someone else, such as 30s, 10m or 1h30m.',
        default: '0s',
        maxLength: 32,
        pattern: '^([0-9]+(\\.[0-9]+)?(ms|s|m|h))+$',
      }),
    },
    { title: 'Spec', description: 'The devices, the addresses they may give out, and the cluster they serve.' },
  ),
  {
    cel: "self.cis.mode == 'external' || has(self.ve.credentialsSecretRef) || (has(self.ve.user) && has(self.ve.passwd))",
    message:
      'our agent has to log in to the VE: give ve.credentialsSecretRef (or ve.user and ve.passwd), or set cis.mode to external',
    zh: '我们的代理需要登录 VE:请填写 ve.credentialsSecretRef(或 ve.user 和 ve.passwd),或将 cis.mode 设为 external',
    field: '.ve',
    holds: ({ cis: agent, ve: device }) =>
      agent.mode === 'external' ||
      device.credentialsSecretRef !== undefined ||
      (device.user !== undefined && device.passwd !== undefined),
  },
);

const ip = Type.Object(
  {
    veip: Type.String({ title: 'VE address', description: 'Second-layer address.', maxLength: 45 }),
    ltmip: Type.String({ title: 'LTM address', description: 'First-layer address.', maxLength: 45 }),
    status: choice(['bond', 'reserved', 'quarantine'], {
      title: 'Status',
      description: 'reserved: taken, network not open yet. bond: in use. quarantine: released, not given out yet.',
    }),
    ticket: Type.Optional(
      Type.String({ title: 'Ticket', description: 'The holder, as namespace/name.', maxLength: 317 }),
    ),
    until: Type.Optional(
      Type.String({
        title: 'Until',
        description: 'When the quarantine ends, in UTC.',
        format: 'date-time',
        maxLength: 64,
      }),
    ),
  },
  { title: 'Address pair', description: 'One pair of addresses and who holds it.' },
);

const layerCapacity = (layer: string) =>
  Type.Object(
    {
      total: Type.Integer({
        title: 'Total',
        description: 'Addresses that can be given out, at most 9007199254740991 (an IPv6 network has more).',
        format: 'int64',
        minimum: 0,
      }),
      used: Type.Integer({
        title: 'Used',
        description: 'Addresses held now, quarantine included.',
        format: 'int64',
        minimum: 0,
      }),
    },
    { title: layer, description: `Addresses of the ${layer} layer.` },
  );

const status = Type.Object(
  {
    observedGeneration: Type.Optional(observedGeneration),
    ips: Type.Optional(
      atomicList(ip, {
        title: 'Addresses',
        description:
          'Address pairs held, at most 2000. A projection: the tickets are the truth, but of a quarantine whose ticket is removed.',
      }),
    ),
    moreIps: Type.Optional(
      Type.Integer({
        title: 'More addresses',
        description:
          'Pairs held beyond those in ips; those in quarantine are listed first. Absent when all are listed.',
        format: 'int64',
        minimum: 1,
      }),
    ),
    capacity: Type.Optional(
      Type.Object(
        { ve: layerCapacity('VE'), ltm: layerCapacity('LTM') },
        { title: 'Capacity', description: 'How many addresses there are and how many are held.' },
      ),
    ),
    conditions: Type.Optional(conditions('Ready, DeviceReachable, ClusterReachable, AddressesAvailable')),
  },
  { title: 'Status', description: 'What the controller last observed.' },
);

export type LoadbalancerSpec = Static<typeof spec>;
export type LoadbalancerStatus = Static<typeof status>;
export type LoadbalancerIp = Static<typeof ip>;
export type Loadbalancer = Resource<LoadbalancerSpec, LoadbalancerStatus>;

export const loadbalancers: KindOf<Loadbalancer> = {
  group: 'ebcpaas.lb',
  version: 'v1',
  kind: 'Loadbalancer',
  plural: 'loadbalancers',
  namespaced: false,
};

export const loadbalancer = define({
  kind: loadbalancers,
  shortName: 'flb',
  description: 'A load balancer: the LTM and VE devices in front of one cluster, and the addresses they may give out.',
  spec,
  status,
  rules: [],
  columns: [
    { name: 'Cluster', type: 'string', description: 'The target cluster.', jsonPath: '.spec.cluster' },
    { name: 'VE', type: 'string', description: 'The second-layer device.', jsonPath: '.spec.ve.addr' },
    {
      name: 'VE-Network',
      type: 'string',
      description: 'Network of second-layer addresses.',
      jsonPath: '.spec.ve.cidr',
    },
    {
      name: 'LTM-Network',
      type: 'string',
      description: 'Network of first-layer addresses.',
      jsonPath: '.spec.ltm.cidr',
    },
    {
      name: 'Used',
      type: 'integer',
      description: 'Second-layer addresses held.',
      jsonPath: '.status.capacity.ve.used',
    },
    {
      name: 'Total',
      type: 'integer',
      description: 'Second-layer addresses there are.',
      jsonPath: '.status.capacity.ve.total',
    },
    ...readiness,
    { name: 'LTM', type: 'string', description: 'The first-layer device.', jsonPath: '.spec.ltm.url', wide: true },
    {
      name: 'Policy',
      type: 'string',
      description: 'Who opens the network.',
      jsonPath: '.spec.policy.provider',
      wide: true,
    },
    { name: 'CIS', type: 'string', description: 'Who configures the VE.', jsonPath: '.spec.cis.mode', wide: true },
  ],
});
