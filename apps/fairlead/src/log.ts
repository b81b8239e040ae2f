// Lines for the operator: what cannot be told by the status of any object.
import { pino } from 'pino';

export interface Log {
  debug(line: string): void;
  /** `fields`: what programs read out of it. */
  info(line: string, fields?: Readonly<Record<string, unknown>>): void;
  warn(line: string): void;
  error(line: string): void;
  /** Something threw that must not: with its stack. */
  bug(error: unknown, where: string): void;
}

/** JSON lines to a file, or to standard output when `file` is absent. */
export function jsonLog(level: string, file?: string): Log {
  const log = pino(
    { level },
    pino.destination(file === undefined ? { dest: 1, sync: true } : { dest: file, sync: true, mkdir: true }),
  );
  return {
    debug: (line) => log.debug(line),
    info: (line, fields) => (fields ? log.info(fields, line) : log.info(line)),
    warn: (line) => log.warn(line),
    error: (line) => log.error(line),
    bug: (error, where) => log.error({ err: error }, `bug: ${where}`),
  };
}
