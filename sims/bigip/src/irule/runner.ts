// iRules without a device: load some on an imaginary virtual server, send it requests, see what they choose.

import { RuleEngine, type Effect, type EngineOptions, type Records, type RulePoolMember } from './engine.ts';

export interface RunnerRule {
  /** Full path such as `/T/A/rule`: names inside are looked up in its folder. */
  name: string;
  text: string;
}

/** A pool by full path. Without members it is taken to have one live member. */
export interface RunnerPool {
  name: string;
  members?: readonly RulePoolMember[];
}

export interface RunnerEnvironment {
  pools: readonly (string | RunnerPool)[];
  dataGroups?: readonly ({ name: string } & Records)[];
}

export interface RunnerError {
  rule: string;
  line: number;
  message: string;
}

export interface RunnerRequest {
  clientAddress: string;
  clientPort?: number;
  localAddress?: string;
  port?: number;
  method?: string;
  uri?: string;
  version?: string;
  headers?: readonly (readonly [string, string])[];
  /** Requests of one name share a client connection, with its variables; each is on its own when absent. */
  connection?: string;
}

export interface RunnerOutcome {
  /** The pool that counts: the last one chosen. */
  pool?: string;
  /** Every pool chosen, in order. */
  chosen: string[];
  response?: { status: number; headers: [string, string][]; content: string };
  log: string[];
  error?: string;
  effects: Effect[];
}

export interface TclRunner {
  /** Replaces what was loaded before. With errors nothing is attached. */
  load(
    rules: readonly RunnerRule[],
    environment: RunnerEnvironment,
  ): Promise<{ errors: RunnerError[]; warnings: string[] }>;
  run(event: string, request: RunnerRequest): Promise<RunnerOutcome>;
  close(): Promise<void>;
}

const set = 'runner';

export function tclRunner(options: EngineOptions = {}): TclRunner {
  const engine = new RuleEngine(options);
  let loaded: RunnerEnvironment = { pools: [] };
  let serial = 0;
  return {
    async load(rules, environment) {
      dropEnvironment(engine, loaded);
      loaded = environment;
      putEnvironment(engine, environment);
      const errors: RunnerError[] = [];
      const warnings: string[] = [];
      for (const rule of rules) {
        const reading = await engine.define(rule.name, rule.text);
        if (reading.ok) {
          warnings.push(...reading.facts.warnings.map((text) => `${rule.name}: ${text}`));
          errors.push(...missing(rule, reading.facts.references, environment));
        } else errors.push({ rule: rule.name, ...reading.fault });
      }
      engine.detach(set);
      if (errors.length === 0)
        await engine.attach(
          set,
          rules.map(({ name, text }) => ({ path: name, text })),
        );
      engine.keep(new Set());
      return { errors, warnings };
    },
    async run(event, request) {
      serial += 1;
      const connection = request.connection ?? `one-${serial}`;
      const effects = await engine.fire({
        set,
        connection,
        name: event,
        facts: factsOf(request),
        headers: request.headers ?? [],
      });
      if (request.connection === undefined) engine.forget(connection);
      return outcomeOf(effects);
    },
    close: () => engine.close(),
  };
}

function factsOf(request: RunnerRequest): Record<string, string> {
  return {
    client_addr: request.clientAddress,
    client_port: String(request.clientPort ?? 40000),
    local_addr: request.localAddress ?? '192.0.2.1',
    local_port: String(request.port ?? 80),
    virtual: '/Common/runner',
    protocol: '6',
    method: request.method ?? 'GET',
    uri: request.uri ?? '/',
    version: request.version ?? '1.1',
  };
}

function outcomeOf(effects: Effect[]): RunnerOutcome {
  const of = (verb: string): Effect[] => effects.filter((effect) => effect.verb === verb);
  const chosen = effects.filter(({ verb }) => verb === 'pool' || verb === 'member').map(({ args }) => args[0] ?? '');
  const pool = chosen.at(-1);
  const respond = of('respond')[0];
  const error = of('error')[0]?.args[0];
  return {
    ...(pool === undefined ? {} : { pool }),
    chosen,
    ...(respond ? { response: responseOf(respond.args) } : {}),
    log: of('log').map(({ args }) => args[0] ?? ''),
    ...(error === undefined ? {} : { error }),
    effects,
  };
}

/** The answer that a `respond` effect asks for. */
export function responseOf(args: string[]): { status: number; headers: [string, string][]; content: string } {
  const [status, content, ...rest] = args;
  const headers: [string, string][] = [];
  for (let i = 0; i + 1 < rest.length; i += 2) headers.push([rest[i] ?? '', rest[i + 1] ?? '']);
  return { status: Number(status), headers, content: content ?? '' };
}

function missing(
  rule: RunnerRule,
  references: readonly { kind: string; name: string; line: number; command: string }[],
  environment: RunnerEnvironment,
): RunnerError[] {
  const pools = environment.pools.map((pool) => (typeof pool === 'string' ? pool : pool.name));
  const groups = (environment.dataGroups ?? []).map((group) => group.name);
  return references.flatMap(({ kind, name, line, command }) => {
    const known = kind === 'pool' ? pools : groups;
    if (pathsOf(rule.name, name).some((path) => known.includes(path))) return [];
    return [{ rule: rule.name, line, message: missingText(kind, name, line, command) }];
  });
}

/** Where a name in the rule at `rule` may be found: absolute, in the rule's folder, in /Common. */
export function pathsOf(rule: string, name: string): string[] {
  if (name.startsWith('/')) return [name];
  return [`${rule.slice(0, rule.lastIndexOf('/') + 1)}${name}`, `/Common/${name}`];
}

export function missingText(kind: string, name: string, line: number, command: string): string {
  return `Unable to find ${kind === 'pool' ? 'pool' : 'value_list'} (${name}) referenced at line ${line}: [${command}]`;
}

function putEnvironment(engine: RuleEngine, environment: RunnerEnvironment): void {
  for (const pool of environment.pools) {
    const name = typeof pool === 'string' ? pool : pool.name;
    const members = typeof pool === 'string' ? undefined : pool.members;
    engine.pool(name, members ?? [{ address: '192.0.2.10', port: 80, up: true }]);
  }
  for (const group of environment.dataGroups ?? []) engine.dataGroup(group.name, group);
}

function dropEnvironment(engine: RuleEngine, environment: RunnerEnvironment): void {
  for (const pool of environment.pools) engine.dropPool(typeof pool === 'string' ? pool : pool.name);
  for (const group of environment.dataGroups ?? []) engine.dropDataGroup(group.name);
}
