// How containers begin and end: init containers to their exit, and the way from preStop to SIGKILL.
import type { Kit } from '../kit.ts';
import type { Pod } from '../kube/objects.ts';
import { hook, runCommand } from './action.ts';
import { annotation } from './annotations.ts';
import type { ContainerRun } from './container-run.ts';

export interface InitOptions {
  kit: Kit;
  /** Aborts when the pod is to end. */
  ended: AbortSignal;
  changed(): void;
}

/** True when it exited with 0. A failed one is run again after a back-off, as long as the pod lives. */
export async function runInit(one: ContainerRun, { kit: { clock }, ended, changed }: InitOptions): Promise<boolean> {
  if (one.state.terminated?.exitCode === 0) return true;
  const command = [...(one.spec.command ?? []), ...(one.spec.args ?? [])];
  while (!ended.aborted) {
    one.running([], clock.now());
    // A container without a command runs what its image says, which nobody here knows: it is done at once.
    const { code } = command.length === 0 ? { code: 0 } : await runCommand(command, clock, ended);
    if (ended.aborted) return false;
    one.terminated(code, code === 0 ? 'Completed' : 'Error', clock.now());
    changed();
    if (code === 0) return true;
    const delay = one.restartDelay();
    one.waiting('CrashLoopBackOff', `back-off ${delay / 1000}s restarting failed container=${one.spec.name}`);
    await clock.sleep(delay, ended);
    one.restarting();
  }
  return false;
}

export interface EndOptions {
  kit: Kit;
  pod: Pod;
  /** Where the container listens. */
  ip: string;
  /** Aborts when the grace period is over. */
  expired: AbortSignal;
}

/** preStop, then SIGTERM, then SIGKILL when `expired` aborts first. Answers the exit code. */
export async function endContainer(one: ContainerRun, { kit, pod, ip, expired }: EndOptions): Promise<number> {
  const { preStop } = one.spec.lifecycle ?? {};
  const { listeners } = one;
  if (preStop) {
    const done = await hook(preStop, { ip, container: one.spec, clock: kit.clock }, expired);
    if (!done.ok) kit.record(pod, 'Warning', 'FailedPreStopHook', `PreStopHook failed: ${done.message}`);
  }
  const over = aborted(expired);
  one.log(kit.clock.now(), 'SIGTERM: no new connections, those there are may end');
  if (annotation(pod, 'ignore-sigterm') === 'true') await over;
  else await Promise.race([over, Promise.all(listeners.map((listener) => listener.stop()))]);
  await Promise.all(listeners.map((listener) => listener.kill()));
  return expired.aborted ? 137 : 0;
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((done) => signal.addEventListener('abort', () => done(), { once: true }));
}
