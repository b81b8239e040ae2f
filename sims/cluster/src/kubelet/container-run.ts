// One container: its state as the status shows it, its open ports, and what its probes said last.
//
//   waiting ──ports open──> running ──crash, failed liveness──> terminated ──restartPolicy──> waiting (back-off) ──> running
//      └──a port cannot be opened──> waiting, tried again        └──stop──> terminated, for good
import { timestamp } from '../clock.ts';
import type { Container, ContainerState, ContainerStatus } from '../kube/objects.ts';
import { ContainerLog } from './container-log.ts';
import type { Listener } from './listener.ts';
import type { ContainerView } from './pod-status.ts';
import type { Prober } from './prober.ts';

const firstBackoff = 10_000;
const longestBackoff = 300_000;
/** A container that ran so long starts anew with its back-off. */
const forgiven = 600_000;

export class ContainerRun {
  readonly spec: Container;
  readonly #id: string;
  state: ContainerState = { waiting: { reason: 'ContainerCreating' } };
  restarts = 0;
  listeners: Listener[] = [];
  prober: Prober | undefined;
  isStarted = false;
  isProbedReady = false;
  isOver = false;
  /** Of its newest lives, oldest first: one that is over for `previous`, two while the next is being started. */
  readonly #logs: ContainerLog[] = [];
  #lastState: ContainerState = {};
  #startedAt = 0;
  #failuresInRow = 0;

  /** `before` is what the API knows of it from an earlier life of the simulator; it goes on from there. */
  constructor(spec: Container, id: string, before: ContainerStatus | undefined) {
    this.spec = spec;
    this.#id = id;
    if (!before) return;
    this.restarts = before.restartCount;
    this.#lastState = before.lastState ?? {};
    if (before.state.terminated) this.state = before.state;
    if (before.state.waiting?.reason === 'CrashLoopBackOff') this.restarts += 1;
    if (before.state.running) {
      this.#startedAt = Date.parse(before.state.running.startedAt);
      this.isStarted = before.started ?? true;
      this.isProbedReady = before.ready;
    }
  }

  get isRunning(): boolean {
    return this.state.running !== undefined;
  }

  /** The log of the life that is shown now: while it waits, that of the life which ended last. */
  get presentLog(): ContainerLog | undefined {
    return this.#logs.findLast((one) => one.isEnded || !this.state.waiting);
  }

  /** The log of the life that `lastState` tells of. */
  get previousLog(): ContainerLog | undefined {
    const present = this.presentLog;
    return this.state.waiting ? present : this.#logs[this.#logs.length - 2];
  }

  /** A life begins, unless one has already: what is written from now on is its log. */
  starting(): void {
    if (this.#logs.at(-1)?.isEnded === false) return;
    this.#logs.push(new ContainerLog());
    if (this.#logs.length > 3) this.#logs.shift();
  }

  running(listeners: Listener[], now: number): void {
    this.starting();
    this.log(now, 'started');
    const isResumed = this.#startedAt > 0 && this.state.waiting?.reason === 'ContainerCreating';
    if (!isResumed) {
      this.#startedAt = now;
      this.isStarted = this.spec.startupProbe === undefined;
      this.isProbedReady = this.spec.readinessProbe === undefined;
    }
    this.listeners = listeners;
    this.state = { running: { startedAt: timestamp(this.#startedAt) } };
  }

  waiting(reason: string, message: string): void {
    if (this.state.terminated) this.#lastState = this.state;
    this.state = { waiting: { reason, message } };
  }

  /** It had not started, or ran in a life of the simulator that ended before it did: as the kubelet says of such. */
  neverSeen(): void {
    const message = 'The container could not be located when the pod was terminated';
    this.state = { terminated: { exitCode: 137, reason: 'ContainerStatusUnknown', message } };
    this.endLog();
  }

  terminated(exitCode: number, reason: string, now: number): void {
    const ran = now - this.#startedAt;
    this.#failuresInRow = ran >= forgiven ? 1 : this.#failuresInRow + 1;
    this.prober?.stop();
    this.prober = undefined;
    this.listeners = [];
    this.isProbedReady = false;
    this.log(now, `exited with ${exitCode}`);
    this.endLog();
    this.state = {
      terminated: { exitCode, reason, startedAt: timestamp(this.#startedAt), finishedAt: timestamp(now) },
    };
  }

  /** Milliseconds until it may start again: the first time at once, then 10 s doubling to 5 min. */
  restartDelay(): number {
    return this.#failuresInRow <= 1 ? 0 : Math.min(longestBackoff, firstBackoff * 2 ** (this.#failuresInRow - 2));
  }

  restarting(): void {
    if (this.state.terminated) this.#lastState = this.state;
    this.restarts += 1;
  }

  log(now: number, line: string): void {
    this.#logs.at(-1)?.append(now, line);
  }

  /** Who follows the log has seen its end. */
  endLog(): void {
    this.#logs.at(-1)?.end();
  }

  view(isReady: boolean): ContainerView {
    const { spec, state, restarts, isStarted, isOver } = this;
    return {
      name: spec.name,
      image: spec.image ?? '',
      id: `${this.#id}/${spec.name}/${restarts}`,
      state,
      lastState: this.#lastState,
      restarts,
      isStarted,
      isReady: isReady && this.isRunning && isStarted && this.isProbedReady,
      isOver,
    };
  }
}
