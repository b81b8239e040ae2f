// A pod's status from what its containers are doing. Pure.
import { timestamp } from '../clock.ts';
import type { Condition, ContainerState, ContainerStatus, Pod, PodStatus } from '../kube/objects.ts';
import { conditionOf } from '../workloads/pod-state.ts';
import { withCondition } from '../workloads/status.ts';

/** One container as the kubelet sees it. */
export interface ContainerView {
  name: string;
  image: string;
  id: string;
  state: ContainerState;
  lastState: ContainerState;
  restarts: number;
  /** The startup probe has succeeded, or there is none. */
  isStarted: boolean;
  isReady: boolean;
  /** It has ended and will not be started again. */
  isOver: boolean;
}

export interface PodView {
  ip: string;
  hostIp: string;
  startedAt: number;
  isInitialized: boolean;
  inits: ContainerView[];
  containers: ContainerView[];
}

/** The whole status; conditions written by others, such as readiness gates, are kept as they are. */
export function podStatus(pod: Pod, view: PodView, now: number): PodStatus {
  const at = timestamp(now);
  const phase = phaseOf(view.containers, view.isInitialized);
  let conditions = pod.status?.conditions ?? [];
  for (const one of conditionsFor(pod, view, phase)) conditions = withCondition(conditions, one, at);
  return {
    phase,
    conditions,
    podIP: view.ip,
    podIPs: [{ ip: view.ip }],
    hostIP: view.hostIp,
    hostIPs: [{ ip: view.hostIp }],
    startTime: pod.status?.startTime ?? timestamp(view.startedAt),
    ...(view.inits.length > 0 && { initContainerStatuses: view.inits.map(containerStatus) }),
    containerStatuses: view.containers.map(containerStatus),
  };
}

/**
 *  containers                                      | phase
 *  ------------------------------------------------+----------
 *  none has started yet, or init is not done       | Pending
 *  all over, all with exit code 0                  | Succeeded
 *  all over, one with another                      | Failed
 *  otherwise                                       | Running
 */
function phaseOf(containers: ContainerView[], isInitialized: boolean): string {
  if (containers.every((one) => one.isOver)) {
    return containers.every((one) => one.state.terminated?.exitCode === 0) ? 'Succeeded' : 'Failed';
  }
  const hasStarted = containers.some(
    ({ state, lastState }) => state.running ?? state.terminated ?? lastState.terminated,
  );
  return isInitialized && hasStarted ? 'Running' : 'Pending';
}

function conditionsFor(pod: Pod, { containers, isInitialized }: PodView, phase: string): Condition[] {
  const yes = (type: string): Condition => ({ type, status: 'True' });
  const no = (type: string, reason: string, message?: string): Condition => ({
    type,
    status: 'False',
    reason,
    message,
  });
  const unready = containers.filter((one) => !one.isReady).map((one) => one.name);
  const isOver = phase === 'Succeeded' || phase === 'Failed';
  const overReason = phase === 'Succeeded' ? 'PodCompleted' : 'PodFailed';
  const notReady = `containers with unready status: [${unready.join(' ')}]`;
  const contained =
    unready.length === 0
      ? yes('ContainersReady')
      : isOver
        ? no('ContainersReady', overReason)
        : no('ContainersReady', 'ContainersNotReady', notReady);
  const gates = (pod.spec.readinessGates ?? []).flatMap(({ conditionType }) => {
    const gate = conditionOf(pod.status?.conditions, conditionType);
    if (!gate) return [`corresponding condition of pod readiness gate "${conditionType}" does not exist.`];
    return gate.status === 'True'
      ? []
      : [`the status of pod readiness gate "${conditionType}" is not "True", but ${gate.status}`];
  });
  const ready =
    contained.status === 'False'
      ? { ...contained, type: 'Ready' }
      : gates.length > 0
        ? no('Ready', 'ReadinessGatesNotReady', gates.join(', '))
        : yes('Ready');
  return [
    yes('PodReadyToStartContainers'),
    isInitialized
      ? yes('Initialized')
      : no('Initialized', 'ContainersNotInitialized', 'containers with incomplete status'),
    ready,
    contained,
    yes('PodScheduled'),
  ];
}

function containerStatus({
  name,
  image,
  id,
  state,
  lastState,
  restarts,
  isStarted,
  isReady,
}: ContainerView): ContainerStatus {
  const hasRun = state.running ?? state.terminated;
  return {
    name,
    state,
    lastState,
    ready: isReady,
    started: isStarted && state.running !== undefined,
    restartCount: restarts,
    image,
    imageID: hasRun ? `sim://${image}` : '',
    ...(hasRun && { containerID: `sim://${id}` }),
  };
}
