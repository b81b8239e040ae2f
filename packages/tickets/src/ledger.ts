// Who holds which addresses of which Loadbalancer, and who waits for one (spec/tickets.md §4). In memory: the tickets
// are the truth, and all of them are noted here before the first address is given out.
import type { Loadbalancer } from '@fairlead/api';
import {
  addressPool,
  fail,
  formatAddress,
  ok,
  parseAddress,
  type AddressPool,
  type Problem,
  type Result,
} from '@fairlead/core';
import { multimap } from './multimap.ts';
import type { Layer } from './outage.ts';
import { waitingList } from './waiting-list.ts';

export interface Pair {
  veip: string;
  ltmip: string;
}

/** Empty or absent: whichever is free. */
export interface PairWish {
  veip?: string | null | undefined;
  ltmip?: string | null | undefined;
}

export interface Applicant {
  /** `namespace/name` of the ticket. */
  name: string;
  /** Milliseconds since the epoch: who waits longest is served first. */
  created: number;
}

export interface Capacity {
  ve: { total: number; used: number };
  ltm: { total: number; used: number };
}

/** One address of one layer of one Loadbalancer. */
interface Place {
  loadbalancer: string;
  layer: Layer;
  address: string;
}

interface Holding extends Place {
  /** Does the API server show it, or is it reserved only? */
  shown: boolean;
}

interface Book {
  /** What the pools were made from: an edit of anything else opens nothing again. */
  made: string;
  pools: Result<Record<Layer, AddressPool>>;
}

/*
 *                take                settle: the API server shows it
 *    (free) -----------> reserved ----------------------------------> shown
 *      ^                    |  '--- claim: another was shown first      |
 *      |<-------------------'                                           |
 *      '------------------------- settle with another pair, release ----'
 */
export class Ledger {
  readonly #onFree: (ticket: string) => void;
  readonly #books = new Map<string, Book>();
  readonly #holdings = new Map<string, Holding[]>();
  readonly #waiting = waitingList();
  /** Loadbalancers that give out nothing, and why. */
  #barred: ReadonlyMap<string, Problem> = new Map();
  /** Tickets that asked for an address which another holds, by that address; and the other way round. */
  readonly #wanting = multimap<string>();
  readonly #wanted = new Map<string, string>();

  /** `onFree` is told which ticket may now get what it waits for. */
  constructor(onFree: (ticket: string) => void) {
    this.#onFree = onFree;
  }

  /** Opens the books of a Loadbalancer, or reads its networks again after an edit. */
  open(loadbalancer: Loadbalancer): void {
    const { name } = loadbalancer.metadata;
    const { ve, ltm } = loadbalancer.spec;
    const made = JSON.stringify([ve.cidr, ve.exclude, ltm.cidr, ltm.exclude]);
    if (this.#books.get(name)?.made === made) return;
    const all = [...this.#holdings].flatMap(([ticket, held]) => held.map((holding) => ({ ...holding, ticket })));
    const make = (layer: Layer): Result<AddressPool> => {
      const own = all.filter((one) => one.loadbalancer === name && one.layer === layer);
      const { cidr, exclude = [] } = loadbalancer.spec[layer];
      const made = addressPool({ cidr, exclude, taken: own.map((one) => [one.address, one.ticket] as const) });
      return made.ok ? made : { ok: false, problem: { ...made.problem, path: `spec.${layer}.${made.problem.path}` } };
    };
    const pools = { ve: make('ve'), ltm: make('ltm') };
    const problem = !pools.ve.ok ? pools.ve : !pools.ltm.ok ? pools.ltm : undefined;
    if (problem) this.#books.set(name, { made, pools: problem });
    else if (pools.ve.ok && pools.ltm.ok)
      this.#books.set(name, { made, pools: ok({ ve: pools.ve.value, ltm: pools.ltm.value }) });
    this.#stirWaiting(name);
  }

  /** From now on these give out nothing that they have not given yet. Gives those of which something else is true than before. */
  bar(barred: ReadonlyMap<string, Problem>): string[] {
    const before = this.#barred;
    this.#barred = barred;
    return [...new Set([...before.keys(), ...barred.keys()])].filter(
      (name) => before.get(name)?.message !== barred.get(name)?.message,
    );
  }

  close(loadbalancer: string): void {
    this.#books.delete(loadbalancer);
  }

  /**
   * The API server shows that `ticket` has these. Of two claims the first shown counts, and any before a reservation.
   * `mayMove`: a created or failed ticket may be moved to another Loadbalancer, and what it shows may still be of the one
   * before; so only what this one could give is taken for its own.
   */
  claim(loadbalancer: string, ticket: string, pair: PairWish, mayMove = false): void {
    for (const layer of ['ve', 'ltm'] as const) {
      const parsed = parseAddress((layer === 've' ? pair.veip : pair.ltmip) ?? '');
      if (!parsed.ok) continue;
      const place = { loadbalancer, layer, address: formatAddress(parsed.value) };
      const pool = this.#pool(place);
      if (mayMove && pool && !pool.includes(place.address)) continue;
      const holder = pool?.hold(ticket, place.address) ?? ticket;
      if (holder === ticket) this.#note(ticket, { ...place, shown: true });
      else if (!this.#held(holder).some((one) => one.shown && isSame(one, place))) {
        // Reserved in our memory only, and another controller was faster. The loser finds out at its next turn.
        this.#free(holder, place);
        pool?.hold(ticket, place.address);
        this.#note(ticket, { ...place, shown: true });
      }
    }
  }

  /** A pair or nothing, reserved until `settle` or `release`. What the ticket has already, it gets again. */
  take(loadbalancer: string, applicant: Applicant, wish: PairWish): Result<Pair> {
    const pools = this.#books.get(loadbalancer)?.pools;
    if (!pools?.ok) return pools ?? fail('missing', `Loadbalancer ${loadbalancer} does not exist`);
    const barred = this.#barred.get(loadbalancer);
    const isHolder = this.#held(applicant.name).some((one) => one.loadbalancer === loadbalancer && one.shown);
    if (barred && !isHolder) return { ok: false, problem: barred };
    this.#unwant(applicant.name);
    const before = this.#held(applicant.name);
    // What is asked for by name first: a wrong wish is told at once, whoever waits.
    const order: readonly Layer[] = wish.ltmip && !wish.veip ? ['ltm', 've'] : ['ve', 'ltm'];
    const taken: Partial<Record<Layer, string>> = {};
    let refused: { layer: Layer; problem: Problem } | undefined;
    for (const layer of order) {
      const one = this.#takeOne({ loadbalancer, layer }, applicant, layer === 've' ? wish.veip : wish.ltmip);
      if (one.ok) taken[layer] = one.value;
      else {
        refused = { layer, problem: one.problem };
        break;
      }
    }
    if (taken.ve !== undefined && taken.ltm !== undefined) {
      this.#waiting.leave(applicant.name);
      // There may be enough for the next one too.
      this.#stirWaiting(loadbalancer);
      return ok({ veip: taken.ve, ltmip: taken.ltm });
    }
    if (!refused) throw new Error('bug: a pair was refused without a problem');
    return this.#refuse(loadbalancer, applicant, { ...refused, before });
  }

  #refuse(
    loadbalancer: string,
    applicant: Applicant,
    { layer, problem, before }: { layer: Layer; problem: Problem; before: readonly Holding[] },
  ): Result<Pair> {
    // A pair or nothing: what this call took goes back. Nobody is told: it was free before, and not enough.
    for (const holding of this.#held(applicant.name))
      if (!before.includes(holding)) this.#free(applicant.name, holding);
    const path = layer === 've' ? 'spec.veip' : 'spec.ltmip';
    if (problem.code !== 'exhausted') return { ok: false, problem: { ...problem, path } };
    this.#waiting.join(loadbalancer, applicant);
    const why = `no ${layer === 've' ? 'VE' : 'LTM'} address of Loadbalancer ${loadbalancer} is free; the ticket goes on when one is released or the network grows`;
    return fail('exhausted', why, path);
  }

  /** The ticket has just this pair now, and the API server shows it: all else that it held is free. */
  settle(loadbalancer: string, ticket: string, pair: Pair): void {
    const keeps = (one: Place) =>
      one.loadbalancer === loadbalancer && one.address === (one.layer === 've' ? pair.veip : pair.ltmip);
    for (const holding of this.#held(ticket)) if (keeps(holding)) holding.shown = true;
    this.#drop(ticket, (holding) => !keeps(holding));
  }

  /** The ticket has nothing any more. */
  release(ticket: string): void {
    this.#drop(ticket, () => true);
  }

  /** What the ticket has goes to `holder`, who keeps it until `release`. Nobody is told, for nothing came free. */
  transfer(ticket: string, holder: string): void {
    for (const holding of this.#held(ticket)) {
      this.#free(ticket, holding);
      this.#pool(holding)?.hold(holder, holding.address);
      this.#note(holder, { ...holding, shown: true });
    }
  }

  /** The addresses that `ticket` has of a Loadbalancer, by layer; of several the last. */
  pairOf(loadbalancer: string, ticket: string): Partial<Pair> {
    const of = (layer: Layer) =>
      this.#held(ticket).findLast((one) => one.loadbalancer === loadbalancer && one.layer === layer)?.address;
    const [veip, ltmip] = [of('ve'), of('ltm')];
    return { ...(veip === undefined ? {} : { veip }), ...(ltmip === undefined ? {} : { ltmip }) };
  }

  /** The ticket waits for nothing any more. */
  leave(ticket: string): void {
    this.#unwant(ticket);
    const list = this.#waiting.leave(ticket);
    if (list !== undefined) this.#stirWaiting(list);
  }

  /** Puts one who was refused for want of addresses before those who come later. */
  wait(loadbalancer: string, applicant: Applicant): void {
    this.#waiting.join(loadbalancer, applicant);
  }

  /** Undefined while the networks of the Loadbalancer cannot be read. */
  capacity(loadbalancer: string): Capacity | undefined {
    const pools = this.#books.get(loadbalancer)?.pools;
    return pools?.ok ? { ve: pools.value.ve.capacity(), ltm: pools.value.ltm.capacity() } : undefined;
  }

  /** Why no address can be given out. */
  problem(loadbalancer: string): Problem | undefined {
    const pools = this.#books.get(loadbalancer)?.pools;
    return pools && !pools.ok ? pools.problem : this.#barred.get(loadbalancer);
  }

  #pool({ loadbalancer, layer }: Pick<Place, 'loadbalancer' | 'layer'>): AddressPool | undefined {
    const pools = this.#books.get(loadbalancer)?.pools;
    return pools?.ok ? pools.value[layer] : undefined;
  }

  #held(ticket: string): readonly Holding[] {
    return this.#holdings.get(ticket) ?? [];
  }

  #note(ticket: string, holding: Holding): void {
    const all = this.#holdings.get(ticket);
    const present = all?.find((one) => isSame(one, holding));
    if (present) present.shown ||= holding.shown;
    else this.#holdings.set(ticket, all ? [...all, holding] : [holding]);
  }

  #forget(ticket: string, place: Place): void {
    const left = this.#held(ticket).filter((one) => !isSame(one, place));
    if (left.length > 0) this.#holdings.set(ticket, left);
    else this.#holdings.delete(ticket);
  }

  #drop(ticket: string, isGone: (holding: Holding) => boolean): void {
    for (const holding of this.#held(ticket).filter(isGone)) {
      this.#free(ticket, holding);
      for (const other of this.#wanting.get(placeKey(holding))) this.#onFree(other);
      this.#stirWaiting(holding.loadbalancer);
    }
  }

  #free(ticket: string, place: Place): void {
    this.#forget(ticket, place);
    this.#pool(place)?.release(place.address, ticket);
  }

  #takeOne(
    at: Pick<Place, 'loadbalancer' | 'layer'>,
    applicant: Applicant,
    wished: string | null | undefined,
  ): Result<string> {
    const pool = this.#pool(at);
    if (!pool) throw new Error(`bug: the books of ${at.loadbalancer} are not open`);
    const { name } = applicant;
    const present = this.#held(name).findLast((one) => one.loadbalancer === at.loadbalancer && one.layer === at.layer);
    const address = wished || present?.address;
    if (address === undefined && this.#waiting.isBehind(at.loadbalancer, applicant))
      return fail('exhausted', 'older tickets wait for an address');
    const taken = pool.take(name, address);
    if (taken.ok) {
      const { loadbalancer, layer } = at;
      this.#note(name, { loadbalancer, layer, address: taken.value, shown: false });
    } else if (taken.problem.code === 'taken' && address !== undefined) this.#want(name, { ...at, address });
    return taken;
  }

  #want(ticket: string, place: Place): void {
    this.#wanted.set(ticket, placeKey(place));
    this.#wanting.add(placeKey(place), ticket);
  }

  #unwant(ticket: string): void {
    const place = this.#wanted.get(ticket);
    if (place === undefined) return;
    this.#wanted.delete(ticket);
    this.#wanting.remove(place, ticket);
  }

  #stirWaiting(loadbalancer: string): void {
    const first = this.#waiting.first(loadbalancer);
    if (first !== undefined) this.#onFree(first);
  }
}

const isSame = (a: Place, b: Place): boolean =>
  a.loadbalancer === b.loadbalancer && a.layer === b.layer && a.address === b.address;

const placeKey = ({ loadbalancer, layer, address }: Place): string => `${loadbalancer} ${layer} ${address}`;
