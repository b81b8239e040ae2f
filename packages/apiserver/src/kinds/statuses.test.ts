// Statuses that are refused, by kind; those of Deployments and Services are cases of the conformance suite.
import { expect, test } from 'vitest';
import type { KubeObject, Tree } from '../object.ts';
import { podStatusCauses } from './pod-status-rules.ts';
import {
  budgetStatus,
  daemonSetStatus,
  ingressStatus,
  namespaceStatus,
  serviceStatus,
  statefulSetStatus,
} from './statuses.ts';

const object = (status: Tree, spec: Tree = {}, metadata: Tree = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'X',
  metadata,
  spec,
  status,
});
const ended = (name: string, exitCode: number): Tree => ({ name, state: { terminated: { exitCode } } });
const running = (name: string): Tree => ({ name, state: { running: {} } });

test.each([
  ['an address that is none', { podIPs: [{ ip: 'x' }] }, {}, {}, ['status.podIPs[0]']],
  ['an address that is none and was there before', { podIPs: [{ ip: 'x' }] }, { podIPs: [{ ip: 'x' }] }, {}, []],
  ['two addresses of a family', { podIPs: [{ ip: '10.0.0.1' }, { ip: '10.0.0.2' }] }, {}, {}, ['status.podIPs']],
  ['an address of each family', { podIPs: [{ ip: '10.0.0.1' }, { ip: 'fd00::1' }] }, {}, {}, []],
  [
    'another host than the first',
    { hostIP: '10.0.0.1', hostIPs: [{ ip: '10.0.0.2' }] },
    {},
    {},
    ['status.hostIPs[0].ip'],
  ],
  ['a condition of no valid type', { conditions: [{ type: 'a b' }] }, {}, {}, ['status.conditions[0].Type']],
  ['another class of service', { qosClass: 'Burstable' }, { qosClass: 'BestEffort' }, {}, ['status.qosClass']],
  ['a nomination of a bound pod', { nominatedNodeName: 'n' }, {}, { nodeName: 'm' }, ['status.nominatedNodeName']],
  [
    'a container back from its end where none is restarted',
    { containerStatuses: [running('a')] },
    { containerStatuses: [ended('a', 1)] },
    { restartPolicy: 'Never', containers: [{ name: 'a' }] },
    ['status.containerStatuses[0].state'],
  ],
  [
    'a container back from a failure where failures are restarted',
    { containerStatuses: [running('a')] },
    { containerStatuses: [ended('a', 1)] },
    { restartPolicy: 'OnFailure', containers: [{ name: 'a' }] },
    [],
  ],
  [
    'an ephemeral container back from its end',
    { ephemeralContainerStatuses: [running('a')] },
    { ephemeralContainerStatuses: [ended('a', 0)] },
    { restartPolicy: 'Always' },
    ['status.ephemeralContainerStatuses[0].state'],
  ],
])('the status of a pod with %s', (_, status, before, spec, fields) => {
  const kept = 'qosClass' in status ? {} : { qosClass: 'BestEffort' };
  const causes = podStatusCauses(
    object({ ...kept, ...status }, spec),
    object({ qosClass: 'BestEffort', ...before }, spec),
  );
  expect(causes.map(({ field }) => field)).toEqual(fields);
});

const moment = '2026-01-02T03:04:05Z';
const condition = (rest: Tree = {}): Tree => ({
  type: 'A',
  status: 'True',
  reason: 'R',
  lastTransitionTime: moment,
  ...rest,
});

test.each([
  ['whole', [condition()], []],
  ['twice', [condition(), condition()], ['status.conditions[1].type']],
  ['of no reason', [condition({ reason: '' })], ['status.conditions[0].reason']],
  ['of a reason with a blank', [condition({ reason: 'a b' })], ['status.conditions[0].reason']],
  ['of another status', [condition({ status: 'Yes' })], ['status.conditions[0].status']],
  ['of no moment', [condition({ lastTransitionTime: null })], ['status.conditions[0].lastTransitionTime']],
])('a condition %s in the status of a budget', (_, conditions, fields) => {
  expect(budgetStatus(object({ conditions }), object({})).map(({ field }) => field)).toEqual(fields);
});

test.each([
  [
    'a StatefulSet with more current than all',
    statefulSetStatus({ ...object({ replicas: 1, currentReplicas: 2 }) }, object({})),
    1,
  ],
  ['a DaemonSet with a negative count', daemonSetStatus(object({ numberReady: -1 }), object({})), 1],
  [
    'a DaemonSet that counts collisions back',
    daemonSetStatus(object({ collisionCount: 1 }), object({ collisionCount: 2 })),
    1,
  ],
  ['a budget with a negative count', budgetStatus(object({ expectedPods: -1 }), object({})), 1],
  ['a living Namespace that is Terminating', namespaceStatus(object({ phase: 'Terminating' }), object({})), 1],
  [
    'a deleted Namespace that is Terminating',
    namespaceStatus(object({ phase: 'Terminating' }, {}, { deletionTimestamp: moment }), object({})),
    0,
  ],
  [
    'a Service without balancing that has an ingress',
    serviceStatus(object({ loadBalancer: { ingress: [{ ip: '192.0.2.1' }] } }), object({})),
    1,
  ],
  [
    'an Ingress whose host name is an address',
    ingressStatus(object({ loadBalancer: { ingress: [{ hostname: '192.0.2.1' }] } }), object({})),
    1,
  ],
])('the status of %s', (_, causes, count) => {
  expect(causes).toHaveLength(count);
});
