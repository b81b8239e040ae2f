// The device's iRules in the interpreter: which rules there are, which virtual server has which, and what an event makes them do.

import { tclList } from './line.ts';
import { Tclsh } from './tclsh.ts';

/** What the reader of rules learnt of one: enough to say whether a virtual server may carry it. */
export interface RuleFacts {
  events: string[];
  warnings: string[];
  /** Literal pools and data-groups, by name as written. */
  references: { kind: 'pool' | 'data-group'; name: string; line: number; command: string }[];
}

/** Why the device would not load a rule. */
export interface RuleFault {
  line: number;
  message: string;
}

export type RuleReading = { ok: true; key: string; facts: RuleFacts } | { ok: false; fault: RuleFault };

/** Something a rule wants done: `pool`, `respond`, `header-insert`, `reject`, `log`, `error` ... */
export interface Effect {
  verb: string;
  args: string[];
}

export interface Event {
  /** The virtual server whose rules run. */
  set: string;
  connection: string;
  name: string;
  facts: Record<string, string>;
  headers: readonly (readonly [string, string])[];
}

export interface Records {
  type: 'string' | 'integer' | 'ip';
  records: readonly { name: string; data: string }[];
}

export interface EngineOptions {
  command?: string | undefined;
  /** Longest run of one event's rules, ms. */
  limit?: number | undefined;
}

/** A member of a pool as `active_members` sees it. */
export interface RulePoolMember {
  address: string;
  port: number;
  up: boolean;
}

export class RuleEngine {
  #tclsh: Tclsh;
  #rules = new Map<string, { path: string; text: string; reading: Promise<RuleReading>; isLoaded: boolean }>();
  #sets = new Map<string, { keys: readonly string[]; events: Set<string> }>();
  #pools = new Map<string, string>();
  #groups = new Map<string, string>();

  constructor(options: EngineOptions = {}) {
    this.#tclsh = new Tclsh({
      ...(options.command === undefined ? {} : { command: options.command }),
      limit: options.limit ?? 1000,
      restore: () => this.#restore(),
    });
  }

  get restarts(): number {
    return this.#tclsh.restarts;
  }

  /** Reads a rule as the device does on saving it. The same text is read once. */
  define(path: string, text: string): Promise<RuleReading> {
    const key = `${path}\n${text}`;
    const known = this.#rules.get(key);
    if (known) return known.reading;
    const reading = this.#tclsh.ask(tclList(['define', key, path, text])).then((words) => readFacts(key, words));
    const rule = { path, text, reading, isLoaded: false };
    this.#rules.set(key, rule);
    const settle = (isLoaded: boolean): void => {
      if (isLoaded) rule.isLoaded = true;
      else this.#rules.delete(key);
    };
    reading.then(
      (answer) => settle(answer.ok),
      () => settle(false),
    );
    return reading;
  }

  /** Gives a virtual server its rules, in its own order. */
  async attach(set: string, rules: readonly { path: string; text: string }[]): Promise<void> {
    const readings = await Promise.all(rules.map((rule) => this.define(rule.path, rule.text)));
    const events = new Set<string>();
    const keys: string[] = [];
    for (const reading of readings) {
      if (!reading.ok) throw new Error(`bug: a rule with a fault was attached: ${reading.fault.message}`);
      keys.push(reading.key);
      for (const event of reading.facts.events) events.add(event);
    }
    if (this.#sets.get(set)?.keys.join('\0') === keys.join('\0')) return;
    this.#sets.set(set, { keys, events });
    this.#tclsh.tell(tclList(['attach', set, ...keys]));
  }

  detach(set: string): void {
    if (this.#sets.delete(set)) this.#tclsh.tell(tclList(['detach', set]));
  }

  /** Whether any rule of the virtual server listens to the event; if not, there is nothing to ask. */
  listens(set: string, event: string): boolean {
    return this.#sets.get(set)?.events.has(event) ?? false;
  }

  pool(path: string, members: readonly RulePoolMember[]): void {
    const line = tclList([
      'pool',
      path,
      tclList(members.flatMap((m) => [m.address, String(m.port), m.up ? '1' : '0'])),
    ]);
    if (this.#pools.get(path) === line) return;
    this.#pools.set(path, line);
    this.#tclsh.tell(line);
  }

  dropPool(path: string): void {
    if (this.#pools.delete(path)) this.#tclsh.tell(tclList(['unpool', path]));
  }

  dataGroup(path: string, group: Records): void {
    const line = tclList(['class', path, group.type, tclList(group.records.flatMap((r) => [r.name, r.data]))]);
    if (this.#groups.get(path) === line) return;
    this.#groups.set(path, line);
    this.#tclsh.tell(line);
  }

  dropDataGroup(path: string): void {
    if (this.#groups.delete(path)) this.#tclsh.tell(tclList(['unclass', path]));
  }

  /** Runs the rules of one event. A rule that fails, loops or kills the interpreter is an `error` effect. */
  async fire(event: Event): Promise<Effect[]> {
    const facts = tclList(Object.entries(event.facts).flat());
    const headers = tclList(event.headers.flat());
    const line = tclList(['fire', event.set, event.connection, event.name, facts, headers]);
    return readEffects(await this.#tclsh.ask(line).catch((error: Error) => ['error', '1', error.message]));
  }

  /** A connection has ended, and its variables with it. */
  forget(connection: string): void {
    this.#tclsh.tell(tclList(['forget', connection]));
  }

  /** Drops rules that no virtual server and no object holds any longer. */
  keep(held: ReadonlySet<string>): void {
    const attached = new Set([...this.#sets.values()].flatMap((set) => [...set.keys]));
    for (const key of this.#rules.keys()) {
      if (held.has(key) || attached.has(key)) continue;
      this.#rules.delete(key);
      this.#tclsh.tell(tclList(['undefine', key]));
    }
  }

  close(): Promise<void> {
    return this.#tclsh.close();
  }

  #restore(): string[] {
    const sets = [...this.#sets].map(([set, { keys }]) => tclList(['attach', set, ...keys]));
    // One still being read is asked again, and must not be here: it may be what ended the interpreter.
    const loaded = [...this.#rules].filter(([, rule]) => rule.isLoaded);
    const rules = loaded.map(([key, { path, text }]) => tclList(['restore', key, path, text]));
    return [...this.#pools.values(), ...this.#groups.values(), ...rules, ...sets];
  }
}

function readFacts(key: string, words: string[]): RuleReading {
  const [word, ...rest] = words;
  if (word === 'fault') return { ok: false, fault: { line: Number(rest[0]), message: rest[1] ?? '' } };
  if (word !== 'ok') throw new Error(`bug: the reader of iRules failed: ${rest.join(' ')}`);
  const take = (): string[] => rest.splice(0, Number(rest.shift()));
  const events = take();
  const warnings = take();
  const references: RuleFacts['references'] = [];
  for (let i = 0; i + 3 < rest.length; i += 4) {
    const kind = rest[i] === 'pool' ? 'pool' : 'data-group';
    references.push({ kind, name: rest[i + 1] ?? '', line: Number(rest[i + 2]), command: rest[i + 3] ?? '' });
  }
  return { ok: true, key, facts: { events, warnings, references } };
}

function readEffects(words: string[]): Effect[] {
  const effects: Effect[] = [];
  for (let i = 0; i + 1 < words.length;) {
    const count = Number(words[i + 1]);
    effects.push({ verb: words[i] ?? '', args: words.slice(i + 2, i + 2 + count) });
    i += 2 + count;
  }
  return effects;
}
