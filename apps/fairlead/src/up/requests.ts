// What `fairlead up` asks of the virtual servers it has made: the measured splits, and the TCP greeting.
import type { Lbrule, Lbticket } from '@fairlead/api';
import type { Bigip } from '@fairlead/sim-bigip';
import type { Environment } from './environment.ts';
import { splitFailures } from './summary.ts';
import { greeting, measure, type Target } from './traffic.ts';

export interface Measured {
  outside: Record<string, number>;
  inside: Record<string, number>;
  tcp: boolean;
  /** Where virtual servers are bound on this machine, as URLs and as sentences. */
  urls: Record<string, string>;
  bound: string[];
  failures: string[];
}

/** The quickstart's ticket: `count` requests that no rule names, `count` that its rule names, and one TCP connection. */
export async function measureQuickstart({ devices, stores }: Environment, count: number): Promise<Measured> {
  const { sim } = devices.ve;
  const measured: Measured = { outside: {}, inside: {}, tcp: false, urls: {}, bound: [], failures: [] };
  const rule = [...stores.lbrules.all()][0];
  const ticket = [...stores.lbtickets.all()].find((one) => one.metadata.name === rule?.spec.lbticket);
  const host = hostOf(rule);
  if (!rule || !ticket || host === undefined)
    return { ...measured, failures: ['the quickstart has no ticket with a rule for a domain'] };

  for (const listner of ticket.spec.listners ?? []) {
    const target = boundAt(sim, ticket.status?.veip ?? '', listner.port);
    const address = `${ticket.status?.veip}:${listner.port}`;
    if (!target) {
      measured.failures.push(`listner ${listner.name}: the VE has no virtual server on ${address}`);
      continue;
    }
    const url = `${listner.protocal}://${target.host}:${target.port}`;
    measured.urls[`${ticket.metadata.name}/${listner.name}`] = url;
    measured.bound.push(`virtual server ${address} is bound at ${url}`);
    if (listner.protocal === 'tcp') await greet(measured, listner.name, target);
    else if (listner.name === rule.spec.listner) await split(measured, { listner, rule, host, target, count });
  }
  return measured;
}

/** Where the simulator has bound the virtual server of `address` and `port`. */
export function boundAt(sim: Bigip, address: string, port: number): Target | undefined {
  return sim.virtuals().find((virtual) => virtual.address === address && virtual.port === port)?.bound;
}

type Listner = NonNullable<Lbticket['spec']['listners']>[number];

async function split(
  measured: Measured,
  {
    listner,
    rule,
    host,
    target,
    count,
  }: { listner: Listner; rule: Lbrule; host: string; target: Target; count: number },
): Promise<void> {
  const outside = await measure(target, { host: `not-${host}` }, 0, count);
  const inside = await measure(target, { host }, count, count);
  measured.outside = outside.counts;
  measured.inside = inside.counts;
  measured.failures.push(
    ...splitFailures('outside the rule', outside, weightsOf(listner.services), count),
    ...splitFailures('inside the rule', inside, weightsOf(rule.spec.services), count),
  );
}

async function greet(measured: Measured, name: string, target: Target): Promise<void> {
  const said = await greeting(target, '127.127.0.1');
  measured.tcp = 'line' in said;
  if ('wrong' in said) measured.failures.push(`TCP listner ${name}: ${said.wrong}`);
}

/** A host that the rule names. */
const hostOf = (rule: Lbrule | undefined): string | undefined =>
  rule?.spec.rules.find((entry) => entry.type === 'domain')?.values.find((value) => value.operator === 'equal')?.value;

const weightsOf = (services: Lbrule['spec']['services']): Record<string, number> =>
  Object.fromEntries(services.map(({ service, weight }) => [service, weight]));
