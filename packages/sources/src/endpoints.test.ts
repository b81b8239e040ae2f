// Which pods behind a Service are members at a port, and what is said when that is not plain.
import type { Endpoint, EndpointSlice, ServicePort } from '@fairlead/kube';
import { expect, test } from 'vitest';
import { membersAt } from './endpoints.ts';
import { endpoint, makeService, makeSlice } from './testing/make.ts';

const shown = ({ members, problem }: ReturnType<typeof membersAt>): string =>
  [
    members.map(({ address, port, state }) => `${address}:${port}${state === 'draining' ? '~' : ''}`).join(' '),
    problem?.code ?? '',
  ]
    .join(' ')
    .trim();

interface PortRow {
  name: string;
  ports: ServicePort[];
  slices: EndpointSlice[];
  ask: number;
  members: string;
}

const one = [endpoint('10.0.0.1')];
const two = [endpoint('10.0.0.2')];

const portRows: PortRow[] = [
  {
    name: 'a Service port leads to its target port',
    ports: [{ port: 80, targetPort: 8080 }],
    slices: [makeSlice('web', [{ port: 8080 }], one)],
    ask: 80,
    members: '10.0.0.1:8080',
  },
  {
    name: 'a named target port differs by pod, and each pod has its own',
    ports: [{ name: 'http', port: 80, targetPort: 'http' }],
    slices: [
      makeSlice('web', [{ name: 'http', port: 8080 }], one),
      makeSlice('web', [{ name: 'http', port: 9090 }], two, { name: 'web-2' }),
    ],
    ask: 80,
    members: '10.0.0.1:8080 10.0.0.2:9090',
  },
  {
    name: 'of several ports only the one asked for',
    ports: [
      { name: 'http', port: 80, targetPort: 8080 },
      { name: 'admin', port: 81, targetPort: 9999 },
    ],
    slices: [
      makeSlice(
        'web',
        [
          { name: 'http', port: 8080 },
          { name: 'admin', port: 9999 },
        ],
        one,
      ),
    ],
    ask: 81,
    members: '10.0.0.1:9999',
  },
  {
    name: 'no Service port but a target port: that',
    ports: [{ port: 80, targetPort: 8080 }],
    slices: [makeSlice('web', [{ port: 8080 }], one)],
    ask: 8080,
    members: '10.0.0.1:8080',
  },
  {
    name: 'a target port with no pods yet is no problem',
    ports: [{ port: 80, targetPort: 8080 }],
    slices: [],
    ask: 8080,
    members: '',
  },
  {
    name: "neither: no members and a problem, never another port's",
    ports: [{ port: 80, targetPort: 8080 }],
    slices: [makeSlice('web', [{ port: 8080 }], one)],
    ask: 8081,
    members: 'invalid',
  },
  {
    name: 'a Service port that is another one’s target port: the Service port, and a word about it',
    ports: [
      { name: 'a', port: 8080, targetPort: 1000 },
      { name: 'b', port: 80, targetPort: 8080 },
    ],
    slices: [
      makeSlice(
        'web',
        [
          { name: 'a', port: 1000 },
          { name: 'b', port: 8080 },
        ],
        one,
      ),
    ],
    ask: 8080,
    members: '10.0.0.1:1000 invalid',
  },
  {
    name: 'one number for TCP and UDP with the same pods',
    ports: [
      { name: 't', port: 53, targetPort: 5353 },
      { name: 'u', protocol: 'UDP', port: 53, targetPort: 5353 },
    ],
    slices: [
      makeSlice(
        'web',
        [
          { name: 't', port: 5353 },
          { name: 'u', port: 5353, protocol: 'UDP' },
        ],
        one,
      ),
    ],
    ask: 53,
    members: '10.0.0.1:5353',
  },
  {
    name: 'one number for TCP and UDP with other target ports is refused',
    ports: [
      { name: 't', port: 53, targetPort: 5353 },
      { name: 'u', protocol: 'UDP', port: 53, targetPort: 5454 },
    ],
    slices: [
      makeSlice(
        'web',
        [
          { name: 't', port: 5353 },
          { name: 'u', port: 5454, protocol: 'UDP' },
        ],
        one,
      ),
    ],
    ask: 53,
    members: 'invalid',
  },
];

test.each(portRows)('$name', ({ ports, slices, ask, members }) => {
  expect(shown(membersAt(makeService('web', ports), slices, ask))).toBe(members);
});

interface StateRow {
  name: string;
  endpoints: Endpoint[];
  members: string;
}

const stateRows: StateRow[] = [
  { name: 'ready: enabled', endpoints: [endpoint('10.0.0.1')], members: '10.0.0.1:80' },
  { name: 'nothing said: enabled', endpoints: [endpoint('10.0.0.1', 'unknown')], members: '10.0.0.1:80' },
  { name: 'not ready yet: no member', endpoints: [endpoint('10.0.0.1', 'starting')], members: '' },
  {
    name: 'terminating and serving: draining, while another serves',
    endpoints: [endpoint('10.0.0.1', 'terminating'), endpoint('10.0.0.2')],
    members: '10.0.0.1:80~ 10.0.0.2:80',
  },
  {
    name: 'terminating and serving no longer: no member',
    endpoints: [endpoint('10.0.0.1', 'ending'), endpoint('10.0.0.2')],
    members: '10.0.0.2:80',
  },
  {
    name: 'all terminating: they stay until a replacement serves',
    endpoints: [
      endpoint('10.0.0.1', 'terminating'),
      endpoint('10.0.0.2', 'starting'),
      endpoint('10.0.0.3', 'terminating'),
    ],
    members: '10.0.0.1:80 10.0.0.3:80',
  },
  {
    name: 'published though not ready: enabled; but not when it terminates',
    endpoints: [
      { addresses: ['10.0.0.1'], conditions: { ready: true, serving: false, terminating: false } },
      { addresses: ['10.0.0.2'], conditions: { ready: true, serving: true, terminating: true } },
    ],
    members: '10.0.0.1:80 10.0.0.2:80~',
  },
];

test.each(stateRows)('$name', ({ endpoints, members }) => {
  const slices = [makeSlice('web', [{ port: 80 }], endpoints)];
  expect(shown(membersAt(makeService('web', [{ port: 80 }]), slices, 80))).toBe(members);
});

test('an endpoint in two slices is one member, the better of the two', () => {
  const slices = [
    makeSlice('web', [{ port: 80 }], [endpoint('10.0.0.1', 'terminating'), endpoint('10.0.0.2')]),
    makeSlice('web', [{ port: 80 }], [endpoint('10.0.0.1')], { name: 'web-2' }),
  ];
  expect(shown(membersAt(makeService('web', [{ port: 80 }]), slices, 80))).toBe('10.0.0.1:80 10.0.0.2:80');
  expect(shown(membersAt(makeService('web', [{ port: 80 }]), slices.toReversed(), 80))).toBe('10.0.0.1:80 10.0.0.2:80');
});

test("of a pod with two addresses only the one of the Service's first family counts", () => {
  const slices = [
    makeSlice('web', [{ port: 80 }], [endpoint('10.0.0.1')]),
    makeSlice('web', [{ port: 80 }], [endpoint('2001:db8::1')], { name: 'web-6', type: 'IPv6' }),
  ];
  const six = makeService('web', [{ port: 80 }], { ipFamilies: ['IPv6', 'IPv4'] });
  expect(membersAt(six, slices, 80).members.map(({ address }) => address)).toEqual(['2001:db8::1']);
  expect(shown(membersAt(makeService('web', [{ port: 80 }]), slices, 80))).toBe('10.0.0.1:80');
});
