// What probes and preStop hooks do: an HTTP request, a connection, or one of a few commands.
import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { connect } from 'node:net';
import type { Clock } from '../clock.ts';
import type { Container, HttpGet, IntOrString, LifecycleAction, Probe } from '../kube/objects.ts';
import { duration } from './annotations.ts';

export interface Outcome {
  ok: boolean;
  message: string;
}

export interface Target {
  ip: string;
  container: Container;
  clock: Clock;
}

/** One probe, with its timeout. As in the kubelet, HTTP 200 to 399 is success. */
export function probeOnce(probe: Probe, target: Target): Promise<Outcome> {
  const signal = AbortSignal.timeout((probe.timeoutSeconds ?? 1) * 1000);
  if (probe.httpGet) return httpGet(probe.httpGet, target, signal);
  if (probe.tcpSocket)
    return tcpConnect(probe.tcpSocket.host ?? target.ip, portNumber(probe.tcpSocket.port, target.container), signal);
  if (probe.exec) return runCommand(probe.exec.command ?? [], target.clock, signal);
  return Promise.resolve({ ok: false, message: 'this probe is neither httpGet, tcpSocket nor exec: not simulated' });
}

/** A preStop hook, until it ends or `signal` aborts. */
export async function hook(action: LifecycleAction, target: Target, signal: AbortSignal): Promise<Outcome> {
  if (action.sleep) {
    await target.clock.sleep(action.sleep.seconds * 1000, signal);
    return { ok: true, message: '' };
  }
  if (action.httpGet) return httpGet(action.httpGet, target, signal);
  return runCommand(action.exec?.command ?? [], target.clock, signal);
}

/**
 * The commands a container has, since it has no file system:
 *
 *  true         | exits with 0
 *  false        | exits with 1
 *  exit N       | exits with N
 *  sleep T      | exits with 0 after T (`5`, `5s`, `500ms`)
 *
 * also as `sh -c "…"`, several joined by `;` or `&&`, and with a path in front. Anything else exits with 127.
 */
export async function runCommand(
  command: string[],
  clock: Clock,
  signal: AbortSignal,
): Promise<Outcome & { code: number }> {
  const isShell = /(^|\/)(ba)?sh$/.test(command[0] ?? '') && command[1] === '-c';
  const steps = isShell ? (command[2] ?? '').split(/;|&&/).map((step) => step.trim().split(/\s+/)) : [command];
  for (const [path = '', argument = '0'] of steps) {
    const name = path.slice(path.lastIndexOf('/') + 1);
    if (name === 'true' || name === ':') continue;
    if (name === 'sleep')
      await clock.sleep(argument === 'infinity' ? Number.MAX_SAFE_INTEGER : (duration(argument) ?? 0), signal);
    else if (name === 'false') return { ok: false, code: 1, message: 'command "false" exited with 1' };
    else if (name === 'exit')
      return { ok: Number(argument) === 0, code: Number(argument), message: `exited with ${argument}` };
    else
      return {
        ok: false,
        code: 127,
        message: `exec: "${path}": not among the simulated commands (true, false, exit, sleep)`,
      };
    if (signal.aborted) return { ok: false, code: 137, message: 'command timed out' };
  }
  return { ok: true, code: 0, message: '' };
}

function httpGet(
  { path = '/', port, host, scheme, httpHeaders = [] }: HttpGet,
  { ip, container }: Target,
  signal: AbortSignal,
): Promise<Outcome> {
  const number = portNumber(port, container);
  const headers = {
    'user-agent': 'kube-probe/sim',
    ...Object.fromEntries(httpHeaders.map(({ name, value }) => [name, value])),
  };
  const send = scheme?.toUpperCase() === 'HTTPS' ? httpsRequest : httpRequest;
  const where = { host: host ?? ip, port: number, path, headers, signal, agent: false, rejectUnauthorized: false };
  return new Promise((done) => {
    send(where, (response) => {
      response.resume();
      const status = response.statusCode ?? 0;
      done({ ok: status >= 200 && status < 400, message: `HTTP probe answered with statuscode: ${status}` });
    })
      .on('error', (error) =>
        done({ ok: false, message: `Get "http://${host ?? ip}:${number}${path}": ${error.message}` }),
      )
      .end();
  });
}

function tcpConnect(host: string, port: number, signal: AbortSignal): Promise<Outcome> {
  return new Promise((done) => {
    const socket = connect({ host, port, signal });
    socket.on('connect', () => {
      socket.destroy();
      done({ ok: true, message: '' });
    });
    socket.on('error', (error) => done({ ok: false, message: `dial tcp ${host}:${port}: ${error.message}` }));
  });
}

function portNumber(port: IntOrString, container: Container): number {
  if (typeof port === 'number') return port;
  return container.ports?.find((one) => one.name === port)?.containerPort ?? Number(port);
}
