// Services: addresses and node ports given out, what a spec may say, and what may change.
import { arranged, type Case, type Chapter, core, get, type Json, patch, post, remove } from '../case.ts';
import { type Changes, endpointSlice, service } from '../objects.ts';

const wrong: Record<string, Changes> = {
  'no ports': { 'spec.ports': [] },
  'two ports without names': { 'spec.ports': [{ port: 80 }, { port: 81 }] },
  'two ports of one name': {
    'spec.ports': [
      { name: 'a', port: 80 },
      { name: 'a', port: 81 },
    ],
  },
  'one port and protocol twice': {
    'spec.ports': [
      { name: 'a', port: 80 },
      { name: 'b', port: 80 },
    ],
  },
  'a port of 0': { 'spec.ports': [{ port: 0 }] },
  'a port of 65536': { 'spec.ports': [{ port: 65_536 }] },
  'a port name with capitals': { 'spec.ports': [{ name: 'HTTP', port: 80 }] },
  'a target port name of 16 letters': { 'spec.ports': [{ port: 80, targetPort: 'abcdefghijklmnop' }] },
  'an unknown protocol of a port': { 'spec.ports': [{ port: 80, protocol: 'HTTP' }] },
  'an unknown type': { 'spec.type': 'Public' },
  'an unknown session affinity': { 'spec.sessionAffinity': 'Cookie' },
  'a session timeout of 0': {
    'spec.sessionAffinity': 'ClientIP',
    'spec.sessionAffinityConfig': { clientIP: { timeoutSeconds: 0 } },
  },
  'a cluster address out of the range': { 'spec.clusterIP': '192.0.2.1' },
  'a cluster address that is none': { 'spec.clusterIP': 'nowhere' },
  'a cluster address and another list of them': { 'spec.clusterIP': '10.96.7.7', 'spec.clusterIPs': ['10.96.7.8'] },
  'an address of the other family': { 'spec.ipFamilies': ['IPv6'] },
  'an unknown family': { 'spec.ipFamilies': ['IPv5'] },
  'both families required of a cluster with one': { 'spec.ipFamilyPolicy': 'RequireDualStack' },
  'a node port for a cluster address': { 'spec.ports': [{ port: 80, nodePort: 30_080 }] },
  'a node port out of the range': { 'spec.type': 'NodePort', 'spec.ports': [{ port: 80, nodePort: 80 }] },
  'one node port twice': {
    'spec.type': 'NodePort',
    'spec.ports': [
      { name: 'a', port: 80, nodePort: 30_041 },
      { name: 'b', port: 81, nodePort: 30_041 },
    ],
  },
  'no external name for ExternalName': { 'spec.type': 'ExternalName', 'spec.ports': undefined },
  'a cluster address for ExternalName': {
    'spec.type': 'ExternalName',
    'spec.externalName': 'a.example.com',
    'spec.clusterIP': '10.96.7.9',
  },
  'an external name with a space': { 'spec.type': 'ExternalName', 'spec.externalName': 'a b' },
  'an external traffic policy for a cluster address': { 'spec.externalTrafficPolicy': 'Local' },
  'an unknown external traffic policy': { 'spec.type': 'NodePort', 'spec.externalTrafficPolicy': 'Near' },
  'an unknown internal traffic policy': { 'spec.internalTrafficPolicy': 'Near' },
  'a health check port without Local': {
    'spec.type': 'LoadBalancer',
    'spec.healthCheckNodePort': 30_082,
  },
  'a load balancer class for a cluster address': { 'spec.loadBalancerClass': 'example.com/a' },
  'a load balancer class that is no name': { 'spec.type': 'LoadBalancer', 'spec.loadBalancerClass': 'a b' },
  'a source range that is none': { 'spec.type': 'LoadBalancer', 'spec.loadBalancerSourceRanges': ['10.0.0.0/33'] },
  'a source range for a cluster address': { 'spec.loadBalancerSourceRanges': ['10.0.0.0/8'] },
  'an external address that is a loopback': { 'spec.externalIPs': ['127.0.0.1'] },
  'an external address that is none': { 'spec.externalIPs': ['nowhere'] },
  'a selector with an invalid value': { 'spec.selector': { a: 'b c' } },
  'a name that begins with a digit': { 'metadata.name': '1a' },
  'a name with a dot': { 'metadata.name': 'a.b' },
  'a name of 64 letters': { 'metadata.name': 'a'.repeat(64) },
  'a node port that is not allocated and no type for it': { 'spec.allocateLoadBalancerNodePorts': false },
};

/** What looks wrong, and a real server takes all the same. */
const tolerated: Record<string, Changes> = {
  'a target port of 0': { 'spec.ports': [{ port: 80, targetPort: 0 }] },
  'a session timeout without affinity': { 'spec.sessionAffinityConfig': { clientIP: { timeoutSeconds: 5 } } },
};

const given: Record<string, Changes> = {
  'a Service is given an address, a family and policies': {},
  'a headless Service has the address None': { 'spec.clusterIP': 'None' },
  'a headless Service needs no ports': { 'spec.clusterIP': 'None', 'spec.ports': [] },
  'a NodePort Service is given a node port': { 'spec.type': 'NodePort' },
  'a LoadBalancer Service is given a node port too': { 'spec.type': 'LoadBalancer' },
  'a LoadBalancer Service without node ports has none': {
    'spec.type': 'LoadBalancer',
    'spec.allocateLoadBalancerNodePorts': false,
  },
  'a LoadBalancer Service with the policy Local is given a health check port': {
    'spec.type': 'LoadBalancer',
    'spec.externalTrafficPolicy': 'Local',
  },
  'an ExternalName Service has no address': {
    'spec.type': 'ExternalName',
    'spec.externalName': 'a.example.com',
    'spec.ports': undefined,
  },
  'a target port may be a name': { 'spec.ports': [{ port: 80, targetPort: 'web' }] },
  'a session affinity is given its timeout': { 'spec.sessionAffinity': 'ClientIP' },
  'a cluster address may be asked for': { 'spec.clusterIP': '10.96.77.7' },
  'a node port may be asked for': { 'spec.type': 'NodePort', 'spec.ports': [{ port: 80, nodePort: 30_043 }] },
  'one port of two protocols is two ports': {
    'spec.ports': [
      { name: 'a', port: 53, protocol: 'TCP' },
      { name: 'b', port: 53, protocol: 'UDP' },
    ],
  },
  'a Service without a selector is taken': { 'spec.selector': undefined },
};

const made = (changes: Changes = {}) => arranged(post(core('services'), service('a', changes)));
const shown = { only: ['spec', 'status'] };
const update = (rule: string, from: Changes, spec: Json): Case => ({
  name: rule,
  steps: [made(from), patch('merge-patch', core('services/a'), { spec }, shown)],
});

const changes: Case[] = [
  update(
    'the cluster address may not change',
    { 'spec.clusterIP': '10.96.77.8' },
    { clusterIP: '10.96.77.9', clusterIPs: ['10.96.77.9'] },
  ),
  update('the cluster address stays when a patch takes it away', {}, { clusterIP: null, clusterIPs: null }),
  update(
    'a Service that becomes ExternalName gives its address up',
    {},
    { type: 'ExternalName', externalName: 'a.example.com', clusterIP: null, clusterIPs: null },
  ),
  update('a Service that becomes a NodePort is given one', {}, { type: 'NodePort' }),
  update(
    'a NodePort Service that becomes a ClusterIP gives its port up',
    { 'spec.type': 'NodePort' },
    { type: 'ClusterIP' },
  ),
  update(
    'a headless Service may not get an address',
    { 'spec.clusterIP': 'None' },
    { clusterIP: '10.96.77.10', clusterIPs: ['10.96.77.10'] },
  ),
  update(
    'the load balancer class may not change',
    { 'spec.type': 'LoadBalancer', 'spec.loadBalancerClass': 'example.com/a' },
    { loadBalancerClass: 'example.com/b' },
  ),
  update(
    'ports that change keep the node ports of those that stay',
    { 'spec.type': 'NodePort', 'spec.ports': [{ name: 'a', port: 80, nodePort: 30_044 }] },
    {
      ports: [
        { name: 'a', port: 80 },
        { name: 'b', port: 81 },
      ],
    },
  ),
  {
    name: 'a cluster address that another has is refused',
    steps: [
      made({ 'spec.clusterIP': '10.96.77.11' }),
      post(core('services'), service('b', { 'spec.clusterIP': '10.96.77.11' })),
    ],
  },
  {
    name: 'a node port that another has is refused',
    steps: [
      made({ 'spec.type': 'NodePort', 'spec.ports': [{ port: 80, nodePort: 30_045 }] }),
      post(core('services'), service('b', { 'spec.type': 'NodePort', 'spec.ports': [{ port: 80, nodePort: 30_045 }] })),
    ],
  },
  {
    name: 'an address given back can be given again',
    steps: [
      made({ 'spec.clusterIP': '10.96.77.12' }),
      arranged(remove(core('services/a'))),
      post(core('services'), service('b', { 'spec.clusterIP': '10.96.77.12' }), shown),
    ],
  },
  {
    name: 'an address asked for in a dry run is not held',
    steps: [
      post(core('services?dryRun=All'), service('b', { 'spec.clusterIP': '10.96.77.13' }), {
        only: ['spec.clusterIP'],
      }),
      post(core('services'), service('a', { 'spec.clusterIP': '10.96.77.13' }), { only: ['spec.clusterIP'] }),
    ],
  },
  {
    name: 'the Service kubernetes is in the namespace default with the first address',
    steps: [
      get('/api/v1/namespaces/default/services/kubernetes', {
        only: ['metadata.labels', 'spec.clusterIP', 'spec.ports.0.name', 'spec.ports.0.port', 'spec.type'],
      }),
    ],
  },
  { name: 'a delete of a Service answers it', steps: [made(), remove(core('services/a'))] },
];

const slices = '/apis/discovery.k8s.io/v1/namespaces/<ns>/endpointslices';
const wrongSlices: Record<string, Changes> = {
  'an unknown address type': { addressType: 'IPv5' },
  'no address type': { addressType: undefined },
  'an address of another type': { addressType: 'IPv6' },
  'an endpoint without addresses': { endpoints: [{ addresses: [] }] },
  'a loopback address': { endpoints: [{ addresses: ['127.0.0.1'] }] },
  'two ports of one name': {
    ports: [
      { name: 'a', port: 80 },
      { name: 'a', port: 81 },
    ],
  },
  'a port name with capitals': { ports: [{ name: 'HTTP', port: 80 }] },
  'a thousand and one endpoints': { endpoints: Array.from({ length: 1001 }, () => ({ addresses: ['10.1.2.3'] })) },
  'a host name with a dot': { endpoints: [{ addresses: ['10.1.2.3'], hostname: 'a.b' }] },
};

const sliceCases: Case[] = [
  ...Object.entries(wrongSlices).map(([what, rest]): Case => ({
    name: `an EndpointSlice with ${what} is refused`,
    steps: [post(slices, endpointSlice('a', rest))],
  })),
  { name: 'the ports of an EndpointSlice are given the protocol TCP', steps: [post(slices, endpointSlice('a'))] },
  {
    name: 'the address type of an EndpointSlice may not change',
    steps: [
      arranged(post(slices, endpointSlice('a'))),
      patch('merge-patch', `${slices}/a`, { addressType: 'IPv6', endpoints: [] }),
    ],
  },
  {
    name: 'Endpoints with a loopback address are refused',
    steps: [
      post(core('endpoints'), {
        apiVersion: 'v1',
        kind: 'Endpoints',
        metadata: { name: 'a' },
        subsets: [{ addresses: [{ ip: '127.0.0.1' }], ports: [{ port: 80 }] }],
      }),
    ],
  },
  {
    name: 'Endpoints are taken with a warning that they are deprecated',
    steps: [
      post(core('endpoints'), {
        apiVersion: 'v1',
        kind: 'Endpoints',
        metadata: { name: 'a' },
        subsets: [{ addresses: [{ ip: '10.1.2.3' }], ports: [{ port: 80 }] }],
      }),
    ],
  },
];

export const services: Chapter = {
  name: 'service',
  needs: 'bare',
  cases: [
    ...Object.entries(wrong).map(([what, rest]): Case => ({
      name: `a Service with ${what} is refused`,
      steps: [post(core('services'), service('a', rest))],
    })),
    ...Object.entries(tolerated).map(([what, rest]): Case => ({
      name: `a Service with ${what} is taken all the same`,
      steps: [post(core('services'), service('a', rest))],
    })),
    ...Object.entries(given).map(([name, rest]): Case => ({
      name,
      steps: [post(core('services'), service('a', rest), shown)],
    })),
    ...changes,
    ...sliceCases,
  ],
};
