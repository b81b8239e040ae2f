// Objects that break one thing each, for the tests that hold three judges against each other: our own checks, ajv, and CEL.
import type { Definition } from './kind.ts';
import { lbcanary } from './lbcanary.ts';
import { lbrule } from './lbrule.ts';
import { lbticket } from './lbticket.ts';
import { loadbalancer } from './loadbalancer.ts';
import { makeCanary, makeListner, makeLoadbalancer, makeRule, makeTicket } from './make.ts';

export interface Case {
  /** A sentence. */
  name: string;
  definition: Definition;
  object: object;
  old?: object;
  /** Paths of the fields at fault; none when the object is good. */
  paths: string[];
}

const of =
  (definition: Definition) =>
  (name: string, object: object, paths: string[], old?: object): Case => ({
    name,
    definition,
    object,
    paths,
    ...(old === undefined ? {} : { old }),
  });

const lb = of(loadbalancer);
const ticket = of(lbticket);
const rule = of(lbrule);
const canary = of(lbcanary);

/** A ticket whose one listner differs in this. */
const withListner = (listner: object) => makeTicket({ listners: [{ ...makeListner(), ...listner }] });
const withEntry = (entry: object) => makeRule({ rules: [entry as never] });
const service = (weight: number, more: object = {}) => ({ service: 'svc01', port: 8080, weight, ...more });
const device = makeLoadbalancer().spec;

/** What schemas alone tell: types, bounds, patterns, unknown fields. */
export const shapeCases: Case[] = [
  lb('the load balancer of the seed is good', makeLoadbalancer(), []),
  lb('a network has a prefix of at most 32', makeLoadbalancer('x', { ltm: { ...device.ltm, cidr: '10.0.0.0/33' } }), [
    'spec.ltm.cidr',
  ]),
  lb('a URL has a scheme', makeLoadbalancer('x', { ltm: { ...device.ltm, url: '100.1.1.1' } }), ['spec.ltm.url']),
  lb(
    'a device may be an IPv6 address with a port',
    makeLoadbalancer('x', { ve: { ...device.ve, addr: '[2001:db8::1]:8443' } }),
    [],
  ),
  lb('a device is no URL', makeLoadbalancer('x', { ve: { ...device.ve, addr: 'https://200.1.1.1' } }), [
    'spec.ve.addr',
  ]),
  lb('a tenant has only known placeholders', makeLoadbalancer('x', { cis: { mode: 'fairlead', tenant: '{pod}' } }), [
    'spec.cis.tenant',
  ]),
  lb('a duration has a unit', makeLoadbalancer('x', { reclaimQuarantine: '30' }), ['spec.reclaimQuarantine']),
  lb('a selector has the values of labels', makeLoadbalancer('x', { nsselector: { foo: 'a b' } }), [
    'spec.nsselector[foo]',
  ]),
  lb('a cluster is required', { spec: { ltm: device.ltm, ve: device.ve } }, ['spec.cluster']),

  ticket('a ticket without listners is good', makeTicket({ listners: [] }), []),
  ticket('empty addresses are good', makeTicket({ veip: null, ltmip: '' }), []),
  ticket('IPv6 addresses are good', makeTicket({ veip: '2001:db8::10' }), []),
  ticket('an address has no prefix', makeTicket({ veip: '20.1.0.10/16' }), ['spec.veip']),
  ticket('an unknown field is named', { spec: { ...makeTicket().spec, protocol: 'http' } }, ['spec.protocol']),
  ticket('an unknown field is named deep inside', withListner({ protocol: 'http' }), ['spec.listners[0].protocol']),
  ticket('a weight is at most 100', withListner({ services: [service(101)] }), ['spec.listners[0].services[0].weight']),
  ticket('a weight is not negative', withListner({ services: [service(-1), service(5, { port: 1 })] }), [
    'spec.listners[0].services[0].weight',
  ]),
  ticket('a weight is whole', withListner({ services: [service(1.5)] }), ['spec.listners[0].services[0].weight']),
  ticket('a port is at least 1', withListner({ port: 0 }), ['spec.listners[0].port']),
  ticket('a port is at most 65535', withListner({ port: 65_536 }), ['spec.listners[0].port']),
  ticket('a port is no string', withListner({ port: '80' }), ['spec.listners[0].port']),
  ticket('a protocal is one of four', withListner({ protocal: 'sctp' }), ['spec.listners[0].protocal']),
  ticket('a listner needs a Service', withListner({ services: [] }), ['spec.listners[0].services']),
  ticket('a Service has a DNS label for a name', withListner({ services: [{ ...service(1), service: 'Svc_01' }] }), [
    'spec.listners[0].services[0].service',
  ]),
  ticket(
    'a hostile Service name is refused',
    withListner({ services: [{ ...service(1), service: '"]; exec rm -rf /; [' }] }),
    ['spec.listners[0].services[0].service'],
  ),
  ticket(
    'a certificate by name is for no other text',
    withListner({ protocal: 'https', tls: { secretName: 'a', sni: [{ secretName: 'b', host: 'b.*.com' }] } }),
    ['spec.listners[0].tls.sni[0].host'],
  ),
  ticket('a stickiness is one of three', withListner({ stickiness: 'header' }), ['spec.listners[0].stickiness']),
  ticket('a source of the pick is one of two', withListner({ pickBy: 'header' }), ['spec.listners[0].pickBy']),
  ticket('an iRule is named by its path', withListner({ irules: ['audit'] }), ['spec.listners[0].irules[0]']),
  ticket('a timeout is at most 900', withListner({ monitor: { type: 'http', timeout: 901 } }), [
    'spec.listners[0].monitor.timeout',
  ]),
  ticket('an interval is below that', withListner({ monitor: { type: 'http', interval: 900, timeout: 900 } }), [
    'spec.listners[0].monitor.interval',
  ]),
  ticket('a path has no quote', withListner({ monitor: { type: 'http', path: '/"' } }), [
    'spec.listners[0].monitor.path',
  ]),
  ticket('a path has no backquote', withListner({ monitor: { type: 'http', path: '/`x`' } }), [
    'spec.listners[0].monitor.path',
  ]),
  ticket('a state is one of three', makeTicket({ state: 'gone' as never }), ['spec.state']),
  ticket('a claimer has no control characters', makeTicket({ claimer: 'k\u0007' }), ['spec.claimer']),

  ticket(
    'a ticket has at most 64 listners',
    makeTicket({ listners: Array.from({ length: 65 }, (_, i) => makeListner({ name: `l${i}`, port: i + 1 })) }),
    ['spec.listners'],
  ),
  ticket('a claimer is at most 253 characters', makeTicket({ claimer: 'k'.repeat(254) }), ['spec.claimer']),
  lb(
    'a selector has at most 32 labels',
    makeLoadbalancer('x', { nsselector: Object.fromEntries(Array.from({ length: 33 }, (_, i) => [`k${i}`, 'v'])) }),
    ['spec.nsselector'],
  ),

  rule('the rule of the seed is good', makeRule(), []),
  rule(
    'a hostile value is data',
    withEntry({ type: 'domain', values: [{ operator: 'equal', value: '"]; exec rm -rf /; [' }] }),
    [],
  ),
  rule(
    'a value has no control characters',
    withEntry({ type: 'url', values: [{ operator: 'equal', value: '/a\nb' }] }),
    ['spec.rules[0].values[0].value'],
  ),
  rule('a value is not empty', withEntry({ type: 'url', values: [{ operator: 'equal', value: '' }] }), [
    'spec.rules[0].values[0].value',
  ]),
  rule('a value is no number', withEntry({ type: 'header', key: 'A', values: [{ operator: 'equal', value: 10 }] }), [
    'spec.rules[0].values[0].value',
  ]),
  rule('an operator is one of four', withEntry({ type: 'url', values: [{ operator: 'like', value: '/' }] }), [
    'spec.rules[0].values[0].operator',
  ]),
  rule('a rule needs an entry', makeRule({ rules: [] }), ['spec.rules']),
  rule('a key has no blanks', withEntry({ type: 'header', key: 'A B', values: [{ operator: 'equal', value: '1' }] }), [
    'spec.rules[0].key',
  ]),

  canary('a canary is good', makeCanary(), []),
  canary('the share of a canary is at most 100', makeCanary({ steps: [101] }), ['spec.steps[0]']),
  canary('the share of a canary is not 0', makeCanary({ steps: [0, 5] }), ['spec.steps[0]']),
  canary('a canary has a step', makeCanary({ steps: [] }), ['spec.steps']),
  canary('a pause has a unit', makeCanary({ pause: '60' }), ['spec.pause']),
  canary('a mode is one of two', makeCanary({ mode: 'fast' as never }), ['spec.mode']),
  canary('a ratio is in percent', makeCanary({ maxErrorRatio: 101 }), ['spec.maxErrorRatio']),
];

/** Keys that appear twice: Kubernetes knows of them, JSON Schema does not. */
export const duplicateCases: Case[] = [
  ticket('a listner name is used once', makeTicket({ listners: [makeListner(), makeListner({ port: 81 })] }), [
    'spec.listners[1]',
  ]),
  ticket('a port of a Service is used once in a list', withListner({ services: [service(1), service(2)] }), [
    'spec.listners[0].services[1]',
  ]),
];

const changed = (listner: Parameters<typeof makeListner>[0]) => makeTicket({ listners: [makeListner(listner)] });
const inState = (
  process: 'created' | 'apply' | 'enabled' | 'failed' | 'disabled' | 'deleted',
  spec: Parameters<typeof makeTicket>[0] = {},
) => makeTicket(spec, { process });

/** Rules that are written in CEL and in TypeScript. */
export const ruleCases: Case[] = [
  ticket('cookie persistence is for http', withListner({ protocal: 'tcp' }), ['spec.listners[0].session']),
  ticket('cookie persistence is for https too', withListner({ protocal: 'https', tls: { secretName: 'a' } }), []),
  ticket('a pool is kept by cookie for http', withListner({ stickiness: 'cookie' }), []),
  ticket(
    'a pool is kept by cookie for http only',
    withListner({ protocal: 'udp', session: 'none', stickiness: 'cookie' }),
    ['spec.listners[0].stickiness'],
  ),
  ticket('chance is for all', withListner({ protocal: 'udp', session: 'none', stickiness: 'random' }), []),
  ticket('a forwarded address is for http', withListner({ pickBy: 'x-forwarded-for' }), []),
  ticket(
    'a forwarded address is for http only',
    withListner({ protocal: 'tcp', session: 'none', pickBy: 'x-forwarded-for' }),
    ['spec.listners[0].pickBy'],
  ),
  ticket('a cookie goes by no address', withListner({ stickiness: 'cookie', pickBy: 'x-forwarded-for' }), [
    'spec.listners[0].pickBy',
  ]),
  ticket('https needs a Secret', withListner({ protocal: 'https' }), ['spec.listners[0].tls']),
  ticket(
    'a certificate by name is for a DNS name, or for all under one',
    withListner({
      protocal: 'https',
      tls: {
        secretName: 'a',
        sni: [
          { secretName: 'b', host: 'b.example.com' },
          { secretName: 'b', host: '*.example.com' },
        ],
      },
    }),
    [],
  ),
  ticket('http has no Secret', withListner({ tls: { secretName: 'a' } }), ['spec.listners[0].tls']),
  ticket('weights have a positive sum', withListner({ services: [service(0), service(0, { port: 1 })] }), [
    'spec.listners[0].services',
  ]),
  ticket('one positive weight is enough', withListner({ services: [service(0), service(1, { port: 1 })] }), []),
  ticket('a port is used once', makeTicket({ listners: [makeListner(), makeListner({ name: 'b' })] }), [
    'spec.listners',
  ]),
  ticket(
    'tcp and udp may share a port',
    makeTicket({ listners: [makeListner(), makeListner({ name: 'b', protocal: 'udp', session: 'none' })] }),
    [],
  ),
  ticket(
    'a monitor waits longer than its interval',
    withListner({ monitor: { type: 'http', interval: 5, timeout: 5 } }),
    ['spec.listners[0].monitor.timeout'],
  ),
  ticket('a monitor tries every 5 seconds when not told', withListner({ monitor: { type: 'http', timeout: 3 } }), [
    'spec.listners[0].monitor.timeout',
  ]),
  ticket('a timeout alone is good', withListner({ monitor: { type: 'http', timeout: 6 } }), []),
  ticket('a long interval needs a timeout', withListner({ monitor: { type: 'http', interval: 300 } }), [
    'spec.listners[0].monitor.interval',
  ]),
  ticket('an interval alone is good', withListner({ monitor: { type: 'http', interval: 299 } }), []),
  ticket(
    'a long interval with a timeout is good',
    withListner({ monitor: { type: 'http', interval: 899, timeout: 900 } }),
    [],
  ),
  ticket(
    'a udp listner has no http monitor',
    withListner({ protocal: 'udp', session: 'none', monitor: { type: 'http' } }),
    ['spec.listners[0].monitor.type'],
  ),
  ticket('an http listner has no udp monitor', withListner({ monitor: { type: 'udp' } }), [
    'spec.listners[0].monitor.type',
  ]),
  ticket('icmp fits every listner', withListner({ protocal: 'udp', session: 'none', monitor: { type: 'icmp' } }), []),
  ticket('a tcp monitor asks for no path', withListner({ monitor: { type: 'tcp', path: '/' } }), [
    'spec.listners[0].monitor.path',
  ]),
  ticket('an ingress ticket has no listners', makeTicket({ lbtype: 'ingress' }), ['spec.listners']),
  ticket('an ingress ticket with an empty list is good', makeTicket({ lbtype: 'ingress', listners: [] }), []),
  ticket('the port of a listner stays', changed({ port: 81 }), ['spec.listners[0].port'], makeTicket()),
  ticket(
    'the protocal of a listner stays',
    changed({ protocal: 'tcp', session: 'none' }),
    ['spec.listners[0].protocal'],
    makeTicket(),
  ),
  ticket('a listner under a new name may have any port', changed({ name: 'new', port: 81 }), [], makeTicket()),
  ...(['loadbalancer', 'namespace', 'veip', 'ltmip'] as const).map((field) =>
    ticket(
      `${field} is frozen once the ticket is enabled`,
      inState('enabled', { [field]: '1' }),
      [`spec.${field}`],
      inState('enabled'),
    ),
  ),
  ticket(
    'lbtype is frozen once applied for',
    inState('apply', { lbtype: 'ingress', listners: [] }),
    ['spec.lbtype'],
    inState('apply'),
  ),
  ticket('a failed ticket may change', inState('failed', { namespace: 'b' }), [], inState('failed')),
  ticket('a ticket that nobody has seen may change', makeTicket({ namespace: 'b' }), [], makeTicket()),
  ticket(
    'an address given out stays',
    inState('enabled', { veip: null }),
    ['spec.veip'],
    inState('enabled', { veip: '20.1.0.10' }),
  ),
  ticket(
    'an enabled ticket cannot be deleted',
    inState('enabled', { state: 'deleted' }),
    ['spec.state'],
    inState('enabled'),
  ),
  ticket(
    'a disabled ticket can be deleted',
    inState('disabled', { state: 'deleted' }),
    [],
    inState('disabled', { state: 'disabled' }),
  ),
  ticket(
    'a deleted ticket stays deleted',
    inState('deleted'),
    ['spec.state'],
    inState('deleted', { state: 'deleted' }),
  ),

  lb('approval over HTTP needs a URL', makeLoadbalancer('x', { policy: { provider: 'http' } }), ['spec.policy.url']),
  lb('our agent needs to log in', makeLoadbalancer('x', { ve: { addr: 'a', cidr: '20.1.0.0/16' } }), ['spec.ve']),
  lb(
    'an external CIS logs in itself',
    makeLoadbalancer('x', { ve: { addr: 'a', cidr: '20.1.0.0/16' }, cis: { mode: 'external', tenant: 'a' } }),
    [],
  ),

  rule('a header has a name', withEntry({ type: 'header', key: null, values: [{ operator: 'equal', value: '1' }] }), [
    'spec.rules[0].key',
  ]),
  rule('a cookie has a name', withEntry({ type: 'cookie', values: [{ operator: 'equal', value: '1' }] }), [
    'spec.rules[0].key',
  ]),
  rule('a domain has no name', withEntry({ type: 'domain', key: 'a', values: [{ operator: 'equal', value: '1' }] }), [
    'spec.rules[0].key',
  ]),
  rule('a domain has no range', withEntry({ type: 'domain', values: [{ operator: 'range', value: '1-2' }] }), [
    'spec.rules[0].values',
  ]),
  rule(
    'a range is two numbers',
    withEntry({ type: 'header', key: 'A', values: [{ operator: 'range', value: '1..2' }] }),
    ['spec.rules[0].values'],
  ),
  rule(
    'a header may have a range',
    withEntry({ type: 'header', key: 'A', values: [{ operator: 'range', value: '100-1000' }] }),
    [],
  ),
  rule('an address has no prefix match', withEntry({ type: 'ip', values: [{ operator: 'startwith', value: '10.' }] }), [
    'spec.rules[0].values',
  ]),
  rule(
    'an address may be a range',
    withEntry({ type: 'ip', values: [{ operator: 'range', value: '10.0.0.1-10.0.0.9' }] }),
    [],
  ),
  rule('a regexp is short', withEntry({ type: 'url', values: [{ operator: 'regexp', value: 'a'.repeat(257) }] }), [
    'spec.rules[0].values[0].value',
  ]),

  canary('steps rise', makeCanary({ steps: [5, 50, 20] }), ['spec.steps']),
  canary('no step comes twice', makeCanary({ steps: [5, 5] }), ['spec.steps']),
  canary('a step is one of steps', makeCanary({ step: 5 }), ['spec.step']),
  canary('the last step may be asked for', makeCanary({ step: 4 }), []),
  canary('a canary stays with its Service', makeCanary({ service: 'svc03' }), ['spec'], makeCanary()),
  canary('a canary stays with its target', makeCanary({ lbrule: 'irule' }), ['spec'], makeCanary()),
  canary('a canary may change its pace', makeCanary({ pause: '5s', steps: [10], state: 'paused' }), [], makeCanary()),
  canary(
    'an aborted canary has ended',
    makeCanary({ state: 'promoted' }, { phase: 'aborted' }),
    ['spec.state'],
    makeCanary({}, { phase: 'aborted' }),
  ),
  canary(
    'a promoted canary may be rolled back',
    makeCanary({ state: 'rolledback' }),
    [],
    makeCanary({ state: 'promoted' }),
  ),
  canary('a promoted canary does not run again', makeCanary({}), ['spec.state'], makeCanary({ state: 'promoted' })),
];
