// Probing one container: when, how often, and after how many results in a row its state turns.
//
//   start ──startupProbe succeeds──> readiness and liveness begin   (at once when there is no startupProbe)
//     └──startupProbe or livenessProbe fails too often──> the container is ended and started again
import type { Container, Probe } from '../kube/objects.ts';
import type { Timer, Timers } from '../turns/timers.ts';
import type { Outcome } from './action.ts';

export type ProbeKind = 'startup' | 'readiness' | 'liveness';

export interface ProberOptions {
  container: Container;
  timers: Timers;
  probe(probe: Probe): Promise<Outcome>;
  /** The state of one sort of probe turned. */
  turned(kind: ProbeKind, isHealthy: boolean): void;
  /** A single failure, worth an event. */
  failed(kind: ProbeKind, message: string): void;
}

export interface Prober {
  /** Readiness goes on while a pod is being deleted; the others do not. */
  stopAllButReadiness(): void;
  stop(): void;
}

export function prober({ container, timers, probe, turned, failed }: ProberOptions): Prober {
  const loops = new Map<ProbeKind, { stop(): void }>();
  const begin = (kind: ProbeKind, spec: Probe | undefined) => {
    if (!spec) return;
    const tell = (isHealthy: boolean) => {
      turned(kind, isHealthy);
      if (kind !== 'startup' || !isHealthy) return;
      loops.get('startup')?.stop();
      beginRest();
    };
    loops.set(
      kind,
      loop({
        spec,
        timers,
        isHealthy: kind === 'liveness',
        once: () => probe(spec),
        tell,
        failed: (message) => failed(kind, message),
      }),
    );
  };
  const beginRest = () => {
    begin('readiness', container.readinessProbe);
    begin('liveness', container.livenessProbe);
  };
  if (container.startupProbe) begin('startup', container.startupProbe);
  else beginRest();
  const stop = (kinds: Iterable<ProbeKind>) => {
    for (const kind of kinds) loops.get(kind)?.stop();
  };
  return { stopAllButReadiness: () => stop(['startup', 'liveness']), stop: () => stop(loops.keys()) };
}

interface Loop {
  spec: Probe;
  timers: Timers;
  /** The state before the first probe: readiness begins unhealthy, liveness healthy. */
  isHealthy: boolean;
  once(): Promise<Outcome>;
  tell(isHealthy: boolean): void;
  failed(message: string): void;
}

function loop({ spec, timers, isHealthy, once, tell, failed }: Loop): { stop(): void } {
  let tally: Tally = { isHealthy, inRow: 0, last: undefined };
  let isStopped = false;
  let timer: Timer;
  const round = async () => {
    const { ok, message } = await once();
    if (isStopped) return;
    if (!ok) failed(message);
    const next = count(tally, ok, spec);
    const isTurned =
      next.isHealthy !== tally.isHealthy || (!next.isHealthy && !ok && next.inRow === (spec.failureThreshold ?? 3));
    tally = next;
    if (isTurned) tell(next.isHealthy);
    if (!isStopped) timer = timers.after((spec.periodSeconds ?? 10) * 1000, () => void round());
  };
  timer = timers.after((spec.initialDelaySeconds ?? 0) * 1000, () => void round());
  return {
    stop() {
      isStopped = true;
      timer.cancel();
    },
  };
}

export interface Tally {
  isHealthy: boolean;
  /** Equal results in a row, and which. */
  inRow: number;
  last: boolean | undefined;
}

/** The state after one more result: it turns when `successThreshold` or `failureThreshold` equal results came in a row. */
export function count(tally: Tally, ok: boolean, { successThreshold = 1, failureThreshold = 3 }: Probe): Tally {
  const inRow = tally.last === ok ? tally.inRow + 1 : 1;
  const isEnough = inRow >= (ok ? successThreshold : failureThreshold);
  return { isHealthy: isEnough ? ok : tally.isHealthy, inRow, last: ok };
}
