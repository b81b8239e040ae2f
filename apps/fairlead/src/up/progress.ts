// Progress of `fairlead up`, one line a step, with the seconds since it began.
import type { Clock } from '@fairlead/core';

export interface Progress {
  /** A step that is done. */
  done(text: string): void;
  /** A step that is wanting; `text` says what to do. */
  wrong(text: string): void;
  /** Plain lines below a step. */
  note(text: string): void;
  seconds(): number;
}

/** `colour`: is the output a terminal that shows colours? */
export function progress(write: (text: string) => void, clock: Clock, colour: boolean): Progress {
  const begin = clock.now();
  const seconds = () => (clock.now() - begin) / 1000;
  const paint = (code: number, text: string) => (colour ? `\u001b[${code}m${text}\u001b[0m` : text);
  const stamp = () => paint(2, `${seconds().toFixed(1).padStart(6)}s`);
  return {
    done: (text) => write(`${stamp()}  ${paint(32, '✓')} ${text}\n`),
    wrong: (text) => write(`${stamp()}  ${paint(31, '✗')} ${text}\n`),
    note: (text) => write(`         ${text}\n`),
    seconds,
  };
}
