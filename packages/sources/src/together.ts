// Two sources as one: a main one, and another that may fill late, or never, without holding up the first.
import type { LoadBalancer, PoolRef } from '@fairlead/core';
import type { Edit, Source, Touch } from './source.ts';

/**
 *   main   | other  | wanted and told  | owned: what nobody wants of it may be removed
 *   -------+--------+------------------+------------------------------------------------
 *   fills  | any    | nothing          | the engine asks nobody's leave yet: it holds all
 *   full   | fills  | main's           | main's; the other's is nobody's, so it stays
 *   full   | full   | both's           | both's
 */
export function together(main: Source, other: Source): Source {
  const full = (): Source[] => [main, other].filter(({ synced }) => synced);
  const pools = (scope: string): PoolRef[] => full().flatMap((source) => source.pools(scope));
  const scopes = (): Set<string> => new Set(full().flatMap((source) => [...source.scopes()]));
  const edits = (): Edit[] => full().flatMap((source) => [...source.edits()]);
  const everything = (): Touch => ({ scopes: [...scopes()], pools: [...scopes()].flatMap(pools), edits: edits() });
  const stops = new Set<() => void>();
  return {
    name: main.name,
    get synced() {
      return main.synced;
    },
    owns: (asker) => main.owns(asker) || (other.synced && other.owns(asker)),
    scopes,
    wanted: (scope): LoadBalancer[] => full().flatMap((source) => source.wanted(scope)),
    pools,
    edits,
    origin: (asker) => main.origin(asker) ?? other.origin(asker),
    refusals: (asker) => full().flatMap((source) => [...source.refusals(asker)]),
    certificate: (asker, secret) => main.certificate?.(asker, secret) ?? other.certificate?.(asker, secret),
    supply: (pool, asker) => main.supply(pool, asker) ?? other.supply(pool, asker),
    listen(listener) {
      // What the other told before the main one was full, nobody heard.
      let isHeard = main.synced;
      const hear = (touch: Touch): void => {
        const all = !isHeard && main.synced;
        isHeard = main.synced;
        listener(all ? everything() : touch);
      };
      const own = [main.listen(hear), other.listen(hear)];
      const stop = (): void => own.forEach((one) => one());
      stops.add(stop);
      return () => {
        stop();
        stops.delete(stop);
      };
    },
    close() {
      for (const stop of stops) stop();
      main.close();
      other.close();
    },
  };
}
