// The tclsh co-process: starts it, keeps questions and answers in order, and starts it anew when a rule hangs or kills it.

import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { readAnswer } from './line.ts';

/** A question waiting for its answer. `lost` is called when the interpreter died on it. */
interface Waiting {
  line: string;
  answer(words: string[]): void;
  lost(reason: string): void;
}

export interface TclshOptions {
  /** What to run; `tclsh` of the PATH when absent. */
  command?: string;
  /** Longest run of one event's rules in ms, held inside Tcl. */
  limit: number;
  /** Lines that rebuild what the interpreter knew, for one started anew. */
  restore(): string[];
}

/*
 *            ask/tell               answers in order
 *   idle ──────────────▶ running ──────────────────▶ running
 *                          │ ▲
 *       a question is too  │ │ next question: started anew, `restore` first
 *       old, or it died    ▼ │
 *                        ended        the oldest question is lost, the younger ones are asked again
 */
export class Tclsh {
  #options: TclshOptions;
  #child: ChildProcessWithoutNullStreams | undefined;
  #waiting: Waiting[] = [];
  #outbox: string[] = [];
  #flushing = false;
  #watch: NodeJS.Timeout | undefined;
  #closed = false;
  restarts = 0;

  constructor(options: TclshOptions) {
    this.#options = options;
  }

  /** Sends a line that has no answer. */
  tell(line: string): void {
    // One that is not running learns everything from `restore` when it starts.
    if (this.#child) this.#send(line);
  }

  /** Sends a line and waits for its answer. Rejects when the interpreter died on it. */
  ask(line: string): Promise<string[]> {
    if (this.#closed) return Promise.reject(new Error('the iRule interpreter is closed'));
    return new Promise((answer, fail) => {
      this.#start();
      this.#waiting.push({ line, answer, lost: (reason) => fail(new Error(reason)) });
      this.#send(line);
      if (this.#waiting.length === 1) this.#guard();
    });
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#watch);
    const child = this.#child;
    this.#child = undefined;
    const gone = child && new Promise((resolve) => child.once('close', resolve));
    child?.kill('SIGKILL');
    for (const waiting of this.#waiting.splice(0)) waiting.lost('the iRule interpreter was closed');
    await gone;
  }

  #send(line: string): void {
    this.#outbox.push(line);
    if (this.#flushing) return;
    this.#flushing = true;
    // One write for everything asked in this round of the event loop.
    setImmediate(() => {
      this.#flushing = false;
      const lines = this.#outbox.splice(0);
      if (lines.length > 0 && this.#child?.stdin.writable) this.#child.stdin.write(`${lines.join('\n')}\n`);
    });
  }

  #start(): void {
    if (this.#child) return;
    const script = fileURLToPath(new URL('./tcl/device.tcl', import.meta.url));
    const command = this.#options.command ?? 'tclsh';
    // The limit on memory keeps a rule such as `string repeat x 1000000000000` from taking the machine.
    const child = spawn('/bin/sh', [
      '-c',
      'ulimit -v 1500000; exec "$0" "$@"',
      command,
      script,
      String(this.#options.limit),
    ]);
    this.#child = child;
    let rest = '';
    let complaint = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      const lines = (rest + text).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) this.#receive(line);
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => (complaint = (complaint + text).slice(0, 2000)));
    child.stdin.on('error', (error) => (complaint += error.message));
    child.on('error', (error) => (complaint += error.message));
    child.on('close', (code) => this.#ended(child, code, complaint));
    this.#outbox = this.#options.restore();
  }

  #receive(line: string): void {
    const waiting = this.#waiting.shift();
    this.#guard();
    waiting?.answer(readAnswer(line));
  }

  /** A single Tcl command (a regular expression, say) is deaf to Tcl's own limit; then only an end helps. */
  #guard(): void {
    clearTimeout(this.#watch);
    if (this.#waiting.length === 0) return;
    this.#watch = setTimeout(() => this.#child?.kill('SIGKILL'), this.#options.limit * 2 + 3000);
  }

  #ended(child: ChildProcessWithoutNullStreams, code: number | null, complaint: string): void {
    if (this.#child !== child) return;
    this.#child = undefined;
    clearTimeout(this.#watch);
    this.restarts += 1;
    if (code === 127 || code === 126) {
      const reason = `iRules need the Tcl interpreter ${this.#options.command ?? 'tclsh'}, which is not here: apt-get install tcl`;
      for (const waiting of this.#waiting.splice(0)) waiting.lost(reason);
      return;
    }
    this.#waiting.shift()?.lost(`the iRule interpreter ended on it (${complaint.trim() || 'killed: it ran too long'})`);
    const again = this.#waiting;
    if (again.length === 0) return;
    this.#start();
    for (const waiting of again) this.#send(waiting.line);
    this.#guard();
  }
}
