// The data plane: makes listeners, monitors and rules follow the configuration, change by change.

import type { Clock } from '../clock.ts';
import { nodePath } from '../configuration/check.ts';
import { destinationOf, type Pool, type Rule, type Virtual } from '../configuration/object.ts';
import type { Change, Configuration } from '../configuration/store.ts';
import type { RuleEngine } from '../irule/engine.ts';
import type { Bind, Place } from './bind.ts';
import { HttpCounts } from './http-counts.ts';
import { Listener, type ListenerParts } from './listener.ts';
import { Members } from './members.ts';
import { Monitors } from './monitors.ts';
import { PersistenceTable } from './persistence.ts';

export interface PlaneOptions {
  configuration: Configuration;
  rules: RuleEngine;
  clock: Clock;
  bind: Bind;
  reach(address: string, port: number): Place;
  log(text: string): void;
  /** Called when the status of a member or the set of ports has changed. */
  onChange(): void;
}

/** A virtual server as one would look for it from outside. */
export interface VirtualStatus {
  name: string;
  address: string;
  port: number;
  protocol: 'tcp' | 'udp';
  /** Where it is really bound; absent when it could not be. */
  bound?: Place;
  problem?: string;
  connections: number;
  accepted: number;
}

/** `kind path` of objects that were deleted and made anew under their name. */
export type Recreated = ReadonlySet<string>;

export class Plane {
  #options: PlaneOptions;
  #parts: ListenerParts;
  #listeners = new Map<string, Listener>();
  #monitors: Monitors;
  readonly members: Members;
  readonly http = new HttpCounts();
  /** Virtual servers deleted and created with connections lost, members removed with connections on them. */
  readonly lost = { recreated: 0, connections: 0 };

  constructor(options: PlaneOptions) {
    this.#options = options;
    const { configuration, clock, bind, reach, rules, log } = options;
    this.members = new Members(configuration);
    this.members.onStatus = (path) => {
      this.#tellPool(path);
      options.onChange();
    };
    this.#monitors = new Monitors({ configuration, clock, members: this.members, reach });
    const persistence = new PersistenceTable(clock);
    this.#parts = {
      configuration,
      rules,
      members: this.members,
      persistence,
      reach,
      log,
      clock,
      bind,
      http: this.http,
    };
  }

  virtuals(): VirtualStatus[] {
    return this.#options.configuration.list('virtual').map((virtual) => {
      const { address, port } = destinationOf(virtual.destination) ?? { address: virtual.destination, port: 0 };
      const listener = this.#listeners.get(virtual.fullPath);
      return {
        name: virtual.fullPath,
        address,
        port,
        protocol: virtual.ipProtocol,
        ...(listener?.place ? { bound: listener.place } : {}),
        ...(listener?.problem === undefined ? {} : { problem: listener.problem }),
        connections: listener?.connections ?? 0,
        accepted: listener?.accepted ?? 0,
      };
    });
  }

  /** Follows changes already made in the configuration. `recreated` names virtual servers and pools made anew. */
  async apply(changes: Change[], recreated: Recreated = new Set()): Promise<void> {
    for (const change of changes) this.#applyQuick(change, recreated);
    for (const pool of this.#monitored(changes)) this.#monitors.follow(pool);
    // Ports are freed before others take them.
    for (const change of changes)
      if (change.kind === 'virtual' && !this.#staysOpen(change)) await this.#close(change.path);
    await this.#attachRules(changes);
    for (const change of changes)
      if (change.kind === 'virtual' && change.after) await this.#open(change.after, recreated);
    this.#refreshTls(changes);
    this.#forgetRules(changes);
    if (changes.length > 0) this.#options.onChange();
  }

  async close(): Promise<void> {
    this.#monitors.close();
    await Promise.all([...this.#listeners.keys()].map((path) => this.#close(path)));
  }

  #applyQuick(change: Change, recreated: Recreated): void {
    const { rules } = this.#options;
    if (change.kind === 'pool') this.#applyPool(change, recreated.has(`pool ${change.path}`));
    if (change.kind === 'data-group') {
      if (change.after) rules.dataGroup(change.path, change.after);
      else rules.dropDataGroup(change.path);
    }
    // A node that comes or goes does so with its members, which tell for themselves.
    if (change.kind === 'node' && change.before && change.after) this.#applyNode(change.path);
  }

  #applyPool({ path, before, after }: { path: string; before?: Pool; after?: Pool }, isNew: boolean): void {
    const kept = new Set(isNew ? [] : after?.members.map((member) => member.fullPath));
    for (const member of before?.members ?? []) {
      if (!kept.has(member.fullPath)) this.lost.connections += this.members.remove(path, member);
    }
    if (isNew || !after) this.members.forget(path);
    if (after) {
      this.#monitors.follow(after, isNew);
      this.#tellPool(path);
    } else {
      this.#monitors.forget(path);
      this.#options.rules.dropPool(path);
    }
  }

  #applyNode(path: string): void {
    for (const pool of this.#options.configuration.list('pool')) {
      if (pool.members.some((member) => nodePath(member) === path)) this.#tellPool(pool.fullPath);
    }
  }

  /** What `active_members` sees. */
  #tellPool(path: string): void {
    const pool = this.#options.configuration.get('pool', path);
    if (!pool) return;
    const members = pool.members.map((member) => ({
      address: member.address,
      port: member.port,
      up: this.members.takes(pool, member),
    }));
    this.#options.rules.pool(path, members);
  }

  /** Pools whose monitors were edited: a change of theirs begins their watches anew. */
  #monitored(changes: Change[]): Pool[] {
    const edited = changes.filter((change) => change.kind === 'monitor').map((change) => change.path);
    if (edited.length === 0) return [];
    return this.#options.configuration
      .list('pool')
      .filter((pool) => edited.some((path) => pool.monitor?.includes(path)));
  }

  #staysOpen(change: Change & { kind: 'virtual' }): boolean {
    return (
      change.after !== undefined &&
      change.before?.destination === change.after.destination &&
      change.before.ipProtocol === change.after.ipProtocol
    );
  }

  async #open(virtual: Virtual, recreated: Recreated): Promise<void> {
    const known = this.#listeners.get(virtual.fullPath);
    if (recreated.has(`virtual ${virtual.fullPath}`)) {
      this.lost.recreated += 1;
      this.#parts.persistence.forget(virtual.fullPath);
      this.http.forget(virtual.fullPath);
      if (known) this.lost.connections += known.reset();
    }
    if (known) return known.follow(virtual);
    const listener = new Listener(this.#parts, virtual);
    this.#listeners.set(virtual.fullPath, listener);
    await listener.open();
  }

  async #close(path: string): Promise<void> {
    const listener = this.#listeners.get(path);
    this.#listeners.delete(path);
    this.http.forget(path);
    if (!listener) return;
    this.lost.connections += listener.connections;
    await listener.close();
    this.#options.rules.detach(path);
  }

  /** Each virtual server that is new or has an edited rule gets its rules as they are now. */
  async #attachRules(changes: Change[]): Promise<void> {
    const { configuration, rules } = this.#options;
    const edited = new Set(changes.filter((change) => change.kind === 'rule').map((change) => change.path));
    const touched = new Set(changes.filter((change) => change.kind === 'virtual').map((change) => change.path));
    if (edited.size === 0 && touched.size === 0) return;
    for (const virtual of configuration.list('virtual')) {
      if (!touched.has(virtual.fullPath) && !virtual.rules.some((path) => edited.has(path))) continue;
      const held = virtual.rules.flatMap((path) => configuration.get('rule', path) ?? []);
      await rules.attach(
        virtual.fullPath,
        held.map((rule) => ({ path: rule.fullPath, text: rule.text })),
      );
    }
  }

  #refreshTls(changes: Change[]): void {
    if (!changes.some(({ kind }) => kind === 'certificate' || kind === 'profile')) return;
    for (const virtual of this.#options.configuration.list('virtual'))
      this.#listeners.get(virtual.fullPath)?.follow(virtual);
  }

  #forgetRules(changes: Change[]): void {
    if (!changes.some(({ kind }) => kind === 'rule')) return;
    const key = (rule: Rule): string => `${rule.fullPath}\n${rule.text}`;
    this.#options.rules.keep(new Set(this.#options.configuration.list('rule').map(key)));
  }
}
