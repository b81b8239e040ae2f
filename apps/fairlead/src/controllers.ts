// The wiring of everything that runs against clusters: tickets in the management cluster, an agent for each Loadbalancer.
import { lbrules, lbtickets, loadbalancers, type Loadbalancer } from '@fairlead/api';
import { fail, ok, type Clock, type Policy, type Result } from '@fairlead/core';
import { store, type Kube } from '@fairlead/kube';
import { auto, http, manual, tickets } from '@fairlead/tickets';
import type { AddressMap } from './address-map.ts';
import { runAgents } from './agents.ts';
import { credentialsOf, secretReader, type SecretReader } from './credentials.ts';
import type { Log } from './log.ts';
import { targetCluster, type TargetCluster } from './target-cluster.ts';

export interface ControllersOptions {
  management: Kube;
  /** Target clusters by name. */
  clusters: ReadonlyMap<string, Kube>;
  /** Namespace of Secrets that are referred to without one. */
  namespace: string;
  map: AddressMap;
  clock: Clock;
  random: () => number;
  /** The mark on what we put on devices. */
  owner: string;
  policy: Policy;
  log: Log;
}

/** The token of an approver: none wanted is fine, wanted and missing is not. */
function approverToken(
  { tokenSecretRef: ref }: Loadbalancer['spec']['policy'],
  secrets: Pick<SecretReader, 'read'>,
): Result<string | undefined> {
  if (!ref) return ok(undefined);
  const token = secrets.read(ref, 'token');
  return token === undefined
    ? fail(
        'missing',
        `the Secret ${ref.name} with the approver's token is not there, or has no key token`,
        'spec.policy.tokenSecretRef',
      )
    : ok(token);
}

/** Works until `signal` aborts. */
export async function runControllers(options: ControllersOptions, signal: AbortSignal): Promise<void> {
  const { management, clock, random, log } = options;
  const stores = {
    loadbalancers: store(management, loadbalancers),
    lbtickets: store(management, lbtickets),
    lbrules: store(management, lbrules),
  };
  const targets = new Map<string, TargetCluster>();
  for (const [name, kube] of options.clusters) targets.set(name, targetCluster(name, kube, clock));
  const secrets = secretReader(management, options.namespace);
  const clusters = (name: string) => targets.get(name);

  const ticketTurns = tickets({
    kube: management,
    stores,
    clusters,
    approvers: {
      auto: auto(),
      manual: manual(),
      http: http({ fetch, clock, token: async (policy) => approverToken(policy, secrets) }),
    },
    clock,
    random,
    log: (line) => log.warn(line),
  });
  await Promise.all([
    ...Object.values(stores).map((one) => one.run(signal)),
    ...[...targets.values()].map((target) => target.run(signal)),
    secrets.run(signal),
    ticketTurns.run(signal),
    runAgents(
      {
        loadbalancers: stores.loadbalancers,
        clusters,
        credentials: (loadbalancer) => credentialsOf(loadbalancer, secrets),
        onCredentials: secrets.listen,
        map: options.map,
        clock,
        random,
        owner: options.owner,
        policy: options.policy,
        log,
      },
      signal,
    ),
  ]);
}
