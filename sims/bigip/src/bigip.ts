// A BIG-IP that behaves: its REST and AS3 as a function or behind a port, and a data plane that carries real traffic.

import { As3 } from './as3/endpoint.ts';
import { current, type Slowness } from './as3/deploy.ts';
import { tenantsOf } from './as3/validate.ts';
import { Auth } from './auth.ts';
import { realClock, type Clock } from './clock.ts';
import { Device, type Saved } from './device.ts';
import { Faults, meetFault, type Fault } from './faults.ts';
import { RuleEngine } from './irule/engine.ts';
import { loopback, type Bind, type Place } from './plane/bind.ts';
import type { MemberStatus } from './plane/members.ts';
import type { VirtualStatus } from './plane/plane.ts';
import { listen, type RestPort } from './port.ts';
import { icontrol } from './rest/icontrol.ts';
import { notRegistered } from './rest/reply.ts';
import { Transactions } from './rest/transactions.ts';

export interface BigipOptions {
  /** User names and passwords; `admin`/`admin` when absent. */
  users?: Record<string, string>;
  clock?: Clock;
  /** Where a virtual address is bound on this machine; `loopback` when absent. */
  bind?: Bind;
  /** Where a pool member's address is reached; as it stands when absent. */
  reach?(address: string, port: number): Place;
  slowness?: Partial<Slowness>;
  /** Where the configuration survives a restart. */
  saved?: Saved;
  /** A further check of each ADC, such as the published JSON schema: errors as "path: why". */
  validate?(adc: unknown): string[];
  /** The Tcl interpreter, and the longest run of one event's rules in ms. */
  tcl?: { command?: string; limit?: number };
}

export interface Call {
  method: string;
  /** With its query. */
  path: string;
  status: number;
  /** When it was asked, ms since the epoch. */
  at: number;
  /** How long the answer took, ms. */
  took: number;
}

/** What has come to pass on the device since it started. */
export interface Counters {
  /** AS3 runs that every tenant came through. */
  declarations: number;
  /** Writes of pool members by iControl REST. */
  memberWrites: number;
  /** Virtual servers deleted and made anew. */
  recreated: number;
  /** Client connections reset by changes of the configuration. */
  connectionsReset: number;
  /** Times the rule interpreter had to be started anew. */
  interpreterRestarts: number;
}

export interface Bigip {
  readonly fetch: typeof fetch;
  /** Puts the REST front behind a port; port 0 takes a free one. */
  listen(at?: { host?: string; port?: number }): Promise<{ url: string }>;
  close(): Promise<void>;
  /** Resolves when a saved configuration is back and its ports are open. */
  readonly ready: Promise<void>;
  /** The tenants as declared, by name. */
  readonly tenants: Record<string, unknown>;
  /** The last ten thousand or so requests. */
  readonly calls: Call[];
  readonly counters: Counters;
  /** Costs of an AS3 run; may be changed at any time. */
  readonly slowness: Slowness;
  /** The device's log: what rules logged, errors, failed handshakes. The last thousand lines. */
  readonly log: string[];
  failNext(...faults: Fault[]): void;
  clearFaults(): void;
  virtuals(): VirtualStatus[];
  /** A member by pool path and `/partition/address:port` or `address:port`. */
  member(pool: string, name: string): MemberStatus | undefined;
  /** Resolves when `holds` does; it is looked at after each change of configuration or status. Rejects when closed. */
  until(holds: () => boolean): Promise<void>;
}

export function bigip(options: BigipOptions = {}): Bigip {
  return new Simulator(options);
}

interface Waiter {
  holds: () => boolean;
  done: () => void;
  fail: (error: Error) => void;
}

class Simulator implements Bigip {
  readonly calls: Call[] = [];
  readonly log: string[] = [];
  readonly slowness: Slowness;
  readonly ready: Promise<void>;
  readonly fetch: typeof fetch;
  #clock: Clock;
  #device: Device;
  #auth: Auth;
  #as3: As3;
  #faults: Faults;
  #transactions: Transactions;
  #declarations = 0;
  #memberWrites = 0;
  #ports: RestPort[] = [];
  #waiters = new Set<Waiter>();

  constructor(options: BigipOptions) {
    this.#clock = options.clock ?? realClock();
    this.slowness = { perRun: 0, perTenant: 0, perChange: 0, ...options.slowness };
    this.#device = this.#makeDevice(options);
    this.#auth = new Auth(options.users ?? { admin: 'admin' }, this.#clock);
    this.#faults = new Faults(this.#clock);
    this.#transactions = new Transactions(this.#device, this.#clock);
    const parts = { device: this.#device, clock: this.#clock, slowness: this.slowness, check: options.validate };
    this.#as3 = new As3({ ...parts, onAccepted: () => void (this.#declarations += 1) });
    this.fetch = (input, init) => this.#record(new Request(input, init));
    this.ready = this.#device.start();
    // Whoever asks learns of a failure; unasked, it must not end the process.
    this.ready.catch((error: unknown) => this.#note(`start: ${String(error)}`));
  }

  get tenants(): Record<string, unknown> {
    return Object.fromEntries(tenantsOf(current(this.#device)));
  }

  get counters(): Counters {
    const { recreated, connections } = this.#device.plane.lost;
    return {
      declarations: this.#declarations,
      memberWrites: this.#memberWrites,
      recreated,
      connectionsReset: connections,
      interpreterRestarts: this.#device.rules.restarts,
    };
  }

  async listen(at: { host?: string; port?: number } = {}): Promise<{ url: string }> {
    await this.ready;
    const port = await listen((request) => this.#record(request), { host: at.host ?? '127.0.0.1', port: at.port ?? 0 });
    this.#ports.push(port);
    return { url: port.url };
  }

  async close(): Promise<void> {
    await this.ready.catch(() => undefined);
    await Promise.all(this.#ports.splice(0).map((port) => port.close()));
    await this.#device.close();
    for (const waiter of this.#waiters) waiter.fail(new Error('the simulator was closed'));
    this.#waiters.clear();
  }

  failNext(...faults: Fault[]): void {
    this.#faults.add(...faults);
  }

  clearFaults(): void {
    this.#faults.clear();
  }

  virtuals(): VirtualStatus[] {
    return this.#device.plane.virtuals();
  }

  member(poolPath: string, name: string): MemberStatus | undefined {
    const pool = this.#device.configuration.get('pool', poolPath);
    const member = pool?.members.find((one) => one.fullPath === name || one.name === name);
    return pool && member ? this.#device.plane.members.status(pool, member) : undefined;
  }

  until(holds: () => boolean): Promise<void> {
    if (holds()) return Promise.resolve();
    return new Promise((done, fail) => this.#waiters.add({ holds, done, fail }));
  }

  #makeDevice(options: BigipOptions): Device {
    return new Device({
      rules: new RuleEngine(options.tcl),
      clock: this.#clock,
      bind: options.bind ?? loopback,
      reach: options.reach ?? ((host, port) => ({ host, port })),
      saved: options.saved,
      log: (text) => this.#note(text),
      onChange: () => this.#wake(),
    });
  }

  #note(text: string): void {
    this.log.push(`${new Date(this.#clock.now()).toISOString()} ${text}`);
    if (this.log.length > 1000) this.log.splice(0, this.log.length - 1000);
  }

  #wake(): void {
    for (const waiter of this.#waiters) {
      if (!waiter.holds()) continue;
      this.#waiters.delete(waiter);
      waiter.done();
    }
  }

  async #record(request: Request): Promise<Response> {
    await this.ready;
    const { pathname, search } = new URL(request.url);
    const call: Call = {
      method: request.method,
      path: `${pathname}${search}`,
      status: 0,
      at: this.#clock.now(),
      took: 0,
    };
    this.calls.push(call);
    if (this.calls.length > 10_000) this.calls.splice(0, 1000);
    try {
      const fault = this.#faults.meet(request);
      if (fault?.kind === 'half-applied') this.#as3.isHalfNext = true;
      const real = (): Promise<Response> => this.#answer(request);
      const response = fault ? await meetFault(fault, request, { clock: this.#clock, real }) : await real();
      call.status = response.status;
      return response;
    } finally {
      call.took = this.#clock.now() - call.at;
    }
  }

  async #answer(request: Request): Promise<Response> {
    const ofAuth = await this.#auth.answer(request);
    if (ofAuth) return ofAuth;
    const refused = this.#auth.refuse(request);
    if (refused) return refused;
    const { pathname } = new URL(request.url);
    if (pathname.startsWith('/mgmt/shared/appsvcs/')) return this.#as3.answer(request);
    if (!pathname.startsWith('/mgmt/tm/')) return notRegistered(request);
    const onMemberWrite = (): void => void (this.#memberWrites += 1);
    return icontrol({ device: this.#device, transactions: this.#transactions, onMemberWrite }, request);
  }
}
