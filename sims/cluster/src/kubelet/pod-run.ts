// The life of one pod on its node.
//
//   begin ──start delay, init containers──> containers run ──stop──> preStop ──> SIGTERM ──> connections end ──> stopped
//                                                └──kill (object gone, node lost)              └──grace ends──> SIGKILL ──> stopped
import type { Kit } from '../kit.ts';
import type { Pod } from '../kube/objects.ts';
import type { Timer } from '../turns/timers.ts';
import { hook, probeOnce, runCommand } from './action.ts';
import { annotation, duration } from './annotations.ts';
import type { App } from './app.ts';
import { ContainerRun } from './container-run.ts';
import type { Listener } from './listener.ts';
import { open } from './listener.ts';
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
const defaultGrace = 30;

export class PodRun {
  readonly ip: string;
  readonly containers: ContainerRun[];
  isStopped = false;
  #pod: Pod;
  readonly #o: PodRunOptions;
  readonly #inits: ContainerRun[];
  readonly #startedAt: number;
  readonly #app: App;
  #isInitialized = false;
  #isSwitchedReady = true;
  #crashSeen: string | undefined;
  #stopping: { expired: AbortController; timer: Timer; at: number } | undefined;
  #isKilled = false;

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
    this.#app = this.#appOf(pod);
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
      this.#o.kit.timers.after(delay, () => void this.#start(isResumed));
      return;
    }
    const starting = this.#start(isResumed);
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
      this.#stop(pod.metadata.deletionGracePeriodSeconds ?? pod.spec.terminationGracePeriodSeconds ?? defaultGrace);
  }

  /** Every running container exits with `code`, its connections reset. */
  crash(code: number): void {
    for (const one of this.containers) if (one.isRunning) void this.#exit(one, code, 'Error');
  }

  /** All at once and without a word: the object is gone, or the node is. */
  async kill(): Promise<void> {
    this.#isKilled = true;
    this.#stopping?.timer.cancel();
    this.#stopping?.expired.abort();
    for (const one of this.containers) one.prober?.stop();
    await Promise.all(this.containers.flatMap((one) => one.listeners.map((listener) => listener.kill())));
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

  #isReady(): boolean {
    return this.#isSwitchedReady && annotation(this.#pod, 'ready') !== 'false';
  }

  #appOf(pod: Pod): App {
    const { name, namespace = '', labels } = pod.metadata;
    const { stores } = this.#o.kit;
    return {
      pod: name,
      namespace,
      node: pod.spec.nodeName ?? '',
      cluster: this.#o.cluster,
      service: () => labels?.['app'] ?? servicesSelecting(stores, this.#pod)[0]?.metadata.name ?? '',
      isReady: () => this.#isReady(),
      setReady: (isReady) => {
        this.#isSwitchedReady = isReady;
        this.#o.changed();
      },
      log: (line) => this.containers.at(-1)?.log(line),
    };
  }

  async #start(isResumed: boolean): Promise<void> {
    for (const one of this.#inits) if (!(await this.#runInit(one, isResumed))) return;
    this.#isInitialized = true;
    await Promise.all(this.containers.map((one) => this.#open(one)));
  }

  /** True when it exited with 0. A failed one is run again after a back-off, as long as the pod lives. */
  async #runInit(one: ContainerRun, isResumed: boolean): Promise<boolean> {
    const { clock } = this.#o.kit;
    for (;;) {
      if (this.#isKilled || this.#stopping) return false;
      one.running([], clock.now());
      const command = [...(one.spec.command ?? []), ...(one.spec.args ?? [])];
      const signal = new AbortController().signal;
      const { code } = isResumed || command.length === 0 ? { code: 0 } : await runCommand(command, clock, signal);
      one.terminated(code, code === 0 ? 'Completed' : 'Error', clock.now());
      this.#o.changed();
      if (code === 0) return true;
      const delay = one.restartDelay();
      one.waiting('CrashLoopBackOff', `back-off ${delay / 1000}s restarting failed container=${one.spec.name}`);
      await clock.sleep(delay);
      one.restarting();
    }
  }

  async #open(one: ContainerRun): Promise<void> {
    if (this.#isKilled || this.#stopping) return;
    const { kit, listen, changed } = this.#o;
    const opened = listen ? await this.#openPorts(one) : { ok: true as const, listeners: [] };
    if (this.#isKilled || this.#stopping) {
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
    if (annotation(this.#pod, 'crash') === 'loop')
      kit.timers.after(crashLoopRuns, () => void (one.isRunning && this.#exit(one, 1, 'Error')));
    changed();
  }

  async #openPorts(one: ContainerRun): Promise<{ ok: true; listeners: Listener[] } | { ok: false; message: string }> {
    const listeners: Listener[] = [];
    const { listenIp } = this.#o;
    for (const port of portsOf(this.#pod, one.spec, servicesSelecting(this.#o.kit.stores, this.#pod))) {
      const opened = await open(port, listenIp, this.#app);
      if (!opened.ok) {
        await Promise.all(listeners.map((listener) => listener.kill()));
        return opened;
      }
      one.log(`listening on ${listenIp}:${port.number} (${port.protocol})`);
      listeners.push(opened.listener);
    }
    return { ok: true, listeners };
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
    if (!one.isRunning || this.#stopping) return;
    const { kit } = this.#o;
    kit.record(this.#pod, 'Normal', 'Killing', `Container ${one.spec.name} failed ${kind} probe, will be restarted`);
    const expired = new AbortController();
    const grace = (this.#pod.spec.terminationGracePeriodSeconds ?? defaultGrace) * 1000;
    const timer = kit.timers.after(grace, () => expired.abort());
    one.prober?.stop();
    const code = await this.#wind(one, expired.signal);
    timer.cancel();
    await this.#exit(one, code, 'Error');
  }

  async #exit(one: ContainerRun, code: number, reason: string): Promise<void> {
    const { kit, changed } = this.#o;
    const { listeners } = one;
    one.terminated(code, reason, kit.clock.now());
    await Promise.all(listeners.map((listener) => listener.kill()));
    if (this.#isKilled || this.#stopping) return;
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
      if (this.#isKilled || this.#stopping) return;
      one.restarting();
      void this.#open(one);
    });
  }

  #stop(graceSeconds: number): void {
    const { kit } = this.#o;
    const now = kit.clock.now();
    const at = now + graceSeconds * 1000;
    if (this.#stopping) {
      // A second delete may shorten the time that is left, never lengthen it.
      if (at >= this.#stopping.at) return;
      this.#stopping.timer.cancel();
      Object.assign(this.#stopping, { at, timer: kit.timers.after(at - now, () => this.#stopping?.expired.abort()) });
      return;
    }
    const expired = new AbortController();
    this.#stopping = { expired, at, timer: kit.timers.after(at - now, () => expired.abort()) };
    kit.record(
      this.#pod,
      'Normal',
      'Killing',
      `Stopping container ${this.containers.map((one) => one.spec.name).join(', ')}`,
    );
    void this.#stopAll(expired.signal);
  }

  async #stopAll(expired: AbortSignal): Promise<void> {
    await Promise.all(
      this.containers.map(async (one) => {
        if (!one.isRunning) {
          if (!one.state.terminated) one.terminated(0, 'Completed', this.#o.kit.clock.now());
        } else {
          one.prober?.stopAllButReadiness();
          const code = await this.#wind(one, expired);
          one.terminated(code, code === 0 ? 'Completed' : 'Error', this.#o.kit.clock.now());
        }
        one.isOver = true;
      }),
    );
    this.#stopping?.timer.cancel();
    if (this.#isKilled) return;
    this.isStopped = true;
    this.#o.changed();
  }

  /** preStop, then SIGTERM, then SIGKILL when `expired` aborts first. Answers the exit code. */
  async #wind(one: ContainerRun, expired: AbortSignal): Promise<number> {
    const { kit } = this.#o;
    const { preStop } = one.spec.lifecycle ?? {};
    const { listeners } = one;
    if (preStop) {
      const done = await hook(preStop, { ip: this.#o.listenIp, container: one.spec, clock: kit.clock }, expired);
      if (!done.ok) kit.record(this.#pod, 'Warning', 'FailedPreStopHook', `PreStopHook failed: ${done.message}`);
    }
    const aborted = expired.aborted
      ? Promise.resolve()
      : new Promise<void>((done) => expired.addEventListener('abort', () => done(), { once: true }));
    if (annotation(this.#pod, 'ignore-sigterm') === 'true') await aborted;
    else await Promise.race([aborted, Promise.all(listeners.map((listener) => listener.stop()))]);
    await Promise.all(listeners.map((listener) => listener.kill()));
    return expired.aborted ? 137 : 0;
  }
}
