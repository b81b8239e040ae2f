// The parts of Kubernetes' objects that this simulator reads or writes, as types.
// Words are Kubernetes' own: https://kubernetes.io/docs/reference/kubernetes-api/

export type Labels = Record<string, string>;

export interface OwnerReference {
  apiVersion: string;
  kind: string;
  name: string;
  uid: string;
  controller?: boolean;
  blockOwnerDeletion?: boolean;
}

export interface Metadata {
  name: string;
  namespace?: string | undefined;
  uid: string;
  resourceVersion: string;
  generation?: number;
  labels?: Labels;
  annotations?: Labels;
  ownerReferences?: OwnerReference[];
  finalizers?: string[];
  creationTimestamp?: string;
  deletionTimestamp?: string;
  deletionGracePeriodSeconds?: number;
}

export interface KubeObject {
  apiVersion?: string;
  kind?: string;
  metadata: Metadata;
}

/** An object not yet sent: the server adds what it must. */
export type Draft<T extends KubeObject> = Omit<T, 'metadata'> & {
  metadata: Partial<Metadata> & { generateName?: string };
};

export interface Condition {
  type: string;
  status: 'True' | 'False' | 'Unknown';
  reason?: string | undefined;
  message?: string | undefined;
  lastTransitionTime?: string;
  lastUpdateTime?: string;
  lastProbeTime?: string | null;
  lastHeartbeatTime?: string;
  observedGeneration?: number;
}

export interface LabelSelector {
  matchLabels?: Labels;
  matchExpressions?: Requirement[];
}

export interface Requirement {
  key: string;
  operator: string;
  values?: string[];
}

/** A number, or a percentage such as `25%`. */
export type IntOrString = number | string;

export interface HttpGet {
  path?: string;
  port: IntOrString;
  host?: string;
  scheme?: string;
  httpHeaders?: { name: string; value: string }[];
}

export interface Probe {
  httpGet?: HttpGet;
  tcpSocket?: { port: IntOrString; host?: string };
  exec?: { command?: string[] };
  grpc?: { port: number; service?: string };
  initialDelaySeconds?: number;
  periodSeconds?: number;
  timeoutSeconds?: number;
  successThreshold?: number;
  failureThreshold?: number;
}

export interface LifecycleAction {
  exec?: { command?: string[] };
  httpGet?: HttpGet;
  sleep?: { seconds: number };
}

export interface ContainerPort {
  name?: string;
  containerPort: number;
  protocol?: string;
}

export interface Container {
  name: string;
  image?: string;
  command?: string[];
  args?: string[];
  ports?: ContainerPort[];
  readinessProbe?: Probe;
  livenessProbe?: Probe;
  startupProbe?: Probe;
  lifecycle?: { preStop?: LifecycleAction };
  restartPolicy?: string;
  resources?: { requests?: Labels; limits?: Labels };
}

export interface Toleration {
  key?: string;
  operator?: string;
  value?: string;
  effect?: string;
  tolerationSeconds?: number;
}

export interface NodeSelectorTerm {
  matchExpressions?: Requirement[];
  matchFields?: Requirement[];
}

export interface PodSpec {
  containers: Container[];
  initContainers?: Container[];
  nodeName?: string;
  nodeSelector?: Labels;
  affinity?: {
    nodeAffinity?: { requiredDuringSchedulingIgnoredDuringExecution?: { nodeSelectorTerms: NodeSelectorTerm[] } };
  };
  tolerations?: Toleration[];
  schedulerName?: string;
  schedulingGates?: { name: string }[];
  readinessGates?: { conditionType: string }[];
  restartPolicy?: string;
  terminationGracePeriodSeconds?: number;
  hostNetwork?: boolean;
  hostname?: string;
  subdomain?: string;
}

export interface ContainerState {
  waiting?: { reason: string; message?: string };
  running?: { startedAt: string };
  terminated?: { exitCode: number; reason: string; message?: string; startedAt?: string; finishedAt?: string };
}

export interface ContainerStatus {
  name: string;
  state: ContainerState;
  lastState?: ContainerState;
  ready: boolean;
  started?: boolean;
  restartCount: number;
  image: string;
  imageID: string;
  containerID?: string;
}

export interface PodStatus {
  phase?: string;
  reason?: string;
  message?: string;
  conditions?: Condition[];
  podIP?: string;
  podIPs?: { ip: string }[];
  hostIP?: string;
  hostIPs?: { ip: string }[];
  startTime?: string;
  containerStatuses?: ContainerStatus[];
  initContainerStatuses?: ContainerStatus[];
  qosClass?: string;
}

export interface Pod extends KubeObject {
  spec: PodSpec;
  status?: PodStatus;
}

export interface PodTemplate {
  metadata?: { labels?: Labels; annotations?: Labels; finalizers?: string[] };
  spec: PodSpec;
}

export interface ServicePort {
  name?: string;
  port: number;
  protocol?: string;
  targetPort?: IntOrString;
  appProtocol?: string;
}

export interface Service extends KubeObject {
  spec: {
    selector?: Labels;
    ports?: ServicePort[];
    type?: string;
    clusterIP?: string;
    publishNotReadyAddresses?: boolean;
  };
}

export interface ReplicaSet extends KubeObject {
  spec: { replicas?: number; minReadySeconds?: number; selector: LabelSelector; template: PodTemplate };
  status?: {
    replicas?: number;
    fullyLabeledReplicas?: number;
    readyReplicas?: number;
    availableReplicas?: number;
    observedGeneration?: number;
    conditions?: Condition[];
  };
}

export interface DeploymentStatus {
  observedGeneration?: number;
  replicas?: number;
  updatedReplicas?: number;
  readyReplicas?: number;
  availableReplicas?: number;
  unavailableReplicas?: number;
  collisionCount?: number;
  conditions?: Condition[];
}

export interface Deployment extends KubeObject {
  spec: {
    replicas?: number;
    selector: LabelSelector;
    template: PodTemplate;
    strategy?: { type?: string; rollingUpdate?: { maxSurge?: IntOrString; maxUnavailable?: IntOrString } };
    minReadySeconds?: number;
    revisionHistoryLimit?: number;
    progressDeadlineSeconds?: number;
    paused?: boolean;
  };
  status?: DeploymentStatus;
}

export interface StatefulSet extends KubeObject {
  spec: {
    replicas?: number;
    selector: LabelSelector;
    template: PodTemplate;
    serviceName?: string;
    podManagementPolicy?: string;
    updateStrategy?: { type?: string; rollingUpdate?: { partition?: number } };
    minReadySeconds?: number;
    revisionHistoryLimit?: number;
    ordinals?: { start?: number };
  };
  status?: {
    observedGeneration?: number;
    replicas?: number;
    readyReplicas?: number;
    currentReplicas?: number;
    updatedReplicas?: number;
    availableReplicas?: number;
    currentRevision?: string;
    updateRevision?: string;
    collisionCount?: number;
  };
}

export interface DaemonSet extends KubeObject {
  spec: {
    selector: LabelSelector;
    template: PodTemplate;
    updateStrategy?: { type?: string; rollingUpdate?: { maxSurge?: IntOrString; maxUnavailable?: IntOrString } };
    minReadySeconds?: number;
    revisionHistoryLimit?: number;
  };
  status?: {
    observedGeneration?: number;
    currentNumberScheduled?: number;
    numberMisscheduled?: number;
    desiredNumberScheduled?: number;
    numberReady?: number;
    updatedNumberScheduled?: number;
    numberAvailable?: number;
    numberUnavailable?: number;
  };
}

export interface ControllerRevision extends KubeObject {
  data: { spec: { template: PodTemplate } };
  revision: number;
}

export interface PodDisruptionBudget extends KubeObject {
  spec: { minAvailable?: IntOrString; maxUnavailable?: IntOrString; selector?: LabelSelector };
  status?: {
    observedGeneration?: number;
    disruptedPods?: Record<string, string>;
    disruptionsAllowed?: number;
    currentHealthy?: number;
    desiredHealthy?: number;
    expectedPods?: number;
    conditions?: Condition[];
  };
}

export interface Taint {
  key: string;
  value?: string;
  effect: string;
  timeAdded?: string;
}

export interface Node extends KubeObject {
  spec?: { taints?: Taint[]; unschedulable?: boolean };
  status?: {
    conditions?: Condition[];
    addresses?: { type: string; address: string }[];
    capacity?: Labels;
    allocatable?: Labels;
    nodeInfo?: Labels;
    daemonEndpoints?: { kubeletEndpoint?: { Port: number } };
  };
}

export interface Lease extends KubeObject {
  spec: { holderIdentity?: string; leaseDurationSeconds?: number; renewTime?: string };
}

export interface ObjectReference {
  kind: string;
  namespace?: string | undefined;
  name: string;
  uid: string;
}

export interface Endpoint {
  addresses: string[];
  conditions: { ready?: boolean; serving?: boolean; terminating?: boolean };
  hostname?: string;
  nodeName?: string;
  targetRef?: ObjectReference;
  zone?: string;
}

export interface EndpointPort {
  name: string;
  port: number;
  protocol: string;
  appProtocol?: string;
}

export interface EndpointSlice extends KubeObject {
  addressType: string;
  endpoints?: Endpoint[] | null;
  ports?: EndpointPort[] | null;
}

export interface EndpointAddress {
  ip: string;
  hostname?: string;
  nodeName?: string;
  targetRef?: ObjectReference;
}

export interface EndpointSubset {
  addresses?: EndpointAddress[];
  notReadyAddresses?: EndpointAddress[];
  ports?: EndpointPort[];
}

export interface Endpoints extends KubeObject {
  subsets?: EndpointSubset[];
}

export interface Namespace extends KubeObject {
  spec?: { finalizers?: string[] };
  status?: { phase?: string };
}

export interface ServiceAccount extends KubeObject {
  secrets?: { name: string }[];
}

export interface KubeEvent extends KubeObject {
  type: string;
  reason: string;
  message: string;
  count: number;
  involvedObject: ObjectReference & { apiVersion?: string | undefined };
  source: { component: string };
  firstTimestamp: string;
  lastTimestamp: string;
}
