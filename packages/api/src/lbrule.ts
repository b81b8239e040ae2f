// Lbrule: where the requests of one listner go when they match, for canary releases.
import { type Static, Type } from 'typebox';
import { conditions, observedGeneration, readiness, whatToDo } from './condition.ts';
import { type KindOf, type Resource, define } from './kind.ts';
import { atomicList, choice, identifier, nullable, objectName, ruled } from './schema.ts';
import { weightedServices } from './services.ts';

/** The longest regexp, in characters: it runs on the device for each request. */
const longestRegexp = 256;

const value = ruled(
  Type.Object(
    {
      operator: choice(['equal', 'range', 'startwith', 'regexp'], {
        title: 'Operator',
        description:
          'How the request is compared with the value. range is for header, cookie, urlparam (100-1000) and ip.',
      }),
      value: Type.String({
        title: 'Value',
        description: 'What to compare with. For ip: an address, a network (10.0.0.0/8) or a range (10.0.0.1-10.0.0.9).',
        minLength: 1,
        maxLength: 1024,
        pattern: '^[^\\x00-\\x1f\\x7f]*$',
      }),
    },
    { title: 'Value', description: 'One comparison.' },
  ),
  {
    cel: `self.operator != 'regexp' || size(self.value) <= ${longestRegexp}`,
    message: `a regexp can have ${longestRegexp} characters, it runs for each request: shorten it, or split it into several values`,
    zh: `正则表达式最多 ${longestRegexp} 个字符,因为每个请求都要执行它:请缩短,或拆分成多个值`,
    field: '.value',
    holds: (v) => v.operator !== 'regexp' || [...v.value].length <= longestRegexp,
  },
);

const keyed = ['header', 'cookie', 'urlparam'];

/*
 *   type                     | key      | operators
 *   -------------------------+----------+----------------------------------
 *   domain, url              | none     | equal, startwith, regexp
 *   header, cookie, urlparam | required | equal, startwith, regexp, range
 *   ip                       | none     | equal, range
 */
const entry = ruled(
  Type.Object(
    {
      type: choice(['domain', 'url', 'ip', 'header', 'cookie', 'urlparam'], {
        title: 'Type',
        description: 'What of the request is looked at. tcp and udp listners know only ip.',
      }),
      key: Type.Optional(
        nullable(
          { title: 'Key', description: 'Name of the header, cookie or parameter. Empty for the other types.' },
          { maxLength: 128, pattern: '^[!-~]*$' },
        ),
      ),
      values: atomicList(value, {
        title: 'Values',
        description: 'The entry matches when any of these does.',
        minItems: 1,
        maxItems: 128,
      }),
    },
    { title: 'Entry', description: 'One thing of the request, and the values that match.' },
  ),
  {
    cel: "!(self.type in ['header', 'cookie', 'urlparam']) || (has(self.key) && dyn(self.key) != null && self.key != '')",
    message: 'header, cookie and urlparam need a key: name the header, cookie or parameter',
    zh: 'header、cookie 和 urlparam 需要 key:请填写请求头、cookie 或参数的名称',
    field: '.key',
    holds: (e) => !keyed.includes(e.type) || (e.key ?? '') !== '',
  },
  {
    cel: "self.type in ['header', 'cookie', 'urlparam'] || !has(self.key) || dyn(self.key) == null || self.key == ''",
    message: 'domain, url and ip have no key: leave it empty, or choose header, cookie or urlparam',
    zh: 'domain、url 和 ip 没有 key:请留空,或选择 header、cookie 或 urlparam',
    field: '.key',
    holds: (e) => keyed.includes(e.type) || (e.key ?? '') === '',
  },
  {
    cel: "!(self.type in ['domain', 'url']) || self.values.all(v, v.operator != 'range')",
    message: 'operator range is for header, cookie, urlparam and ip: use equal, startwith or regexp',
    zh: '运算符 range 只用于 header、cookie、urlparam 和 ip:请改用 equal、startwith 或 regexp',
    field: '.values',
    holds: (e) => (e.type !== 'domain' && e.type !== 'url') || e.values.every((v) => v.operator !== 'range'),
  },
  {
    cel: "self.type != 'ip' || self.values.all(v, v.operator in ['equal', 'range'])",
    message: 'ip knows the operators equal and range: write networks and ranges of addresses as value',
    zh: 'ip 只支持运算符 equal 和 range:请把网段和地址范围写在 value 中',
    field: '.values',
    holds: (e) => e.type !== 'ip' || e.values.every((v) => v.operator === 'equal' || v.operator === 'range'),
  },
  {
    cel: "self.type == 'ip' || self.values.all(v, v.operator != 'range' || v.value.matches('^[0-9]+-[0-9]+$'))",
    message: 'a range is two whole numbers with a dash between them, such as 100-1000: both ends belong to it',
    zh: '范围由两个整数和中间的短横线组成,例如 100-1000:两端都包含在内',
    field: '.values',
    holds: (e) => e.type === 'ip' || e.values.every((v) => v.operator !== 'range' || /^[0-9]+-[0-9]+$/.test(v.value)),
  },
);

const spec = Type.Object(
  {
    lbticket: objectName({ title: 'Ticket', description: 'Name of the Lbticket, in the same namespace as the rule.' }),
    listner: identifier({
      title: 'Listner',
      description: 'Name of the listner of that ticket whose requests are looked at.',
    }),
    services: weightedServices('Where matching requests go.'),
    rules: atomicList(entry, {
      title: 'Entries',
      description: 'What a request must look like.',
      minItems: 1,
      maxItems: 32,
    }),
    priority: Type.Integer({
      title: 'Priority',
      description:
        'Rules of a listner are tried from low to high, then from old to new, then by name; the first match wins.',
      default: 100,
      format: 'int32',
      minimum: 0,
      maximum: 1_000_000,
    }),
    match: choice(['any', 'all'], {
      title: 'Match',
      description: 'any: one matching entry is enough. all: every entry must match.',
      default: 'any',
    }),
  },
  { title: 'Spec', description: 'Which requests of which listner go where.' },
);

const status = Type.Object(
  {
    observedGeneration: Type.Optional(observedGeneration),
    conditions: Type.Optional(conditions('Accepted, Programmed, Ready')),
  },
  { title: 'Status', description: 'What the controller last observed.' },
);

export type LbruleSpec = Static<typeof spec>;
export type LbruleStatus = Static<typeof status>;
export type LbruleEntry = Static<typeof entry>;
export type Lbrule = Resource<LbruleSpec, LbruleStatus>;

export const lbrules: KindOf<Lbrule> = {
  group: 'ebcpaas.lb',
  version: 'v1',
  kind: 'Lbrule',
  plural: 'lbrules',
  namespaced: true,
};

export const lbrule = define({
  kind: lbrules,
  shortName: 'lbr',
  description: 'A rule of a listner: requests that match go to Services of their own, by weight.',
  spec,
  status,
  rules: [],
  columns: [
    { name: 'Lbticket', type: 'string', description: 'The ticket.', jsonPath: '.spec.lbticket' },
    { name: 'Listner', type: 'string', description: 'The listner of the ticket.', jsonPath: '.spec.listner' },
    { name: 'Priority', type: 'integer', description: 'Low is tried first.', jsonPath: '.spec.priority' },
    ...readiness,
    { name: 'Match', type: 'string', description: 'How entries combine.', jsonPath: '.spec.match', wide: true },
    {
      name: 'Services',
      type: 'string',
      description: 'Where matching requests go.',
      jsonPath: '.spec.services[*].service',
      wide: true,
    },
    whatToDo,
  ],
});
