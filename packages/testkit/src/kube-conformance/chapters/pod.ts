// Pods: what a spec may say, what it is given when it does not, and what may change later.
import { arranged, type Case, type Chapter, core, get, type Json, patch, post, put, type Tree } from '../case.ts';
import { type Changes, pod } from '../objects.ts';

const containers = 'spec.containers';
const first = `${containers}.0`;

/** Pods that are refused, each with what is wrong with it. */
const wrong: Record<string, Changes> = {
  'no containers': { [containers]: [] },
  'a container without a name': { [`${first}.name`]: undefined },
  'a container without an image': { [`${first}.image`]: undefined },
  'a container name with capitals': { [`${first}.name`]: 'Web' },
  'two containers of one name': {
    [containers]: [
      { name: 'a', image: 'a' },
      { name: 'a', image: 'b' },
    ],
  },
  'a container port of 0': { [`${first}.ports`]: [{ containerPort: 0 }] },
  'a container port of 65536': { [`${first}.ports`]: [{ containerPort: 65_536 }] },
  'a port name of 16 letters': { [`${first}.ports`]: [{ containerPort: 80, name: 'abcdefghijklmnop' }] },
  'a port name without a letter': { [`${first}.ports`]: [{ containerPort: 80, name: '80' }] },
  'two ports of one name': {
    [`${first}.ports`]: [
      { containerPort: 80, name: 'a' },
      { containerPort: 81, name: 'a' },
    ],
  },
  'an unknown protocol': { [`${first}.ports`]: [{ containerPort: 80, protocol: 'ICMP' }] },
  'a host port that is not the container port in the host network': {
    'spec.hostNetwork': true,
    [`${first}.ports`]: [{ containerPort: 80, hostPort: 81 }],
  },
  'an environment variable without a name': { [`${first}.env`]: [{ name: '', value: 'x' }] },
  'an environment variable of two sources': {
    [`${first}.env`]: [{ name: 'A', value: 'x', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } }],
  },
  'an environment variable from an unknown field': {
    [`${first}.env`]: [{ name: 'A', valueFrom: { fieldRef: { fieldPath: 'spec.nothing' } } }],
  },
  'a limit below its request': {
    [`${first}.resources`]: { requests: { cpu: '2' }, limits: { cpu: '1' } },
  },
  'a negative request': { [`${first}.resources`]: { requests: { memory: '-1Mi' } } },
  'an unknown resource': { [`${first}.resources`]: { requests: { speed: '1' } } },
  'an unknown restart policy': { 'spec.restartPolicy': 'Sometimes' },
  'an unknown DNS policy': { 'spec.dnsPolicy': 'Nearest' },
  'an unknown image pull policy': { [`${first}.imagePullPolicy`]: 'Often' },
  'a deadline of 0': { 'spec.activeDeadlineSeconds': 0 },
  'a host name with a dot': { 'spec.hostname': 'a.b' },
  'a probe of two actions': {
    [`${first}.readinessProbe`]: { httpGet: { port: 80 }, tcpSocket: { port: 80 } },
  },
  'a probe of no action': { [`${first}.readinessProbe`]: { periodSeconds: 1 } },
  'a probe port of 0': { [`${first}.livenessProbe`]: { tcpSocket: { port: 0 } } },
  'a probe with a negative period': { [`${first}.livenessProbe`]: { tcpSocket: { port: 80 }, periodSeconds: -1 } },
  'a liveness probe with a success threshold of 2': {
    [`${first}.livenessProbe`]: { tcpSocket: { port: 80 }, successThreshold: 2 },
  },
  'a hook of no action': { [`${first}.lifecycle`]: { preStop: {} } },
  'a hook that sleeps longer than the grace': { [`${first}.lifecycle`]: { preStop: { sleep: { seconds: 100 } } } },
  'a mount of a volume that is not there': { [`${first}.volumeMounts`]: [{ name: 'v', mountPath: '/v' }] },
  'two mounts of one path': {
    'spec.volumes': [{ name: 'v', emptyDir: {} }],
    [`${first}.volumeMounts`]: [
      { name: 'v', mountPath: '/v' },
      { name: 'v', mountPath: '/v' },
    ],
  },
  'a volume of two sources': { 'spec.volumes': [{ name: 'v', emptyDir: {}, hostPath: { path: '/x' } }] },
  'a toleration of Exists with a value': { 'spec.tolerations': [{ key: 'a', operator: 'Exists', value: 'b' }] },
  'a toleration seconds without NoExecute': {
    'spec.tolerations': [{ key: 'a', operator: 'Exists', effect: 'NoSchedule', tolerationSeconds: 5 }],
  },
  'a readiness gate of an invalid type': { 'spec.readinessGates': [{ conditionType: 'a b' }] },
  'a node selector with an invalid value': { 'spec.nodeSelector': { a: 'b c' } },
  'a topology spread with a skew of 0': {
    'spec.topologySpreadConstraints': [{ maxSkew: 0, topologyKey: 'z', whenUnsatisfiable: 'DoNotSchedule' }],
  },
  'a run as user of -1': { 'spec.securityContext': { runAsUser: -1 } },
  'a host alias that is no address': { 'spec.hostAliases': [{ ip: 'nowhere', hostnames: ['a'] }] },
  'an init container with a readiness probe': {
    'spec.initContainers': [{ name: 'i', image: 'i', readinessProbe: { tcpSocket: { port: 80 } } }],
  },
  'a scheduling gate and a node at once': { 'spec.schedulingGates': [{ name: 'a' }], 'spec.nodeName': 'n' },
};

/** What looks wrong, and a real server takes all the same. */
const tolerated: Record<string, Changes> = {
  'a negative grace': { 'spec.terminationGracePeriodSeconds': -2 },
  'a probe path that is empty': { [`${first}.readinessProbe`]: { httpGet: { path: '', port: 80 } } },
};

/** Pods that are taken, each for what it is given. */
const given: Record<string, Changes> = {
  'a pod is given its policies, its grace and its tolerations': {},
  'an image of the tag latest is always pulled': { [`${first}.image`]: 'nginx' },
  'an image by its digest is pulled when absent': { [`${first}.image`]: `nginx@sha256:${'a'.repeat(64)}` },
  'a probe is given its periods and thresholds': { [`${first}.readinessProbe`]: { httpGet: { port: 80 } } },
  'a gRPC probe is given an empty service': { [`${first}.livenessProbe`]: { grpc: { port: 80 } } },
  'limits become requests where there are none': { [`${first}.resources`]: { limits: { cpu: '1', memory: '1Gi' } } },
  'quantities are written in their shortest form': {
    [`${first}.resources`]: { requests: { cpu: '1000m', memory: '1024Mi' } },
  },
  'equal requests and limits are of the class Guaranteed': {
    [`${first}.resources`]: { requests: { cpu: '1', memory: '1Gi' }, limits: { cpu: '1', memory: '1Gi' } },
  },
  'requests alone are of the class Burstable': { [`${first}.resources`]: { requests: { cpu: '100m' } } },
  'a projected volume is given its modes': {
    'spec.volumes': [
      { name: 'v', projected: { sources: [{ serviceAccountToken: { path: 't' } }] } },
      { name: 'c', configMap: { name: 'c' } },
      { name: 's', secret: { secretName: 's' } },
    ],
  },
  'a field reference is given the version v1': {
    [`${first}.env`]: [{ name: 'A', valueFrom: { fieldRef: { fieldPath: 'status.podIP' } } }],
  },
  'a host network gives host ports': { 'spec.hostNetwork': true, [`${first}.ports`]: [{ containerPort: 80 }] },
  'a priority class that is there gives its priority': { 'spec.priorityClassName': 'system-node-critical' },
  'a grace of less than 0 becomes 1 only on delete': { 'spec.terminationGracePeriodSeconds': 0 },
};

const made = arranged(post(core('pods'), pod('a', { 'spec.nodeName': 'n' })));
const update = (rule: string, body: Json): Case => ({
  name: rule,
  steps: [made, patch('strategic-merge-patch', core('pods/a'), body, { only: ['spec', 'metadata.generation'] })],
});

const changes: Case[] = [
  update('the image of a container may change', { spec: { containers: [{ name: 'web', image: 'nginx:2' }] } }),
  update('an image may not become empty', { spec: { containers: [{ name: 'web', image: '' }] } }),
  update('the command of a container may not change', { spec: { containers: [{ name: 'web', command: ['x'] }] } }),
  update('a container may not be added', { spec: { containers: [{ name: 'new', image: 'x' }] } }),
  update('the node of a pod may not change', { spec: { nodeName: 'other' } }),
  update('a toleration may be added', { spec: { tolerations: [{ key: 'z', operator: 'Exists' }] } }),
  update('the grace may not change', { spec: { terminationGracePeriodSeconds: 5 } }),
  update('an active deadline may be set', { spec: { activeDeadlineSeconds: 100 } }),
  update('labels may change', { metadata: { labels: { a: 'b' } } }),
  {
    name: 'a pod replaced by what lacks its given fields is given them again',
    steps: [made, put(core('pods/a'), pod('a', { 'spec.nodeName': 'n' }), { only: ['spec.nodeName'] })],
  },
  {
    name: 'an ephemeral container is added by its subresource',
    steps: [
      made,
      patch(
        'strategic-merge-patch',
        core('pods/a/ephemeralcontainers'),
        { spec: { ephemeralContainers: [{ name: 'debug', image: 'busybox:1' }] } },
        { only: ['spec.ephemeralContainers'] },
      ),
    ],
  },
  {
    name: 'a pod without the priority class it names is Forbidden',
    steps: [post(core('pods'), pod('a', { 'spec.priorityClassName': 'no-such-class' }))],
  },
  {
    name: 'pods of a namespace are listed by a selector of their node',
    steps: [
      made,
      get('/api/v1/pods?fieldSelector=spec.nodeName%3Dn,metadata.namespace%3D<ns>', {
        only: ['items.*.metadata.name'],
      }),
    ],
  },
];

const body = (name: string, rest: Changes): Tree => pod(name, rest);

export const pods: Chapter = {
  name: 'pod',
  needs: 'bare',
  cases: [
    ...Object.entries(wrong).map(([what, rest]): Case => ({
      name: `a pod with ${what} is refused, with the field and the reason`,
      steps: [post(core('pods'), body('a', rest))],
    })),
    ...Object.entries(tolerated).map(([what, rest]): Case => ({
      name: `a pod with ${what} is taken, and the value mended`,
      steps: [post(core('pods'), body('a', rest))],
    })),
    ...Object.entries(given).map(([name, rest]): Case => ({
      name,
      steps: [post(core('pods'), body('a', rest), { only: ['spec', 'status', 'metadata.labels'] })],
    })),
    ...changes,
  ],
};
