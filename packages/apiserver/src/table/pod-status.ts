// The word `kubectl get pods` shows for a pod, made of its phase, its containers and whether it is being deleted.
import { listOf, textOf, treeOf, type KubeObject, type Tree } from '../object.ts';
import { part } from '../resource.ts';
import { age } from './duration.ts';

/** Ready, Status, Restarts, Age, IP, Node, Nominated Node, Readiness Gates. */
export function podCells(object: KubeObject, now: number): unknown[] {
  const spec = part(object, 'spec');
  const status = part(object, 'status');
  const statuses = listOf(status.containerStatuses).map(treeOf);
  const total = listOf(spec.containers).length;
  const ready = statuses.filter((one) => one.ready === true).length;
  return [
    `${ready}/${total}`,
    podWord(object, statuses),
    restarts(statuses, now),
    age(object.metadata.creationTimestamp, now),
    textOf(status.podIP) || '<none>',
    textOf(spec.nodeName) || '<none>',
    textOf(status.nominatedNodeName) || '<none>',
    gates(spec, status),
  ];
}

function podWord(object: KubeObject, statuses: Tree[]): string {
  const status = part(object, 'status');
  if (object.metadata.deletionTimestamp) return status.reason === 'NodeLost' ? 'Unknown' : 'Terminating';
  let word = textOf(status.reason) || textOf(status.phase) || 'Unknown';
  let isRunning = false;
  for (const one of statuses.toReversed()) {
    const state = treeOf(one.state);
    const waiting = textOf(treeOf(state.waiting).reason);
    const ended = treeOf(state.terminated);
    if (waiting) word = waiting;
    else if (ended.reason) word = textOf(ended.reason);
    else if (state.terminated)
      word = ended.signal ? `Signal:${String(ended.signal)}` : `ExitCode:${String(ended.exitCode)}`;
    else if (one.ready === true && state.running) isRunning = true;
  }
  // One container is over while another runs: the pod is not completed.
  return word === 'Completed' && isRunning ? 'Running' : word;
}

function restarts(statuses: Tree[], now: number): string {
  const count = statuses.reduce((sum, one) => sum + Number(one.restartCount ?? 0), 0);
  const last = statuses
    .map((one) => textOf(treeOf(treeOf(one.lastState).terminated).finishedAt))
    .sort()
    .at(-1);
  return count > 0 && last ? `${count} (${age(last, now)} ago)` : String(count);
}

function gates(spec: Tree, status: Tree): string {
  const wanted = listOf(spec.readinessGates).map((gate) => textOf(treeOf(gate).conditionType));
  if (wanted.length === 0) return '<none>';
  const isTrue = (type: string) =>
    listOf(status.conditions).some((one) => treeOf(one).type === type && treeOf(one).status === 'True');
  return `${wanted.filter(isTrue).length}/${wanted.length}`;
}
