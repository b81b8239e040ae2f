// Claims: who gets an address and port, or a key, when more than one asks.

/** One who asks: all that it asks for, or nothing. */
export interface Ask {
  /** Who; unique among the asks. */
  by: string;
  /** Such as `192.0.2.7:80/tcp`, or the key of a load balancer. */
  claims: readonly string[];
  /** Milliseconds since the epoch: the older object has the better right. */
  created: number;
}

export interface Refused {
  by: string;
  claim: string;
  holder: string;
}

/**
 * Who gets what. The rule, at start as later:
 *
 *   1. the present holder keeps it, for as long as it is there and asks,
 *   2. then the older object,
 *   3. then the smaller name.
 *
 * `holders`: what each claim's present holder is. A refused ask gets none of its claims and keeps what it holds now,
 * because what it has in the place stays there; a granted one gives up what it no longer asks for, and others may have
 * that in the same step. Holders that do not ask keep theirs: the caller leaves out those that go away.
 */
export function settle(asks: readonly Ask[], holders: ReadonlyMap<string, string>): Refused[] {
  const held = new Map(holders);
  const byHolder = new Map<string, string[]>();
  for (const [claim, holder] of holders) byHolder.set(holder, [...(byHolder.get(holder) ?? []), claim]);
  const waiting = asks.toSorted((a, b) => a.created - b.created || (a.by < b.by ? -1 : 1));
  for (let at = 0; at < waiting.length;) {
    const ask = waiting[at];
    if (!ask || rival(ask, held)) {
      at++;
      continue;
    }
    waiting.splice(at, 1);
    for (const claim of ask.claims) held.set(claim, ask.by);
    const given = (byHolder.get(ask.by) ?? []).filter((claim) => !ask.claims.includes(claim));
    for (const claim of given) held.delete(claim);
    // What became free goes to the oldest that waits for it, not to whoever comes next.
    if (given.length > 0) at = 0;
  }
  return waiting.flatMap((ask) => rival(ask, held) ?? []);
}

function rival(ask: Ask, held: ReadonlyMap<string, string>): Refused | undefined {
  for (const claim of ask.claims) {
    const holder = held.get(claim);
    if (holder !== undefined && holder !== ask.by) return { by: ask.by, claim, holder };
  }
  return undefined;
}
