// One client connection (or UDP flow) through a virtual server: its rules run, their choices kept, its member chosen.

import type { Member, Persistence, Pool, Virtual } from '../configuration/object.ts';
import { destinationOf } from '../configuration/object.ts';
import { pathsOf } from '../irule/runner.ts';
import type { View } from '../configuration/store.ts';
import type { Effect, RuleEngine } from '../irule/engine.ts';
import type { Place } from './bind.ts';
import type { HttpCounts } from './http-counts.ts';
import type { Members } from './members.ts';
import {
  cookieName,
  cookieOf,
  cookieValue,
  destinationAddress,
  maskedAddress,
  type PersistenceTable,
} from './persistence.ts';

export interface FlowParts {
  configuration: View;
  rules: RuleEngine;
  members: Members;
  persistence: PersistenceTable;
  http: HttpCounts;
  reach(address: string, port: number): Place;
  log(text: string): void;
}

export type Headers = [string, string][];

export interface Client {
  address: string;
  port: number;
  sni?: string | undefined;
}

/** What the rules of an event made of it. */
export interface Verdict {
  /** `reset` and `drop` end the client connection at once. */
  end?: 'reset' | 'drop';
  respond?: string[];
  /** The client connection closes after this answer. */
  close: boolean;
  /** Changes of headers, URI and method, in order. */
  edits: Effect[];
}

/** A server for the connection. `pool` and `member` are absent when a rule named an address itself. */
export interface Target {
  place: Place;
  address: string;
  port: number;
  pool?: Pool;
  member?: Member;
  /** Persistence by cookie: what to set when the client does not have it already. */
  cookie?: { name: string; value: string };
}

interface Choice {
  pool?: string;
  member?: { address: string; port: number };
  node?: { address: string; port: number };
  persist?: { method: string; key: string; timeout: number };
}

let serial = 0;

export class Flow {
  readonly id: string;
  readonly client: Client;
  #parts: FlowParts;
  #path: string;
  #choice: Choice = {};
  #target: Target | undefined;
  #release: (() => void) | undefined;
  #proposed: Target | undefined;
  #hasRun = false;

  constructor(parts: FlowParts, virtual: string, client: Client) {
    this.#parts = parts;
    this.#path = virtual;
    this.client = client;
    serial += 1;
    this.id = `c${serial}`;
  }

  /** The virtual server as it is configured now. */
  get virtual(): Virtual | undefined {
    return this.#parts.configuration.get('virtual', this.#path);
  }

  get target(): Target | undefined {
    return this.#target;
  }

  listens(event: string): boolean {
    return this.#parts.rules.listens(this.#path, event);
  }

  /** Runs the rules of an event; choices of pool, node and persistence hold for the rest of the connection. */
  async fire(event: string, facts: Record<string, string> = {}, headers: Headers = []): Promise<Verdict> {
    const verdict: Verdict = { close: false, edits: [] };
    if (!this.listens(event)) return verdict;
    this.#hasRun = true;
    const all = { ...this.#facts(), ...facts };
    const effects = await this.#parts.rules.fire({
      set: this.#path,
      connection: this.id,
      name: event,
      facts: all,
      headers,
    });
    for (const effect of effects) this.#apply(effect, verdict);
    return verdict;
  }

  /** The member to use now: the present one while the pool is the same, else by persistence, else by load balancing. */
  select(cookieHeader?: string): Target | undefined {
    const { node, pool: chosen } = this.#choice;
    if (node) return { place: this.#parts.reach(node.address, node.port), ...node };
    const path = chosen ?? this.virtual?.pool;
    const pool = path === undefined ? undefined : this.#parts.configuration.get('pool', path);
    if (!pool) return undefined;
    const present = this.#present(pool);
    if (present) return present;
    const found = this.#wantedMember(pool) ?? this.#persisted(pool, cookieHeader);
    const member = found ?? this.#parts.members.pick(pool);
    if (!member) return undefined;
    return this.#targetOf(pool, member, cookieHeader);
  }

  /** Binds the connection to a server; the member before is let go. `reset` is called when the member is removed. */
  open(target: Target, reset: () => void): void {
    this.#proposed = undefined;
    if (target === this.#target) return;
    this.#release?.();
    this.#release = undefined;
    this.#target = target;
    if (target.pool && target.member) this.#release = this.#parts.members.open(target.pool, target.member, reset);
  }

  /** An HTTP request was sent to the server. */
  asked({ pool, member }: Target): void {
    if (pool && member) this.#parts.members.asked(pool, member);
  }

  /** Names the server that an LB_SELECTED is about; `open` makes it so. */
  propose(target: Target): void {
    this.#proposed = target;
  }

  /** The server could not be reached: the next choice is free. */
  letGo(): void {
    this.#release?.();
    this.#release = undefined;
    this.#target = undefined;
  }

  close(): void {
    this.#release?.();
    this.#release = undefined;
    if (this.#hasRun) this.#parts.rules.forget(this.id);
  }

  #facts(): Record<string, string> {
    const server = this.#proposed ?? this.#target;
    const { address, port } = destinationOf(this.virtual?.destination ?? '') ?? { address: '', port: 0 };
    return {
      client_addr: this.client.address,
      client_port: String(this.client.port),
      local_addr: address,
      local_port: String(port),
      virtual: this.#path,
      protocol: this.virtual?.ipProtocol === 'udp' ? '17' : '6',
      ...(this.client.sni === undefined ? {} : { sni: this.client.sni }),
      ...(server ? { server_addr: server.address, server_port: String(server.port) } : {}),
      ...(server?.pool ? { pool: server.pool.fullPath } : {}),
    };
  }

  #apply({ verb, args }: Effect, verdict: Verdict): void {
    const [first = '', second = '', third = ''] = args;
    switch (verb) {
      case 'pool':
        this.#choice = { ...this.#choice, pool: first };
        delete this.#choice.node;
        delete this.#choice.member;
        return;
      case 'member':
        this.#choice = { ...this.#choice, pool: first, member: { address: second, port: Number(third) } };
        delete this.#choice.node;
        return;
      case 'node':
        this.#choice = {
          ...this.#choice,
          node: { address: first, port: Number(second || this.#facts()['local_port']) },
        };
        return;
      case 'persist':
        this.#choice = { ...this.#choice, persist: { method: first, key: second, timeout: Number(third) || 180 } };
        return;
      case 'virtual':
        return this.#borrow(first, verdict);
      case 'log':
        this.#parts.log(`Rule ${this.#path}: ${first}`);
        return;
      case 'error':
        this.#parts.log(`TCL error: ${first}`);
        verdict.end = 'reset';
        return;
      default:
        applyToVerdict({ verb, args }, verdict);
    }
  }

  /** `virtual NAME`: the traffic goes where that virtual server would send it by its own pool. */
  #borrow(name: string, verdict: Verdict): void {
    const other = pathsOf(this.#path, name).flatMap((path) => this.#parts.configuration.get('virtual', path) ?? [])[0];
    if (other?.pool !== undefined) return this.#apply({ verb: 'pool', args: [other.pool] }, verdict);
    this.#apply(
      { verb: 'error', args: [`${this.#path} - virtual ${name}: no such virtual server with a pool`] },
      verdict,
    );
  }

  #present(pool: Pool): Target | undefined {
    const target = this.#target;
    if (!target?.member || target.pool?.fullPath !== pool.fullPath || this.#choice.member) return undefined;
    return pool.members.some(({ fullPath }) => fullPath === target.member?.fullPath) ? target : undefined;
  }

  #wantedMember(pool: Pool): Member | undefined {
    const wanted = this.#choice.member;
    if (!wanted) return undefined;
    const found = pool.members.find(
      (one) => one.address === wanted.address && (!wanted.port || one.port === wanted.port),
    );
    return found && this.#parts.members.takes(pool, found, true) ? found : undefined;
  }

  #persisted(pool: Pool, cookieHeader: string | undefined): Member | undefined {
    for (const profile of this.#profiles()) {
      const found = this.#recalled(profile, pool, cookieHeader);
      if (found && this.#parts.members.takes(pool, found, true)) return found;
    }
    return undefined;
  }

  #recalled(profile: Persistence, pool: Pool, cookieHeader: string | undefined): Member | undefined {
    if (profile.type === 'cookie') {
      const value = cookieOf(cookieHeader, cookieName(profile, pool));
      return value === undefined ? undefined : pool.members.find((member) => cookieValue(member) === value);
    }
    const member = this.#parts.persistence.find(this.#key(profile, pool), profile.timeout);
    return pool.members.find(({ fullPath }) => fullPath === member);
  }

  #targetOf(pool: Pool, member: Member, cookieHeader: string | undefined): Target {
    const target: Target = {
      place: this.#parts.reach(member.address, member.port),
      address: member.address,
      port: member.port,
      pool,
      member,
    };
    for (const profile of this.#profiles()) {
      if (profile.type !== 'cookie')
        this.#parts.persistence.put(this.#key(profile, pool), member.fullPath, profile.timeout);
      else {
        const cookie = { name: cookieName(profile, pool), value: cookieValue(member) };
        if (profile.alwaysSend || cookieOf(cookieHeader, cookie.name) !== cookie.value) target.cookie = cookie;
      }
    }
    return target;
  }

  /** The persistence that holds now: that of a rule, else the virtual server's first, then its fallback. */
  #profiles(): Persistence[] {
    const virtual = this.virtual;
    const { persist } = this.#choice;
    if (persist?.method === 'none' || !virtual) return [];
    const named = (path: string | undefined): Persistence | undefined =>
      path === undefined ? undefined : this.#parts.configuration.get('persistence', path);
    if (persist) {
      const like = named(persist.method === 'cookie' ? '/Common/cookie' : '/Common/source_addr');
      return like ? [{ ...like, timeout: persist.timeout }] : [];
    }
    return [named(virtual.persist[0]), named(virtual.fallbackPersistence)].filter((profile) => profile !== undefined);
  }

  #key(profile: Persistence, pool: Pool): string {
    const uie = this.#choice.persist?.method === 'uie' ? this.#choice.persist.key : undefined;
    const address =
      profile.type === 'dest-addr' ? destinationAddress(this.virtual?.destination ?? '') : this.client.address;
    return `${this.#path} ${pool.fullPath} ${uie ?? maskedAddress(address, profile.mask)}`;
  }
}

function applyToVerdict({ verb, args }: Effect, verdict: Verdict): void {
  if (verb === 'reject') verdict.end = 'reset';
  else if (verb === 'drop') verdict.end = 'drop';
  else if (verb === 'respond') verdict.respond = args;
  else if (verb === 'close') verdict.close = true;
  else verdict.edits.push({ verb, args });
}
