// What the F5 Ingresses of a ticket do with a request, listener by listener: by the evaluator that their iRules are tested against. Pure.
import {
  answerByHost,
  fail,
  hostRouteKey,
  hostRouteOf,
  ok,
  type HostAnswer,
  type Listener,
  type Result,
  type TestRequest,
} from '@fairlead/core';
import type { OnceAnswer } from '@fairlead/sources';

export interface IngressQuestion {
  /** `namespace/name`. */
  ticket: string;
  /** Only that port of the address; all of them when absent. */
  port?: number | undefined;
  request: TestRequest;
}

/** As `-o json` prints it. */
export interface IngressExplanation {
  ticket: string;
  /** One for each listener, by port. */
  answers: {
    protocol: string;
    address: string;
    port: number;
    /** The Ingress, and the field in it, that the route comes from; absent when no route takes the request. */
    rule?: { ingress: string; field: string } | undefined;
    /** Absent when the listener answers itself. */
    pool?: string | undefined;
    service?: { namespace: string; name: string; port: number | string } | undefined;
    /** What members see instead, where the Ingress rewrites. */
    sees?: { host?: string | undefined; path?: string | undefined } | undefined;
    /** HTTP status and place that the listener answers with itself. */
    status?: number | undefined;
    location?: string | undefined;
    why: string;
  }[];
  /** By Ingress, why nothing of it counts. */
  refused: Record<string, string>;
  /** By Ingress, what of it an older one has. */
  notes: Record<string, string[]>;
}

/** Every pool counts as alive: what a device sees of its members is no part of the question. */
export function explainIngress(
  read: OnceAnswer,
  { ticket, port, request }: IngressQuestion,
): Result<IngressExplanation> {
  const refused = Object.fromEntries(
    [...read.problems].map(([name, { path, message }]) => [name, path === undefined ? message : `${path}: ${message}`]),
  );
  const all = read.balancer?.listeners ?? [];
  const listeners = all.filter((one) => port === undefined || one.port === port);
  if (listeners.length === 0) {
    const there = all.map((one) => one.port).join(', ');
    const wrong = Object.entries(refused).map(([name, why]) => `; Ingress ${name} is refused: ${why}`);
    if (all.length > 0) return fail('missing', `nothing is served on port ${port}; there is: ${there}`);
    return fail('missing', `no Ingress that can be served names ticket ${ticket}${wrong.join('')}`);
  }
  const answers = listeners.map((listener) => answerOf(read, listener, request));
  return ok({ ticket, answers, refused, notes: Object.fromEntries(read.notes) });
}

function answerOf(
  { balancer, originOf, portNames }: OnceAnswer,
  listener: Listener,
  request: TestRequest,
): IngressExplanation['answers'][number] {
  const { protocol, address, port } = listener;
  const answer = answerByHost(listener, request, () => true);
  const route = hostRouteOf(listener, request);
  const rule = route && originOf(port, hostRouteKey(route));
  const said = { protocol, address, port, ...(rule && { rule }), why: answer.why };
  if (!('pool' in answer)) return { ...said, ...ownAnswer(answer) };
  const pool = balancer?.pools.find(({ name }) => name === answer.pool);
  const service = pool && { ...pool.service, port: portNames.get(pool.name) ?? pool.service.port };
  const uri = request.uri ?? '/';
  const sees = {
    ...(answer.host !== undefined && { host: answer.host }),
    ...(answer.path !== uri && { path: answer.path }),
  };
  return { ...said, pool: answer.pool, service, ...(Object.keys(sees).length > 0 && { sees }) };
}

const ownAnswer = (answer: Exclude<HostAnswer, { pool: string }>) => ({
  status: answer.status,
  ...('location' in answer && { location: answer.location }),
});

/** For people: a block for each listener, then what is wrong with Ingresses. */
export function ingressLines({ ticket, answers, refused, notes }: IngressExplanation): string[] {
  return [
    ...answers.flatMap(({ protocol, address, port, rule, pool, service, sees, status, location, why }) => [
      `ticket  ${ticket}, F5 Ingress: ${protocol} ${address}:${port}`,
      `        ${why}`,
      `rule    ${rule ? `Ingress ${rule.ingress}, ${rule.field}` : 'none'}`,
      pool === undefined
        ? `answer  ${status}${location === undefined ? '' : `, sent to ${location}`}`
        : `pool    ${pool}${service ? ` (Service ${service.name} port ${service.port} in namespace ${service.namespace})` : ''}`,
      ...(sees
        ? [`        its members see ${[sees.host && `host ${sees.host}`, sees.path].filter(Boolean).join(', ')}`]
        : []),
    ]),
    ...Object.entries(refused).map(
      ([name, why]) => `refused Ingress ${name}: ${why}; what it had before may be served still`,
    ),
    ...Object.entries(notes).flatMap(([name, all]) => all.map((note) => `note    Ingress ${name}: ${note}`)),
  ];
}
