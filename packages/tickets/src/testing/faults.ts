// An API server that goes away at a chosen write: as a crash of the controller, seen from the controller.
import type { Kube, KubeResult } from '@fairlead/kube';

export interface Faults {
  /** Puts itself between a controller and its server. */
  between(kube: Kube): Kube;
  /** Writes before the fault; Infinity for none. `isLost`: the write of the fault is carried out, its answer is lost. */
  arm(after: number, isLost: boolean): void;
  /** Writes since `arm`. */
  readonly count: number;
}

export function faults(): Faults {
  let [left, isLost, count] = [Infinity, false, 0];
  const gone = { ok: false as const, problem: { code: 'unreachable' as const, message: 'the connection is gone' } };
  const write = async <T>(send: () => Promise<KubeResult<T>>): Promise<KubeResult<T>> => {
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
      apply: (...all) => write(() => kube.apply(...all)),
      remove: (...all) => write(() => kube.remove(...all)),
    }),
    arm(after, lost) {
      [left, isLost, count] = [after, lost, 0];
    },
    get count() {
      return count;
    },
  };
}
