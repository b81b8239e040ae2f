// An API server that goes away at a chosen write: as a crash of the controller, seen from the controller.
import type { Kube, KubeResult } from '@fairlead/kube';

export interface Faults {
  /** Puts itself between a controller and its server. */
  between(kube: Kube): Kube;
  /** Writes before the fault; Infinity for none. `isLost`: the write of the fault is carried out, its answer is lost. */
  arm(after: number, isLost: boolean): void;
  /** The next write: refused as if somebody had been faster, carried out and its answer lost, or not sent at all. */
  failNext(fault: Fault): void;
  /** Writes since `arm`. */
  readonly count: number;
}

export type Fault = 'conflict' | 'lost' | 'gone';

export function faults(): Faults {
  let [left, isLost, count] = [Infinity, false, 0];
  const ordered: Fault[] = [];
  const gone = { ok: false as const, problem: { code: 'unreachable' as const, message: 'the connection is gone' } };
  const conflict = { ok: false as const, problem: { code: 'conflict' as const, message: 'somebody was faster' } };
  const write = async <T>(send: () => Promise<KubeResult<T>>, mayConflict = true): Promise<KubeResult<T>> => {
    const fault = ordered.shift();
    if (fault === 'conflict' && mayConflict) return conflict;
    if (fault === 'lost') await send();
    if (fault === 'lost' || fault === 'gone') return gone;
    if (count >= left && !(count === left && isLost)) {
      count += 1;
      return gone;
    }
    count += 1;
    const answer = await send();
    return count > left ? gone : answer;
  };
  return {
    between: (kube) => ({
      ...kube,
      patch: (...all) => write(() => kube.patch(...all)),
      // Applying is not conditional on a version.
      apply: (...all) => write(() => kube.apply(...all), false),
      remove: (...all) => write(() => kube.remove(...all)),
    }),
    failNext: (fault) => void ordered.push(fault),
    arm(after, lost) {
      ordered.length = 0;
      [left, isLost, count] = [after, lost, 0];
    },
    get count() {
      return count;
    },
  };
}
