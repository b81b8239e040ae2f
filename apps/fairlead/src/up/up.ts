// `fairlead up`: starts an environment, applies the quickstart, waits until it carries traffic, measures, and tells.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { untilAborted } from '@fairlead/core';
import { systemClock } from '../clock.ts';
import { untilSignal } from '../signals.ts';
import { dataDir } from './data-dir.ts';
import { declared } from './device-view.ts';
import { managementName, startEnvironment, type Environment } from './environment.ts';
import { progress, type Progress } from './progress.ts';
import { applyQuickstart, namesOf } from './quickstart.ts';
import { measureQuickstart } from './requests.ts';
import { summaryLines, type Summary } from './summary.ts';
import { untilCarried } from './wait.ts';

export interface UpOptions {
  once: boolean;
  out?: string;
  dataDir: string;
  ephemeral: boolean;
  requests: number;
  map: string[];
}

export async function up(options: UpOptions): Promise<number> {
  const told = progress((text) => process.stdout.write(text), systemClock, process.stdout.isTTY === true);
  const ending = untilSignal();
  const dir = dataDir(options.dataDir, options.ephemeral);
  let environment: Environment | undefined;
  try {
    environment = await startEnvironment({ dir, map: options.map, progress: told });
    const summary = await Promise.race([
      runQuickstart(environment, options, told),
      untilAborted(ending.signal),
      environment.failed,
    ]);
    if (!summary) return 130;
    for (const line of summaryLines(summary)) told.note(line);
    if (options.out !== undefined) await writeOut(options.out, summary, environment);
    if (summary.ok) told.done(`all of it held, ${summary.seconds.toFixed(1)} s after the start`);
    else told.wrong('not all of it held; see the lines above, and the log');
    if (options.once) return summary.ok ? 0 : 1;
    told.note('running until Ctrl-C');
    await Promise.race([untilAborted(ending.signal), environment.failed]);
    return 0;
  } catch (error) {
    told.wrong(error instanceof Error ? error.message : String(error));
    if (process.env['FAIRLEAD_DEBUG']) process.stderr.write(`${error instanceof Error ? error.stack : ''}\n`);
    return 1;
  } finally {
    await environment?.close();
    dir.close();
    ending.close();
  }
}

async function runQuickstart(environment: Environment, options: UpOptions, told: Progress): Promise<Summary> {
  const applied = await applyQuickstart(environment, told);
  const failures = await untilCarried({ environment, applied }, told);
  const measured = await measureQuickstart(environment, options.requests);
  for (const where of measured.bound) told.done(where);
  const found = { ...measured, failures: [...failures, ...measured.failures] };
  return summaryOf(
    environment,
    { seconds: told.seconds(), names: namesOf(applied, managementName, 'Lbticket') },
    found,
  );
}

function summaryOf(
  { devices, stores, urls }: Environment,
  { seconds, names }: { seconds: number; names: ReadonlySet<string> },
  measured: Awaited<ReturnType<typeof measureQuickstart>>,
): Summary {
  const own = [...stores.lbtickets.all()].filter(({ metadata }) => names.has(metadata.name));
  const tickets = own.map(({ metadata, spec, status }) => ({
    name: metadata.name,
    process: status?.process ?? '',
    veip: status?.veip ?? spec.veip ?? '',
    ltmip: status?.ltmip ?? spec.ltmip ?? '',
  }));
  const { outside, inside, tcp, failures } = measured;
  const { declarations, memberWrites } = devices.ve.sim.counters;
  return {
    ok: failures.length === 0,
    seconds,
    tickets,
    split: { outside, inside },
    tcp: { ok: tcp },
    device: { declarations, memberWrites },
    urls: { ...urls, ...measured.urls },
    failures,
  };
}

/** `summary.json`, the AS3 body accepted last of each tenant, and the text of each iRule. */
async function writeOut(folder: string, summary: Summary, { devices }: Environment): Promise<void> {
  for (const name of ['declarations', 'irules']) mkdirSync(join(folder, name), { recursive: true });
  writeFileSync(join(folder, 'summary.json'), `${JSON.stringify(summary, null, 2)}\n`);
  for (const tenant of Object.keys(devices.ve.sim.tenants)) {
    const body = await declared(devices.ve.sim, tenant);
    writeFileSync(join(folder, 'declarations', `${tenant}.json`), `${JSON.stringify(body, null, 2)}\n`);
    for (const [name, text] of irulesOf(body)) writeFileSync(join(folder, 'irules', `${name}.tcl`), text);
  }
}

/** Every iRule in a declaration, whatever its depth, by name. */
function irulesOf(body: unknown, name = ''): [string, string][] {
  if (typeof body !== 'object' || body === null) return [];
  const { class: kind, iRule } = body as { class?: unknown; iRule?: unknown };
  if (kind === 'iRule' && typeof iRule === 'string') return [[name, iRule]];
  return Object.entries(body).flatMap(([key, value]) => irulesOf(value, key));
}
