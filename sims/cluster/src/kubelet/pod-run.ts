// The life of one pod on its node.
//
//   begin ──start delay, init containers──> containers run ──stop──> preStop ──> SIGTERM ──> connections end ──> stopped
//                                                └──kill (object gone, node lost)              └──grace ends──> SIGKILL ──> stopped
import type { Kit } from '../kit.ts';
import type { Pod } from '../kube/objects.ts';
import { probeOnce } from './action.ts';
import { annotation, duration } from './annotations.ts';
import type { App } from './app.ts';
import { endContainer, runInit } from './container-life.ts';
import { ContainerRun } from './container-run.ts';
import type { Grace } from './grace.ts';
import { grace } from './grace.ts';
import { openAll } from './listener.ts';
import type { PodView } from './pod-status.ts';
import { portsOf } from './port.ts';
import type { ProbeKind } from './prober.ts';
import { prober } from './prober.ts';
import { servicesSelecting } from '../endpoints/selection.ts';

export interface PodRunOptions {
  kit: Kit;
  cluster: string;
  /** False: ports are not opened and probes not made; a started container is a ready one. */
  listen: boolean;
  /** The address the API shows, and the one the ports are opened on: mostly the same. */
  ip: string;
  listenIp: string;
  hostIp: string;
  /** The status may be another now. */
  changed(): void;
}

const listenRetry = 10_000;
const crashLoopRuns = 1_000;
const usualGrace = 30;

export class PodRun {
  readonly ip: string;
  readonly containers: ContainerRun[];
  isStopped = false;
  #pod: Pod;
  readonly #o: PodRunOptions;
  readonly #inits: ContainerRun[];
  readonly #startedAt: number;
  #isInitialized = false;
  #isSwitchedReady = true;
  #crashSeen: string | undefined;
  #grace: Grace | undefined;
  #isKilled = false;
  /** Aborts when the pod is to end, in whatever way. */
  readonly #ended = new AbortController();

  constructor(pod: Pod, options: PodRunOptions) {
    const { uid } = pod.metadata;
    this.#pod = pod;
    this.#o = options;
    this.ip = options.ip;
    this.#startedAt = options.kit.clock.now();
    const known = [...(pod.status?.containerStatuses ?? []), ...(pod.status?.initContainerStatuses ?? [])];
    const runOf = (spec: Pod['spec']['containers'][number]) =>
      new ContainerRun(
        spec,
        uid,
        known.find((one) => one.name === spec.name),
      );
    const inits = pod.spec.initContainers ?? [];
    this.#inits = inits.filter((one) => one.restartPolicy !== 'Always').map(runOf);
    this.containers = [...inits.filter((one) => one.restartPolicy === 'Always'), ...pod.spec.containers].map(runOf);
    this.#crashSeen = annotation(pod, 'crash');
  }

  get uid(): string {
    return this.#pod.metadata.uid;
  }

  get pod(): Pod {
    return this.#pod;
  }

  /** Resolves when the containers listen, or at once when they are to start later. */
  async begin(): Promise<void> {
    const isResumed = this.#pod.status?.phase === 'Running';
    const delay = isResumed ? 0 : (duration(annotation(this.#pod, 'start-delay') ?? '0') ?? 0);
    if (delay > 0) {
      this.#o.kit.timers.after(delay, () => void this.#start());
      return;
    }
    const starting = this.#start();
    if (this.#inits.length === 0) await starting;
  }

  /** The object changed: its annotations and its deletion are what matters. */
  update(pod: Pod): void {
    this.#pod = pod;
    const crash = annotation(pod, 'crash');
    if (crash !== this.#crashSeen) {
      this.#crashSeen = crash;
      if (crash !== undefined) this.crash(1);
    }
    if (pod.metadata.deletionTimestamp)
      this.#stop(pod.metadata.deletionGracePeriodSeconds ?? pod.spec.terminationGracePeriodSeconds ?? usualGrace);
  }

  /** Every running container exits with `code`, its connections reset. */
  crash(code: number): void {
    for (const one of this.containers) if (one.isRunning) void this.#exit(one, code, 'Error');
  }

  /** All at once and without a word: the object is gone, or the node is. */
  async kill(): Promise<void> {
    this.#isKilled = true;
    this.#ended.abort();
    this.#grace?.end();
    for (const one of this.containers) one.prober?.stop();
    for (const one of [...this.#inits, ...this.containers]) one.endLog();
    await Promise.all(this.containers.flatMap((one) => one.listeners.map((listener) => listener.kill())));
  }

  /** A container by its name, init containers too. */
  container(name: string | undefined): ContainerRun | undefined {
    return [...this.#inits, ...this.containers].find((one) => one.spec.name === name);
  }

  view(): PodView {
    const isReady = this.#isReady();
    return {
      ip: this.ip,
      hostIp: this.#o.hostIp,
      startedAt: this.#startedAt,
      isInitialized: this.#isInitialized,
      inits: this.#inits.map((one) => one.view(false)),
      containers: this.containers.map((one) => one.view(isReady)),
    };
  }

  get #isEnding(): boolean {
    return this.#ended.signal.aborted;
  }

  #isReady(): boolean {
    return this.#isSwitchedReady && annotation(this.#pod, 'ready') !== 'false';
  }

  #appOf(one: ContainerRun): App {
    const { name, namespace = '', labels } = this.#pod.metadata;
    const { stores, clock } = this.#o.kit;
    return {
      pod: name,
      namespace,
      node: this.#pod.spec.nodeName ?? '',
      cluster: this.#o.cluster,
      service: () => labels?.['app'] ?? servicesSelecting(stores, this.#pod)[0]?.metadata.name ?? '',
      isReady: () => this.#isReady(),
      setReady: (isReady) => {
        this.#isSwitchedReady = isReady;
        this.#o.changed();
      },
      status: () => Number(annotation(this.#pod, 'status') ?? 200),
      log: (line) => one.log(clock.now(), line),
    };
  }

  async #start(): Promise<void> {
    const { kit, changed } = this.#o;
    for (const one of this.#inits) if (!(await runInit(one, { kit, ended: this.#ended.signal, changed }))) return;
    this.#isInitialized = true;
    await Promise.all(this.containers.map((one) => (one.state.terminated ? this.#afterExit(one) : this.#open(one))));
  }

  async #open(one: ContainerRun): Promise<void> {
    if (this.#isEnding) return;
    const { kit, listen, changed } = this.#o;
    const services = servicesSelecting(kit.stores, this.#pod);
    const ports = listen ? portsOf(this.#pod, one.spec, services) : [];
    one.starting();
    const opened = await openAll(ports, this.#o.listenIp, this.#appOf(one));
    if (this.#isEnding) {
      if (opened.ok) await Promise.all(opened.listeners.map((listener) => listener.kill()));
      return;
    }
    if (!opened.ok) {
      one.waiting('CannotListen', opened.message);
      kit.record(this.#pod, 'Warning', 'Failed', opened.message);
      kit.timers.after(listenRetry, () => void this.#open(one));
      return changed();
    }
    one.running(opened.listeners, kit.clock.now());
    if (listen) one.prober = this.#proberOf(one);
    else Object.assign(one, { isStarted: true, isProbedReady: true });
    if (annotation(this.#pod, 'crash') === 'loop') kit.timers.after(crashLoopRuns, () => this.crash(1));
    changed();
  }

  #proberOf(one: ContainerRun) {
    const { kit, changed } = this.#o;
    const turned = (kind: ProbeKind, isHealthy: boolean) => {
      if (kind === 'readiness') one.isProbedReady = isHealthy;
      else if (isHealthy) one.isStarted = true;
      else void this.#restartUnhealthy(one, kind);
      changed();
    };
    const { spec } = one;
    return prober({
      container: spec,
      timers: kit.timers,
      probe: (probe) => probeOnce(probe, { ip: this.#o.listenIp, container: spec, clock: kit.clock }),
      turned,
      failed: (kind, message) =>
        kit.record(
          this.#pod,
          'Warning',
          'Unhealthy',
          `${kind[0]!.toUpperCase()}${kind.slice(1)} probe failed: ${message}`,
        ),
    });
  }

  async #restartUnhealthy(one: ContainerRun, kind: ProbeKind): Promise<void> {
    if (!one.isRunning || this.#isEnding) return;
    const { kit } = this.#o;
    kit.record(this.#pod, 'Normal', 'Killing', `Container ${one.spec.name} failed ${kind} probe, will be restarted`);
    const left = grace(kit.timers, (this.#pod.spec.terminationGracePeriodSeconds ?? usualGrace) * 1000);
    one.prober?.stop();
    const code = await this.#end(one, left.expired);
    left.cancel();
    await this.#exit(one, code, 'Error');
  }

  async #exit(one: ContainerRun, code: number, reason: string): Promise<void> {
    const { kit } = this.#o;
    const { listeners } = one;
    one.terminated(code, reason, kit.clock.now());
    await Promise.all(listeners.map((listener) => listener.kill()));
    if (!this.#isEnding) this.#afterExit(one);
  }

  #afterExit(one: ContainerRun): void {
    const { kit, changed } = this.#o;
    const code = one.state.terminated?.exitCode ?? 0;
    const policy = one.spec.restartPolicy ?? this.#pod.spec.restartPolicy ?? 'Always';
    const isAgain = policy === 'Always' || (policy === 'OnFailure' && code !== 0);
    if (!isAgain) {
      one.isOver = true;
      return changed();
    }
    const delay = one.restartDelay();
    if (delay > 0) {
      const message = `back-off ${delay / 1000}s restarting failed container=${one.spec.name} pod=${this.#pod.metadata.name}_${this.#pod.metadata.namespace}(${this.uid})`;
      one.waiting('CrashLoopBackOff', message);
      kit.record(this.#pod, 'Warning', 'BackOff', message);
    }
    changed();
    kit.timers.after(delay, () => {
      if (this.#isEnding) return;
      one.restarting();
      void this.#open(one);
    });
  }

  #stop(graceSeconds: number): void {
    const { kit } = this.#o;
    // A second delete may shorten the time that is left, never lengthen it.
    if (this.#grace) return this.#grace.shorten(graceSeconds * 1000);
    this.#grace = grace(kit.timers, graceSeconds * 1000);
    this.#ended.abort();
    const names = this.containers.map((one) => one.spec.name).join(', ');
    kit.record(this.#pod, 'Normal', 'Killing', `Stopping container ${names}`);
    void this.#stopAll(this.#grace);
  }

  async #stopAll({ expired, cancel }: Grace): Promise<void> {
    const { kit } = this.#o;
    await Promise.all(
      this.containers.map(async (one) => {
        if (one.isRunning) {
          one.prober?.stopAllButReadiness();
          const code = await this.#end(one, expired);
          one.terminated(code, code === 0 ? 'Completed' : 'Error', kit.clock.now());
        } else if (!one.state.terminated) one.neverSeen();
        one.isOver = true;
      }),
    );
    cancel();
    if (this.#isKilled) return;
    this.isStopped = true;
    this.#o.changed();
  }

  #end(one: ContainerRun, expired: AbortSignal): Promise<number> {
    return endContainer(one, { kit: this.#o.kit, pod: this.#pod, ip: this.#o.listenIp, expired });
  }
}
