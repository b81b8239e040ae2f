// The devices that are served: an engine for each, and the sources in it.
import { engine, type Engine, type Outcome } from '@fairlead/engine';
import type { Clock, Policy } from '@fairlead/core';
import type { Source } from '@fairlead/sources';
import type { Credentials } from './credentials.ts';
import type { Device, DeviceCall, DeviceOptions } from './device.ts';
import { health, type Health } from './device-health.ts';
import type { Log } from './log.ts';
import type { Metrics } from './metrics/metrics.ts';

export interface PlacesOptions {
  /** How a device is reached. */
  device(options: DeviceOptions): Device;
  clock: Clock;
  random: () => number;
  /** The mark on what we put on devices. */
  owner: string;
  policy: Policy;
  log: Log;
  report(outcomes: Outcome[]): void;
  metrics?: Pick<Metrics, 'scopeTurn' | 'members' | 'deviceCall'> | undefined;
  /** A device came, went, or refused us. */
  onHealth(place: Place): void;
}

/** One device, as it is logged in to. */
export interface Place {
  readonly url: string;
  readonly credentials: Credentials;
  readonly engine: Engine;
  readonly health: Pick<Health, 'state'>;
  /** Loadbalancers that are served here; the last one to leave without wanting anything removed ends the engine. */
  readonly sources: Map<string, Source>;
  /** Ends the engine; what is on the device stays. */
  end(): Promise<void>;
}

export interface Places {
  /** The place of that device and login, opened when there is none. */
  at(url: string, credentials: Credentials): Place;
  /** Places of a device, whatever the login. */
  on(url: string): Place[];
  all(): Iterable<Place>;
  /** Resolves when every engine has ended; they do when `signal` aborts. */
  ended(): Promise<void>;
}

export function places(options: PlacesOptions, signal: AbortSignal): Places {
  const open = new Map<string, Place>();
  const runs: Promise<void>[] = [];
  return {
    at(url, credentials) {
      const id = JSON.stringify([url, credentials]);
      const present = open.get(id);
      if (present) return present;
      const stop = new AbortController();
      const changed = (): void => options.onHealth(place);
      const made = openPlace(options, { url, credentials, changed }, AbortSignal.any([signal, stop.signal]));
      runs.push(made.done);
      const end = () => {
        open.delete(id);
        stop.abort();
        return made.done;
      };
      const place: Place = { url, credentials, engine: made.engine, health: made.health, sources: new Map(), end };
      open.set(id, place);
      return place;
    },
    on: (url) => [...open.values()].filter((place) => place.url === url),
    all: () => open.values(),
    async ended() {
      await Promise.all(runs);
    },
  };
}

function openPlace(
  { device, clock, random, owner, policy, log, report, metrics }: PlacesOptions,
  { url, credentials, changed }: { url: string; credentials: Credentials; changed(): void },
  signal: AbortSignal,
): { engine: Engine; health: Health; done: Promise<void> } {
  const name = hostOf(url);
  const onCall = (call: DeviceCall): void => metrics?.deviceCall(name, call);
  const { provider, close }: Device = device({ url, credentials, clock, onCall });
  const watched = health({
    provider,
    clock,
    changed() {
      changed();
      // What failed meanwhile waits by back-off; it need not any longer.
      if (watched.state === 'reachable') made.resync();
    },
  });
  const made = engine({
    clock,
    random,
    owner,
    policy,
    provider: watched.provider,
    report,
    onTurn(turn) {
      metrics?.scopeTurn(turn);
      const { scope, result, changed, took } = turn;
      if (changed > 0) log.info('a tenant was written', { turn: 'scope', device: name, scope, result, changed, took });
    },
    onMembers(written) {
      metrics?.members(name, written);
      log.info('members were written', { turn: 'members', device: name, ...written });
    },
    log: (line) => log.warn(`${url}: ${line}`),
    onBug: (error, where) => log.bug(error, `${url}: ${where}`),
  });
  const done = Promise.all([made.start(signal), watched.run(signal)]).finally(close);
  return { engine: made, health: watched, done: done.then(() => undefined) };
}

/** Host and port. */
const hostOf = (url: string): string => (URL.canParse(url) ? new URL(url).host : url);

/** Stands for a Loadbalancer that cannot be served yet: it wants nothing, and keeps what it may own from being removed. */
export const waitingSource = (name: string, cluster: string): Source => ({
  name,
  synced: false,
  owns: (asker) => asker.startsWith(`${cluster}/`),
  scopes: () => [],
  wanted: () => [],
  pools: () => [],
  refusals: () => [],
  edits: () => [],
  origin: () => undefined,
  supply: () => undefined,
  listen: () => () => undefined,
  close: () => undefined,
});
