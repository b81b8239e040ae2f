// The device: its configuration, the one way to change it, and the data plane that follows.

import type { Clock } from './clock.ts';
import { addBuiltIns, isBuiltIn } from './configuration/built-in.ts';
import { addressPath, checkDraft, nodePath } from './configuration/check.ts';
import { identity, kinds, type Kind, type Objects } from './configuration/object.ts';
import { Configuration, type Change, type Draft } from './configuration/store.ts';
import type { RuleEngine } from './irule/engine.ts';
import { Plane, type PlaneOptions } from './plane/plane.ts';

/** Where the configuration is kept over a restart. */
export interface Saved {
  load(): string | undefined;
  save(text: string): void;
}

export interface DeviceOptions extends Omit<PlaneOptions, 'configuration' | 'clock'> {
  clock: Clock;
  saved?: Saved | undefined;
}

/** What AS3 keeps on the device beside the configuration: its declarations, the newest first, at most four. */
export type Declared = Record<string, unknown>[];

interface SavedText {
  generation: number;
  objects: { [K in Kind]?: Objects[K][] };
  declared: Declared;
}

/** Milliseconds from a change to its being saved: the whole configuration is written, so a burst is one write. */
const saveDelay = 250;

export class Device {
  readonly configuration = new Configuration();
  readonly plane: Plane;
  readonly rules: RuleEngine;
  declared: Declared = [];
  #saved: Saved | undefined;
  #clock: Clock;
  #turn: Promise<unknown> = Promise.resolve();
  #saving: Promise<void> | undefined;
  #isDirty = false;
  #closing = new AbortController();

  constructor(options: DeviceOptions) {
    this.rules = options.rules;
    this.#saved = options.saved;
    this.#clock = options.clock;
    this.plane = new Plane({ ...options, configuration: this.configuration });
  }

  /** Brings back what was saved and opens its ports. */
  async start(): Promise<void> {
    addBuiltIns(this.configuration);
    const text = this.#saved?.load();
    if (text !== undefined) {
      const saved = JSON.parse(text) as SavedText;
      this.configuration.load(saved);
      this.declared = saved.declared;
    }
    await this.plane.apply(this.#everything());
  }

  /** One change at a time. What `make` throws leaves everything as it was. */
  change<T>(make: (draft: Draft) => T | Promise<T>): Promise<T> {
    return this.exclusive(async () => {
      const draft = this.configuration.draft();
      const answer = await make(draft);
      await this.commit(draft);
      return answer;
    });
  }

  exclusive<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#turn.then(work);
    // The next in line runs whatever became of this one; its caller learns of the failure by `result`.
    this.#turn = result.then(
      () => undefined,
      () => undefined,
    );
    return result;
  }

  /** Completes and checks a draft without taking it. Throws a Refusal. */
  async check(draft: Draft): Promise<void> {
    complete(draft);
    await checkDraft(draft, this.rules);
  }

  /** Takes a draft, all or nothing, and waits until the data plane has followed. Only inside `exclusive`. */
  async commit(draft: Draft): Promise<Change[]> {
    await this.check(draft);
    const changes = this.configuration.take(draft);
    await this.plane.apply(changes, draft.recreated);
    if (changes.length > 0) this.save();
    return changes;
  }

  /** Soon, once for many changes: a device's own save also comes after the change. */
  save(): void {
    this.#isDirty = true;
    if (!this.#saved || this.#saving || this.#closing.signal.aborted) return;
    this.#saving = this.#saveSoon();
  }

  async #saveSoon(): Promise<void> {
    await this.#clock.sleep(saveDelay, this.#closing.signal);
    this.#saving = undefined;
    this.#writeNow();
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#turn;
    await this.#saving;
    this.#writeNow();
    await this.plane.close();
    await this.rules.close();
  }

  #writeNow(): void {
    if (!this.#saved || !this.#isDirty) return;
    this.#isDirty = false;
    this.#saved.save(JSON.stringify({ ...this.configuration.save(isBuiltIn), declared: this.declared }));
  }

  #everything(): Change[] {
    return kinds.flatMap((kind) =>
      this.configuration.list(kind).map((after) => ({ kind, path: after.fullPath, after }) as Change),
    );
  }
}

/** Adds what the device makes of itself: nodes for members, virtual addresses for virtual servers; and drops unused addresses. */
function complete(draft: Draft): void {
  const changes = draft.changes();
  for (const change of changes) {
    if (change.kind === 'pool')
      for (const member of change.after?.members ?? []) addNode(draft, nodePath(member), member.address);
    if (change.kind === 'virtual' && change.after) addAddress(draft, addressPath(change.after));
  }
  if (!changes.some(({ kind, before }) => kind === 'virtual' && before)) return;
  const used = new Set(draft.list('virtual').map(addressPath));
  for (const address of draft.list('virtual-address')) {
    if (address.autoDelete && !used.has(address.fullPath)) draft.delete('virtual-address', address.fullPath);
  }
}

function addNode(draft: Draft, path: string, address: string): void {
  if (draft.get('node', path)) return;
  draft.put('node', { ...identity(path), address, session: 'user-enabled', state: 'user-up' });
}

function addAddress(draft: Draft, path: string): void {
  if (draft.get('virtual-address', path)) return;
  const address = path.slice(path.lastIndexOf('/') + 1);
  draft.put('virtual-address', { ...identity(path), address, enabled: true, autoDelete: true });
}
