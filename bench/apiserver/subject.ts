// A server under measurement, and the requests a load generator makes of one: over HTTPS, on connections that stay open.
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { Agent, request } from 'node:https';
import type { IncomingMessage } from 'node:http';

export interface Subject {
  name: string;
  /** `https://127.0.0.1:port` */
  server: string;
  /** PEM of the authority that vouches for it. */
  ca: string;
  token: string;
  /** The processes it consists of. */
  pids: number[];
  stop(): Promise<void>;
}

export interface Answer {
  code: number;
  bytes: number;
  /** The body; only kept where asked for. */
  text: string;
}

export interface Ask {
  method?: string;
  path: string;
  body?: string | undefined;
  type?: string;
  /** Keep the body: otherwise it is counted and dropped, as reading it is the client's cost and not the server's. */
  keep?: boolean;
}

export interface Client {
  ask(ask: Ask): Promise<Answer>;
  /** Opens a stream on a connection of its own and hands over each chunk until the returned function is called. */
  follow(path: string, chunk: (bytes: Buffer) => void): Promise<() => void>;
  close(): void;
}

/** At most `lanes` requests are under way at a time. */
export function client(subject: Subject, lanes: number): Client {
  const { ca, token, server } = subject;
  const agent = new Agent({ keepAlive: true, maxSockets: lanes, ca });
  const { hostname, port } = new URL(server);
  const send = (ask: Ask, through: Agent): Promise<IncomingMessage> =>
    new Promise((resolve, reject) => {
      const headers: Record<string, string | number> = {
        authorization: `Bearer ${token}`,
        accept: 'application/json',
        'user-agent': 'bench/1',
      };
      if (ask.body !== undefined) {
        headers['content-type'] = ask.type ?? 'application/json';
        headers['content-length'] = Buffer.byteLength(ask.body);
      }
      const sent = request({ hostname, port, path: ask.path, method: ask.method ?? 'GET', headers, agent: through });
      sent.once('response', resolve).once('error', reject).end(ask.body);
    });
  return {
    async ask(ask) {
      const reply = await send(ask, agent);
      let bytes = 0;
      const kept: Buffer[] = [];
      reply.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
        if (ask.keep || (reply.statusCode ?? 0) >= 400) kept.push(chunk);
      });
      await once(reply, 'end');
      return { code: reply.statusCode ?? 0, bytes, text: Buffer.concat(kept).toString('utf8') };
    },
    async follow(path, chunk) {
      const reply = await send({ path }, new Agent({ ca }));
      if (reply.statusCode !== 200) throw new Error(`GET ${path}: ${reply.statusCode}`);
      reply.on('data', chunk);
      // Ended by us: what the socket then says is of no interest.
      reply.on('error', () => undefined);
      return () => reply.destroy();
    },
    close: () => agent.destroy(),
  };
}

/** Asks, and throws when the answer is not a success: a benchmark of refusals measures nothing. */
export async function must(asking: Promise<Answer>, what: string): Promise<Answer> {
  const answer = await asking;
  if (answer.code >= 300) throw new Error(`${what}: ${answer.code} ${answer.text.slice(0, 300)}`);
  return answer;
}

/** Resident memory of all its processes in MB, as the operating system says. */
export const residentMb = ({ pids }: Subject): number =>
  pids
    .map((pid) => Number(execFileSync('ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'utf8' })) / 1024)
    .reduce((a, b) => a + b, 0);

export interface Round {
  /** Operations a second. */
  rate: number;
  /** Milliseconds of each. */
  took: number[];
}

/** Runs `count` operations, `lanes` at a time. */
export async function round(count: number, lanes: number, work: (n: number) => Promise<unknown>): Promise<Round> {
  const took: number[] = [];
  let next = 0;
  const began = performance.now();
  const lane = async () => {
    for (let n = next++; n < count; n = next++) {
      const start = performance.now();
      await work(n);
      took.push(performance.now() - start);
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  return { rate: (count * 1000) / (performance.now() - began), took };
}
