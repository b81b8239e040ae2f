// `npm run bench` lists the benchmarks; `npm run bench -- NAME [--json FILE]` runs one and prints its figures beside their goals.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import type { Benchmark, Figure } from './figure.ts';
import { apiserver } from './apiserver.ts';
import { crash } from './crash.ts';
import { path } from './path.ts';
import { tickets } from './tickets.ts';

const benchmarks: Record<string, Benchmark> = { apiserver, crash, path, tickets };

const args = process.argv.slice(2);
const at = args.indexOf('--json');
const json = at < 0 ? undefined : args.splice(at, 2)[1];
const [name] = args;

if (name === undefined) {
  process.stdout.write(
    `${Object.values(benchmarks)
      .map((b) => `${b.name.padEnd(12)} ${b.about}`)
      .join('\n')}\n\nnpm run bench -- NAME [--json FILE]\n`,
  );
} else {
  const benchmark = benchmarks[name];
  if (!benchmark) {
    process.stderr.write(`no benchmark ${name}; there are: ${Object.keys(benchmarks).join(', ')}\n`);
    process.exit(2);
  }
  const figures = await benchmark.run((text) => process.stderr.write(`${text}\n`));
  process.stdout.write(`${table(figures)}\n`);
  if (json !== undefined)
    writeFileSync(json, `${JSON.stringify({ name, machine: machine(), versions: versions(), figures }, null, 2)}\n`);
}

function table(figures: Record<string, Figure>): string {
  const rows = Object.entries(figures).map(([key, f]) => [
    key,
    number(f.median),
    number(f.p99),
    f.unit,
    goal(f),
    f.peer ?? '',
  ]);
  const all = [['figure', 'median', 'p99', 'unit', 'goal (of p99)', 'peer'], ...rows];
  const widths = all[0]?.map((_, i) => Math.max(...all.map((row) => row[i]?.length ?? 0))) ?? [];
  return all
    .map((row) =>
      row
        .map((cell, i) => cell.padEnd(widths[i] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

function goal(figure: Figure): string {
  if (!figure.goal) return '';
  const { max, min } = figure.goal;
  const value = figure.p99 ?? figure.median ?? Number.NaN;
  const held = max !== undefined ? value <= max : value >= (min ?? 0);
  return `${max !== undefined ? `≤ ${max}` : `≥ ${min}`} ${held ? 'held' : 'MISSED'}`;
}

function number(value: number | undefined): string {
  return value === undefined ? '' : value >= 100 ? value.toFixed(0) : value.toPrecision(3);
}

function machine(): string {
  return `${cpus().length} × ${cpus()[0]?.model.trim() ?? 'unknown'}, ${Math.round(totalmem() / 2 ** 30)} GiB, ${process.platform} ${process.arch}`;
}

function versions(): Record<string, string> {
  const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
    version: string;
  };
  const commit = execFileSync('git', ['describe', '--always', '--dirty'], { encoding: 'utf8' }).trim();
  return { fairlead: version, commit, node: process.version };
}
