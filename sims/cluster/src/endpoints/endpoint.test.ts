import { expect, test } from 'vitest';
import type { Pod, Service } from '../kube/objects.ts';
import { conditionsOf, groupsOf, isSelecting, targetPort } from './endpoint.ts';

function pod(ready: boolean, deleting: boolean, more: Partial<Pod['status']> = {}): Pod {
  const metadata = {
    name: 'p',
    namespace: 'a',
    uid: 'u',
    resourceVersion: '1',
    ...(deleting && { deletionTimestamp: '2026-01-01T00:00:00Z' }),
  };
  const ports = [
    { name: 'http', containerPort: 8080 },
    { name: 'dns', containerPort: 53, protocol: 'UDP' },
  ];
  return {
    metadata,
    spec: { nodeName: 'n1', containers: [{ name: 'c', ports }] },
    status: {
      phase: 'Running',
      podIP: '10.0.0.1',
      conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }],
      ...more,
    },
  };
}

function service(spec: Partial<Service['spec']> = {}): Service {
  return {
    metadata: { name: 's', namespace: 'a', uid: 's', resourceVersion: '1' },
    spec: { selector: { app: 'x' }, ports: [{ port: 80, targetPort: 'http' }], ...spec },
  };
}

test.each([
  { rule: 'ready', ready: true, deleting: false, publish: false, want: [true, true, false] },
  { rule: 'not ready', ready: false, deleting: false, publish: false, want: [false, false, false] },
  {
    rule: 'not ready, published all the same',
    ready: false,
    deleting: false,
    publish: true,
    want: [true, false, false],
  },
  {
    rule: 'deleted while ready: serving, not ready',
    ready: true,
    deleting: true,
    publish: false,
    want: [false, true, true],
  },
  { rule: 'deleted and not ready', ready: false, deleting: true, publish: false, want: [false, false, true] },
  { rule: 'deleted, published: ready even so', ready: false, deleting: true, publish: true, want: [true, false, true] },
])('conditions of a pod that is $rule', ({ ready, deleting, publish, want }) => {
  const found = conditionsOf(service({ publishNotReadyAddresses: publish }), pod(ready, deleting));
  expect([found.ready, found.serving, found.terminating]).toEqual(want);
});

test.each([
  { rule: 'a number is itself', port: { port: 80, targetPort: 8000 }, want: 8000 },
  { rule: 'none is the port', port: { port: 80 }, want: 80 },
  { rule: 'a name is looked up in the pod', port: { port: 80, targetPort: 'http' }, want: 8080 },
  { rule: 'the protocol must be the same', port: { port: 53, targetPort: 'dns' }, want: undefined },
  { rule: 'with its protocol it is found', port: { port: 53, targetPort: 'dns', protocol: 'UDP' }, want: 53 },
  { rule: 'a name the pod does not have leads nowhere', port: { port: 80, targetPort: 'web' }, want: undefined },
])('target port: $rule', ({ port, want }) => {
  expect(targetPort(port, pod(true, false))).toBe(want);
});

test('pods with other numbers behind a name get a group of their own', () => {
  const other = pod(true, false);
  other.metadata.uid = 'other';
  other.spec.containers[0]!.ports![0]!.containerPort = 9090;
  const groups = groupsOf(service(), [pod(true, false), other], () => 'zone-a');
  expect(groups.map((one) => [one.ports[0]?.port, one.endpoints.length])).toEqual([
    [8080, 1],
    [9090, 1],
  ]);
  expect(groups[0]!.endpoints[0]).toMatchObject({ zone: 'zone-a', nodeName: 'n1', targetRef: { uid: 'u' } });
});

test('pods that ended and pods without an address are no endpoints', () => {
  const ended = pod(false, false, { phase: 'Succeeded' });
  const pending: Pod = { ...pod(false, false), status: { phase: 'Pending' } };
  expect(groupsOf(service(), [ended, pending], () => undefined)).toEqual([]);
});

test.each([
  { rule: 'a selector', spec: {}, want: true },
  { rule: 'an empty selector', spec: { selector: {} }, want: false },
  { rule: 'an external name', spec: { type: 'ExternalName' }, want: false },
])('endpoints are made for a Service with $rule: $want', ({ spec, want }) => {
  expect(isSelecting(service(spec))).toBe(want);
});
