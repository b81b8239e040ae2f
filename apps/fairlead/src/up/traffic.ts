// Real requests through a virtual server, each from a client address of its own, counted by who answered.
import { request } from 'node:http';
import { connect } from 'node:net';

export interface Target {
  host: string;
  port: number;
}

export interface Answers {
  /** Answers by the Service that gave them, from the `x-service` header. */
  counts: Record<string, number>;
  /** What went wrong, each different sentence once, with how often. */
  wrong: Map<string, number>;
}

/** Requests under way at once: enough to keep a core busy, few enough for any limit of open files. */
const parallel = 64;

/**
 * The n-th client's own address in 127.64.0.0/10, of which any may be a local address on Linux.
 * Addresses that end in 0 or 255 are left out.
 */
export function clientAddress(n: number): string {
  const host = n % 254;
  const rest = Math.floor(n / 254);
  return `127.${64 + (Math.floor(rest / 256) % 64)}.${rest % 256}.${host + 1}`;
}

/** Sends `count` GET requests with the headers given, from the clients numbered `first` and up. */
export async function measure(
  target: Target,
  headers: Record<string, string>,
  first: number,
  count: number,
): Promise<Answers> {
  const answers: Answers = { counts: {}, wrong: new Map() };
  let next = first;
  const client = async () => {
    while (next < first + count) {
      const n = next++;
      const got = await get(target, headers, clientAddress(n));
      if ('service' in got) answers.counts[got.service] = (answers.counts[got.service] ?? 0) + 1;
      else answers.wrong.set(got.wrong, (answers.wrong.get(got.wrong) ?? 0) + 1);
    }
  };
  await Promise.all(Array.from({ length: parallel }, client));
  return answers;
}

/** One GET on a connection of its own. */
export function get(
  target: Target,
  headers: Record<string, string>,
  localAddress: string,
): Promise<{ service: string; pod: string } | { wrong: string }> {
  return new Promise((resolve) => {
    const sent = request({ ...target, headers, localAddress, agent: false, timeout: 10_000, path: '/' }, (response) => {
      response.resume();
      response.on('end', () => {
        const service = response.headers['x-service'];
        if (response.statusCode === 200 && typeof service === 'string')
          resolve({ service, pod: String(response.headers['x-pod']) });
        else resolve({ wrong: `HTTP ${response.statusCode}` });
      });
      response.on('error', (error) => resolve({ wrong: error.message }));
    });
    sent.on('timeout', () => sent.destroy(new Error('no answer within 10 s')));
    sent.on('error', (error: NodeJS.ErrnoException) => resolve({ wrong: error.code ?? error.message }));
    sent.end();
  });
}

/** Opens a TCP connection and reads the first line that the other side sends. */
export function greeting(target: Target, localAddress: string): Promise<{ line: string } | { wrong: string }> {
  return new Promise((resolve) => {
    const socket = connect({ ...target, localAddress, timeout: 10_000 });
    let text = '';
    socket.setEncoding('utf8');
    socket.on('data', (chunk: string) => {
      text += chunk;
      if (!text.includes('\n')) return;
      socket.end();
      resolve({ line: text.slice(0, text.indexOf('\n')) });
    });
    socket.on('timeout', () => socket.destroy(new Error('no greeting within 10 s')));
    socket.on('error', (error: NodeJS.ErrnoException) => resolve({ wrong: error.code ?? error.message }));
    socket.on('close', () => resolve({ wrong: 'closed without a greeting' }));
  });
}
