// What the operating system says of a process.
import { readFileSync } from 'node:fs';

/** Ticks of the kernel's accounting a second, as Linux has it on every machine we know. */
const ticks = 100;

/** Seconds of CPU since it began, its own and the kernel's for it. */
export function cpuSeconds(pid: number): number {
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The name in brackets may hold anything; what follows it are numbers.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / ticks;
}

/** Resident memory in MB. */
export function residentMb(pid: number): number {
  const kb = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Number(kb) / 1024;
}
