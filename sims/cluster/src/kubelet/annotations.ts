// The annotations by which a pod, or a node, tells the simulator how to behave. Read each time, so a change is effective
// at once.
//
//  sim.fairlead.io/…     | value                    | effect
//  ----------------------+--------------------------+----------------------------------------------------------
//  ready                 | "false"                  | containers are not ready, whatever their probes say
//  crash                 | "loop"                   | containers exit with 1 a second after each start
//                        | anything else, changed   | containers exit with 1 once, now
//  start-delay           | "3s", "250ms", "3"       | time from being bound to listening
//  ignore-sigterm        | "true"                   | goes on as before until the grace period has ended
//  status                | "500"                    | what its HTTP ports answer with, /healthz left out
//  protocol.<port>       | http, https, tcp, udp    | what a port speaks; <port> is its name or number
//  lost (of a Node)      | "true"                   | its heartbeats and containers end; off, it is back: nodes/faults.ts
import type { KubeObject } from '../kube/objects.ts';

const prefix = 'sim.fairlead.io/';

export function annotation({ metadata }: KubeObject, name: string): string | undefined {
  return metadata.annotations?.[prefix + name];
}

/** `3s`, `250ms`, `2m` or plain seconds, in ms; undefined for anything else. */
export function duration(text: string): number | undefined {
  const [, number, unit = 's'] = /^(\d+(?:\.\d+)?)(ms|s|m)?$/.exec(text) ?? [];
  if (number === undefined) return undefined;
  return Number(number) * { ms: 1, s: 1000, m: 60_000 }[unit as 'ms' | 's' | 'm'];
}
