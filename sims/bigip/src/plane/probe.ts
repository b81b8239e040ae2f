// One look at one member: a connection, a request and its answer, as the sort of monitor says.

import { createSocket } from 'node:dgram';
import { connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { Monitor } from '../configuration/object.ts';
import type { Place } from './bind.ts';

/** Whether the member answered as it should before `signal` ends the wait. Never throws: a failure is the answer. */
export function probe(monitor: Monitor, place: Place, signal: AbortSignal): Promise<boolean> {
  if (monitor.type === 'icmp' || monitor.type === 'gateway-icmp') return Promise.resolve(true);
  if (monitor.type === 'udp') return probeUdp(monitor, place, signal);
  return probeStream(monitor, place, signal);
}

function probeStream(monitor: Monitor, place: Place, signal: AbortSignal): Promise<boolean> {
  const sends = monitor.type === 'http' || monitor.type === 'https' || (monitor.send ?? '') !== '';
  const expects = sends && monitor.type !== 'tcp-half-open' && (monitor.type !== 'tcp' || (monitor.recv ?? '') !== '');
  return new Promise((resolve) => {
    const socket = dial(monitor.type === 'https', place);
    let answer = '';
    const end = (isUp: boolean): void => {
      signal.removeEventListener('abort', giveUp);
      socket.destroy();
      resolve(isUp);
    };
    const giveUp = (): void => end(false);
    signal.addEventListener('abort', giveUp);
    if (signal.aborted) giveUp();
    socket.on('error', giveUp);
    socket.on('close', () => end(expects && matches(monitor, answer)));
    socket.once(monitor.type === 'https' ? 'secureConnect' : 'connect', () => {
      if (!expects) end(true);
      else socket.write(requestOf(monitor));
    });
    socket.setEncoding('latin1').on('data', (text: string) => {
      answer += text;
      if (matches(monitor, answer) || answer.length > 65_536) end(matches(monitor, answer));
    });
  });
}

function dial(isTls: boolean, { host, port }: Place): Socket {
  // A monitor asks whether the member answers, not who it is.
  return isTls ? connectTls({ host, port, rejectUnauthorized: false }) : connect({ host, port });
}

function matches(monitor: Monitor, answer: string): boolean {
  const wanted = monitor.recv ?? '';
  return wanted === '' ? answer !== '' : new RegExp(unescape(wanted)).test(answer);
}

/** The send string; for HTTP the device adds the empty line that ends a request. */
function requestOf(monitor: Monitor): string {
  const text = unescape(monitor.send ?? 'GET /\\r\\n');
  if (!monitor.type.startsWith('http') || text.endsWith('\r\n\r\n')) return text;
  return `${text.replace(/(\r\n)?$/, '\r\n')}\r\n`;
}

function unescape(text: string): string {
  return text.replaceAll('\\r', '\r').replaceAll('\\n', '\n');
}

/** Silence is good news here: only a refusal by the host, or a wrong answer, says that nothing listens. */
function probeUdp(monitor: Monitor, { host, port }: Place, signal: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createSocket(host.includes(':') ? 'udp6' : 'udp4');
    const end = (isUp: boolean): void => {
      signal.removeEventListener('abort', silent);
      socket.removeAllListeners('error').on('error', () => undefined);
      socket.close();
      resolve(isUp);
    };
    const silent = (): void => end((monitor.recv ?? '') === '');
    signal.addEventListener('abort', silent, { once: true });
    socket.once('error', () => end(false));
    socket.once('message', (message) => end(matches(monitor, message.toString('latin1'))));
    socket.connect(port, host, () => socket.send(unescape(monitor.send ?? 'hello')));
  });
}
