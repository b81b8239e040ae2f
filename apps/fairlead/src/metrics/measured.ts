// Where the controllers and their metrics meet.
import type { Lbticket, Loadbalancer } from '@fairlead/api';
import type { Clock, Result } from '@fairlead/core';
import type { Store } from '@fairlead/kube';
import type { Approver, Tickets } from '@fairlead/tickets';
import type { Agents } from '../agents.ts';
import type { Clusters } from '../clusters/clusters.ts';
import type { LtmAgents } from '../ltm-agents.ts';
import type { Metrics, Scraped } from './metrics.ts';

/** The same approvers, each call measured. Those that answer from memory ask nobody, and are left out. */
export function measured(
  approvers: Readonly<Record<string, Approver>>,
  { clock, metrics }: { clock: Clock; metrics: Metrics | undefined },
): Record<string, Approver> {
  const timed = async <T>(provider: string, operation: string, call: Promise<Result<T>>): Promise<Result<T>> => {
    const begun = clock.now();
    const answer = await call;
    const result = answer.ok ? 'ok' : answer.problem.code;
    metrics?.approverCall({ provider, operation, result, took: clock.now() - begun });
    return answer;
  };
  const around = (provider: string, one: Approver): Approver => ({
    ...one,
    file: (...all) => timed(provider, 'file', one.file(...all)),
    ask: (...all) => timed(provider, 'ask', one.ask(...all)),
    withdraw: (...all) => timed(provider, 'withdraw', one.withdraw(...all)),
  });
  return Object.fromEntries(
    Object.entries(approvers).map(([name, one]) => [name, one.isLocal ? one : around(name, one)]),
  );
}

interface Parts {
  stores: { loadbalancers: Store<Loadbalancer>; lbtickets: Store<Lbticket> };
  targets: Clusters;
  served: Agents;
  ltms: LtmAgents;
  ticketTurns: Tickets;
}

export const readable = ({ stores, targets, served, ltms, ticketTurns }: Parts): Scraped => ({
  loadbalancers: () => stores.loadbalancers.all(),
  lbtickets: () => stores.lbtickets.all(),
  clusters: () => targets.states(),
  isDeviceReachable(name, layer) {
    const state = layer === 've' ? served.device(name) : ltms.device(name);
    if (state === 'reachable') return true;
    return typeof state === 'object' ? false : undefined;
  },
  unready() {
    const late = [stores.loadbalancers, stores.lbtickets]
      .filter(({ synced }) => !synced)
      .map(({ kind }) => kind.plural);
    return late.length > 0 ? `the management cluster's ${late.join(' and ')} are not read yet` : undefined;
  },
  queues: () => ({ tickets: ticketTurns.load, ...served.queues() }),
});
