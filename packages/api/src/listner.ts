// A listner (the seed's spelling): one port of a ticket's address, and the Services behind it.
import { type Static, Type } from 'typebox';
import { atomicList, choice, identifier, listMap, objectName, port, ruled } from './schema.ts';
import { weightedServices } from './services.ts';

const monitor = ruled(
  Type.Object(
    {
      type: choice(['http', 'https', 'tcp', 'udp', 'icmp'], { title: 'Type', description: 'What is tried.' }),
      path: Type.Optional(
        Type.String({
          title: 'Path',
          description: 'What is asked for, for http and https; / when absent.',
          maxLength: 255,
          // RFC 3986 without quotes: the device sees it inside a quoted string.
          pattern: '^/[A-Za-z0-9._~%!&()*+,;=:@/?-]*$',
        }),
      ),
      interval: Type.Optional(
        Type.Integer({
          title: 'Interval',
          description: 'Seconds between tries; 5 when absent.',
          format: 'int32',
          minimum: 1,
          maximum: 899,
        }),
      ),
      timeout: Type.Optional(
        Type.Integer({
          title: 'Timeout',
          description:
            'Seconds without an answer after which a member is down; three times interval plus 1 when absent.',
          format: 'int32',
          minimum: 2,
          maximum: 900,
        }),
      ),
    },
    {
      title: 'Monitor',
      description: 'How the device finds out whether a member works. Made from the protocal when absent.',
    },
  ),
  {
    cel: '!has(self.timeout) || self.timeout > (has(self.interval) ? self.interval : 5)',
    message:
      'timeout must be longer than interval (5 when absent), or every member is down between two tries: three times interval plus 1 is usual',
    zh: 'timeout 必须大于 interval(未填时为 5),否则每个成员在两次探测之间都会被判为故障:通常取 interval 的三倍加 1',
    field: '.timeout',
    holds: (m) => m.timeout === undefined || m.timeout > (m.interval ?? 5),
  },
  {
    cel: '!has(self.interval) || has(self.timeout) || self.interval <= 299',
    message:
      'without a timeout it is three times interval plus 1, and the device takes 900: give a timeout, or an interval of at most 299',
    zh: '未填 timeout 时取 interval 的三倍加 1,而设备最多接受 900:请填写 timeout,或将 interval 设为不超过 299',
    field: '.interval',
    holds: (m) => m.interval === undefined || m.timeout !== undefined || m.interval <= 299,
  },
  {
    cel: "!has(self.path) || self.type in ['http', 'https']",
    message: 'only http and https monitors ask for a path: leave path out, or choose another type',
    zh: '只有 http 和 https 健康检查才有 path:请去掉 path,或选择其他 type',
    field: '.path',
    holds: (m) => m.path === undefined || m.type === 'http' || m.type === 'https',
  },
);

const sni = Type.Object(
  {
    secretName: objectName({ title: 'Secret', description: 'Name of a kubernetes.io/tls Secret, as above.' }),
    host: Type.String({
      title: 'Host',
      description:
        'Clients that ask for this name get the certificate; may begin with `*.`. Empty: those that ask for a name in the certificate.',
      default: '',
      maxLength: 253,
      pattern: '^((\\*\\.)?[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?)*)?$',
    }),
  },
  { title: 'Certificate', description: 'A certificate for clients that ask for a name.' },
);

const tls = Type.Object(
  {
    secretName: objectName({
      title: 'Secret',
      description:
        "Name of a kubernetes.io/tls Secret in the ticket's namespace of the target cluster. With sni, for clients that ask for no name, or for one that no other certificate is for.",
    }),
    sni: Type.Optional(
      listMap(sni, ['secretName', 'host'], {
        title: 'More certificates',
        description: 'Chosen by the name that a client asks for (SNI).',
        maxItems: 64,
      }),
    ),
  },
  { title: 'TLS', description: 'The certificates of an https listner.' },
);

const frozen = (field: 'port' | 'protocal') => ({
  cel: `self.${field} == oldSelf.${field}`,
  message: `${field} of a listner cannot change once it exists: add another listner under a new name and remove this one`,
  zh: `监听器创建后不能更改 ${field}:请用新名称添加另一个监听器,并删除此监听器`,
  field: `.${field}`,
  onChange: true as const,
  holds: (self: { port: number; protocal: string }, old: { port: number; protocal: string }) =>
    self[field] === old[field],
});

const listner = ruled(
  Type.Object(
    {
      name: identifier({ title: 'Name', description: 'What rules call the listner; unique in its ticket.' }),
      port: port({
        title: 'Port',
        description: 'Port on the virtual address, 1 to 65535. Fixed once the listner exists.',
      }),
      protocal: choice(['http', 'https', 'tcp', 'udp'], {
        title: 'Protocol',
        description: 'What is spoken on the port. Fixed once the listner exists.',
      }),
      session: choice(['cookie', 'source-address', 'none'], {
        title: 'Session persistence',
        description: 'What keeps a client at the member it had. cookie works with http and https only.',
        default: 'none',
      }),
      services: weightedServices('Where requests go that no rule matches.'),
      stickiness: choice(['source', 'cookie', 'random'], {
        title: 'Stickiness',
        description:
          'What keeps a client at the Service that the weights gave it, here and in rules. source: the address of pickBy always gives the same Service. cookie: a Service by chance, then a cookie for each rule; http and https only. random: nothing, each request (tcp and udp: each connection) gets one by chance.',
        default: 'source',
      }),
      pickBy: choice(['client-address', 'x-forwarded-for'], {
        title: 'Pick by',
        description:
          'The address that stickiness source goes by. x-forwarded-for: the last address in that header, which the device in front of the VE has to set; http and https only.',
        default: 'client-address',
      }),
      tls: Type.Optional(tls),
      balance: choice(['round-robin', 'least-connections-member', 'ratio-member'], {
        title: 'Balance',
        description: 'How a member of the chosen Service is picked.',
        default: 'round-robin',
      }),
      monitor: Type.Optional(monitor),
      irules: Type.Optional(
        atomicList(Type.String({ minLength: 2, maxLength: 195, pattern: '^(/[A-Za-z][0-9A-Za-z_.-]*){2,4}$' }), {
          title: 'iRules',
          description:
            'Rules that are on the device already, such as /Common/audit; they run before the generated one. One that chooses a pool itself says so with `set fl_chosen 1`, or the generated one chooses again. Adding or removing one makes the virtual server anew.',
          maxItems: 16,
        }),
      ),
    },
    { title: 'Listner', description: 'One port of the virtual address, and the Services behind it.' },
  ),
  frozen('port'),
  frozen('protocal'),
  {
    cel: "self.session != 'cookie' || self.protocal in ['http', 'https']",
    message:
      'session cookie needs protocal http or https, since nothing else carries cookies: use source-address or none',
    zh: 'session 为 cookie 时 protocal 须为 http 或 https,其他协议不携带 cookie:请改用 source-address 或 none',
    field: '.session',
    holds: (l) => l.session !== 'cookie' || isHttp(l.protocal),
  },
  {
    cel: "self.stickiness != 'cookie' || self.protocal in ['http', 'https']",
    message: 'stickiness cookie needs protocal http or https, since nothing else carries cookies: use source or random',
    zh: 'stickiness 为 cookie 时 protocal 须为 http 或 https,其他协议不携带 cookie:请改用 source 或 random',
    field: '.stickiness',
    holds: (l) => l.stickiness !== 'cookie' || isHttp(l.protocal),
  },
  {
    cel: "self.pickBy != 'x-forwarded-for' || self.protocal in ['http', 'https']",
    message:
      'pickBy x-forwarded-for needs protocal http or https, since nothing else carries headers: use client-address',
    zh: 'pickBy 为 x-forwarded-for 时 protocal 须为 http 或 https,其他协议不携带请求头:请改用 client-address',
    field: '.pickBy',
    holds: (l) => l.pickBy !== 'x-forwarded-for' || isHttp(l.protocal),
  },
  {
    cel: "self.pickBy != 'x-forwarded-for' || self.stickiness == 'source'",
    message:
      'pickBy says what stickiness source goes by, and cookie and random go by no address: leave pickBy out, or set stickiness to source',
    zh: 'pickBy 只对 stickiness 为 source 时有意义,cookie 和 random 不依据任何地址:请去掉 pickBy,或将 stickiness 设为 source',
    field: '.pickBy',
    holds: (l) => l.pickBy !== 'x-forwarded-for' || l.stickiness === 'source',
  },
  {
    cel: "self.protocal != 'https' || has(self.tls)",
    message: 'protocal https needs tls.secretName: name a kubernetes.io/tls Secret in the namespace of the ticket',
    zh: 'protocal 为 https 时需要 tls.secretName:请填写工单所在命名空间中 kubernetes.io/tls 类型的 Secret',
    field: '.tls',
    holds: (l) => l.protocal !== 'https' || l.tls !== undefined,
  },
  {
    cel: "self.protocal == 'https' || !has(self.tls)",
    message: 'tls is used by protocal https only: leave tls out, or choose https',
    zh: '只有 protocal 为 https 时才使用 tls:请去掉 tls,或选择 https',
    field: '.tls',
    holds: (l) => l.protocal === 'https' || l.tls === undefined,
  },
  {
    cel: "!has(self.monitor) || self.monitor.type == 'icmp' || (self.monitor.type == 'udp') == (self.protocal == 'udp')",
    message:
      'a monitor of another transport finds every member down: use udp for protocal udp, http, https or tcp for the others, or icmp',
    zh: '传输协议不同的健康检查会将所有成员判为故障:protocal 为 udp 时请用 udp,其他协议请用 http、https 或 tcp,或使用 icmp',
    field: '.monitor.type',
    holds: (l) =>
      l.monitor === undefined || l.monitor.type === 'icmp' || (l.monitor.type === 'udp') === (l.protocal === 'udp'),
  },
);

export type Listner = Static<typeof listner>;

// The device speaks plain HTTP to the pods of an https listner, so that is what their monitor asks.
const monitors = { http: 'http', https: 'http', tcp: 'tcp', udp: 'udp' } as const;

/** The monitor of its pools: the one that is asked for, or one of its protocal. */
export const monitorOf = ({ monitor: asked, protocal }: Listner): NonNullable<Listner['monitor']> =>
  asked ?? { type: monitors[protocal] };

export const isHttp = (protocal: string): boolean => protocal === 'http' || protocal === 'https';

const sameSocket = (a: Listner, b: Listner): boolean =>
  a.port === b.port && (a.protocal === 'udp') === (b.protocal === 'udp');

export const listners = ruled(
  listMap(listner, ['name'], {
    title: 'Listners',
    description: 'Ports of the virtual address. Empty: only the addresses are wanted, for now.',
    maxItems: 64,
  }),
  {
    cel: "self.all(a, self.exists_one(b, b.port == a.port && (b.protocal == 'udp') == (a.protocal == 'udp')))",
    message: 'a port can be used once (tcp and udp apart): give each listner a port of its own',
    zh: '一个端口只能使用一次(tcp 与 udp 分别计算):请为每个监听器指定各自的端口',
    holds: (all) => all.every((a) => all.filter((b) => sameSocket(a, b)).length === 1),
  },
);
