// The monitors at work: each member of each monitored pool is probed at its interval, and its status follows.

import { setMaxListeners } from 'node:events';
import type { Clock } from '../clock.ts';
import { monitorsOf } from '../configuration/check.ts';
import { destinationOf, type Member, type Monitor, type Pool } from '../configuration/object.ts';
import type { View } from '../configuration/store.ts';
import type { Place } from './bind.ts';
import type { Members } from './members.ts';
import { probe } from './probe.ts';

export interface MonitorParts {
  configuration: View;
  clock: Clock;
  members: Members;
  /** Where a member's address is reached from this machine. */
  reach(address: string, port: number): Place;
}

interface Watch {
  /** What was watched for; another monitor or setting begins a new watch. */
  signature: string;
  stop: AbortController;
  results: Map<string, boolean>;
}

/*
 *               first success             no success for `timeout` s
 *   checking ──────────────────▶ up ──────────────────────────────▶ down
 *      │                          ▲                                  │
 *      └── first failure ─▶ down ─┴───────────── success ────────────┘
 */
export class Monitors {
  #parts: MonitorParts;
  #watches = new Map<string, Map<string, Watch>>();

  constructor(parts: MonitorParts) {
    this.#parts = parts;
  }

  /** Watches exactly the members that the pool has now. `isNew` forgets what was known of them. */
  follow(pool: Pool, isNew = false): void {
    const watches = this.#watches.get(pool.fullPath) ?? new Map<string, Watch>();
    this.#watches.set(pool.fullPath, watches);
    const { paths } = monitorsOf(pool.monitor);
    const monitors = paths.flatMap((path) => this.#parts.configuration.get('monitor', path) ?? []);
    const signature = JSON.stringify([pool.monitor, monitors]);
    const present = new Set(pool.members.map((member) => member.fullPath));
    for (const [member, watch] of watches) {
      if (present.has(member) && watch.signature === signature && !isNew) continue;
      watch.stop.abort();
      watches.delete(member);
    }
    for (const member of pool.members) {
      if (watches.has(member.fullPath)) continue;
      this.#parts.members.setStatus(pool, member, monitors.length > 0 ? 'checking' : 'unchecked');
      const watch: Watch = { signature, stop: new AbortController(), results: new Map() };
      setMaxListeners(0, watch.stop.signal);
      watches.set(member.fullPath, watch);
      for (const monitor of monitors) void this.#watch({ pool: pool.fullPath, member, monitor, watch });
    }
  }

  forget(pool: string): void {
    for (const watch of this.#watches.get(pool)?.values() ?? []) watch.stop.abort();
    this.#watches.delete(pool);
  }

  close(): void {
    for (const pool of this.#watches.keys()) this.forget(pool);
  }

  async #watch(job: { pool: string; member: Member; monitor: Monitor; watch: Watch }): Promise<void> {
    const { monitor, watch } = job;
    const { clock } = this.#parts;
    const signal = watch.stop.signal;
    let lastSuccess = clock.now();
    while (!signal.aborted) {
      const started = clock.now();
      const isUp = await this.#probe(job);
      if (signal.aborted) return;
      if (isUp) lastSuccess = clock.now();
      const known = watch.results.get(monitor.fullPath);
      const isLost = known !== true || clock.now() - lastSuccess >= monitor.timeout * 1000;
      if (isUp || isLost) this.#conclude(job, isUp);
      await clock.sleep(Math.max(0, started + monitor.interval * 1000 - clock.now()), signal);
    }
  }

  async #probe({ member, monitor, watch }: { member: Member; monitor: Monitor; watch: Watch }): Promise<boolean> {
    const override = destinationOf(monitor.destination);
    const place = this.#parts.reach(override?.address ?? member.address, override?.port || member.port);
    const limit = new AbortController();
    const end = (): void => limit.abort();
    watch.stop.signal.addEventListener('abort', end);
    // A probe that hangs is over before the next begins.
    void this.#parts.clock.sleep(monitor.interval * 1000, limit.signal).then(end);
    const isUp = await probe(monitor, place, limit.signal);
    watch.stop.signal.removeEventListener('abort', end);
    end();
    return isUp;
  }

  #conclude(
    { pool, member, monitor, watch }: { pool: string; member: Member; monitor: Monitor; watch: Watch },
    isUp: boolean,
  ): void {
    watch.results.set(monitor.fullPath, isUp);
    const now = this.#parts.configuration.get('pool', pool);
    if (!now) return;
    const { paths, needed } = monitorsOf(now.monitor);
    const good = paths.filter((path) => watch.results.get(path) === true).length;
    const unknown = paths.filter((path) => !watch.results.has(path)).length;
    if (good >= needed) this.#parts.members.setStatus(now, member, 'up');
    else if (good + unknown < needed) this.#parts.members.setStatus(now, member, 'down');
  }
}
