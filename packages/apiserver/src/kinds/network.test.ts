// Network policies, service ranges and the record of addresses: what is refused, filled in and printed.
import { expect, test } from 'vitest';
import type { Tree } from '../object.ts';
import { testServer } from '../test-server.ts';

const root = '/apis/networking.k8s.io/v1';
const policies = `${root}/namespaces/default/networkpolicies`;
const addresses = `${root}/ipaddresses`;
const ranges = `${root}/servicecidrs`;
const named = (name: string, spec: Tree): Tree => ({ metadata: { name }, spec });
const policy = (rule: Tree): Tree => named('a', { podSelector: {}, ingress: [rule] });
const block = (ipBlock: Tree): Tree => policy({ from: [{ ipBlock }] });
const parent = { resource: 'services', namespace: 'default', name: 'a' };

test.each<[string, Tree, string[]]>([
  [policies, policy({ ports: [{ port: 80, endPort: 90 }], from: [{ podSelector: {} }] }), []],
  [policies, policy({ from: [{}] }), ['spec.ingress[0].from[0]: Required value: must specify a peer']],
  [
    policies,
    policy({ ports: [{ port: 0 }] }),
    ['spec.ingress[0].ports[0].port: Invalid value: 0: must be between 1 and 65535, inclusive'],
  ],
  [
    policies,
    policy({ ports: [{ endPort: 9 }] }),
    ['spec.ingress[0].ports[0].endPort: Invalid value: 9: may not be specified when `port` is not specified'],
  ],
  [
    policies,
    policy({ ports: [{ port: 'web', endPort: 9 }] }),
    ['spec.ingress[0].ports[0].endPort: Invalid value: 9: may not be specified when `port` is non-numeric'],
  ],
  [
    policies,
    policy({ ports: [{ port: 80, endPort: 9 }] }),
    ['spec.ingress[0].ports[0].endPort: Invalid value: 80: must be greater than or equal to `port`'],
  ],
  [
    policies,
    policy({ ports: [{ port: 80, protocol: 'ICMP' }] }),
    ['spec.ingress[0].ports[0].protocol: Unsupported value: "ICMP": supported values: "TCP", "UDP", "SCTP"'],
  ],
  [policies, block({ cidr: '10.0.0.0/8', except: ['10.1.0.0/16'] }), []],
  [
    policies,
    block({ cidr: '10.0.0.0' }),
    [
      'spec.ingress[0].from[0].ipBlock.cidr: Invalid value: "10.0.0.0": must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)',
    ],
  ],
  [
    policies,
    block({ cidr: '10.0.0.0/8', except: ['11.0.0.0/16'] }),
    ['spec.ingress[0].from[0].ipBlock.except[0]: Invalid value: "11.0.0.0/16": must be a strict subset of `cidr`'],
  ],
  [
    policies,
    policy({ from: [{ podSelector: {}, ipBlock: { cidr: '10.0.0.0/8' } }] }),
    ['spec.ingress[0].from[0]: Forbidden: may not specify both ipBlock and another peer'],
  ],
  [
    policies,
    named('a', { podSelector: {}, policyTypes: ['Sideways'] }),
    ['spec.policyTypes[0]: Unsupported value: "Sideways": supported values: "Ingress", "Egress"'],
  ],
  [addresses, named('10.0.0.1', { parentRef: parent }), []],
  [addresses, named('10.0.0.1', {}), ['spec.parentRef: Required value']],
  [
    addresses,
    named('10.0.0.1', { parentRef: { name: 'a/b' } }),
    ['spec.parentRef.resource: Required value', 'spec.parentRef.name: Invalid value: "a/b": may not contain \'/\''],
  ],
  [
    addresses,
    named('2001:0db8::1', { parentRef: parent }),
    ['metadata.name: Invalid value: "2001:0db8::1": must be in canonical form ("2001:db8::1")'],
  ],
  [
    addresses,
    named('::ffff:10.0.0.1', { parentRef: parent }),
    ['metadata.name: Invalid value: "::ffff:10.0.0.1": must not be an IPv4-mapped IPv6 address'],
  ],
  [ranges, named('a', { cidrs: ['10.0.0.0/24', 'fd00::/64'] }), []],
  [ranges, named('a', {}), ['spec.cidrs: Required value: at least one CIDR required']],
  [
    ranges,
    named('a', { cidrs: ['10.0.0.1/24'] }),
    ['spec.cidrs[0]: Invalid value: "10.0.0.1/24": must not have bits set beyond the prefix length'],
  ],
  [
    ranges,
    named('a', { cidrs: ['10.0.0.0/24', '10.1.0.0/24'] }),
    [
      'spec.cidrs: Invalid value: ["10.0.0.0/24","10.1.0.0/24"]: may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64',
    ],
  ],
])('%s %j', async (path, body, causes) => {
  const server = await testServer();
  const reply = await server.send('POST', path, body);
  expect(reply.causes).toEqual(causes);
  expect(reply.code).toBe(causes.length > 0 ? 422 : 201);
  await server.close();
});

test('a policy is about what comes in, and about what goes out where it says so', async () => {
  const server = await testServer();
  const made = await server.send(
    'POST',
    policies,
    named('a', { podSelector: {}, egress: [{ ports: [{ port: 53 }] }] }),
  );
  expect(made.body.spec).toMatchObject({
    policyTypes: ['Ingress', 'Egress'],
    egress: [{ ports: [{ port: 53, protocol: 'TCP' }] }],
  });
  expect(made.body.metadata.generation).toBe(1);
  await server.close();
});

test('a service range grows by one of the other family, and changes in no other way', async () => {
  const server = await testServer();
  await server.send('POST', ranges, named('a', { cidrs: ['10.0.0.0/24'] }));
  const moved = await server.send('PATCH', `${ranges}/a`, { spec: { cidrs: ['10.1.0.0/24'] } });
  expect(moved.causes).toEqual(['spec.cidrs[0]: Invalid value: "10.1.0.0/24": field is immutable']);
  expect((await server.send('PATCH', `${ranges}/a`, { spec: { cidrs: ['10.0.0.0/24', 'fd00::/64'] } })).code).toBe(200);
  const less = await server.send('PATCH', `${ranges}/a`, { spec: { cidrs: ['10.0.0.0/24'] } });
  expect(less.causes).toEqual(['spec.cidrs: Invalid value: ["10.0.0.0/24"]: field is immutable']);
  await server.close();
});

test('tables tell what an address belongs to, and what a policy and a range are about', async () => {
  const server = await testServer();
  const accept = 'application/json;as=Table;v=v1;g=meta.k8s.io';
  const cells = async (path: string) => {
    const reply = await server.send('GET', path, undefined, { accept });
    return (reply.body.rows as { cells: unknown[] }[]).map((row) => row.cells.slice(0, 2));
  };
  await server.send('POST', addresses, named('10.0.0.1', { parentRef: { ...parent, group: 'example.io' } }));
  await server.send('POST', policies, named('a', { podSelector: { matchLabels: { app: 'a' } } }));
  await server.send('POST', ranges, named('a', { cidrs: ['10.0.0.0/24', 'fd00::/64'] }));
  expect(await cells(addresses)).toEqual([['10.0.0.1', 'services.example.io/default/a']]);
  expect(await cells(policies)).toEqual([['a', 'app=a']]);
  expect(await cells(ranges)).toEqual([['a', '10.0.0.0/24,fd00::/64']]);
  await server.close();
});
