// The wiring of everything that runs against clusters: tickets in the management cluster, an agent for each Loadbalancer.
import { setMaxListeners } from 'node:events';
import type { Loadbalancer } from '@fairlead/api';
import { fail, ok, type Clock, type Policy, type Result } from '@fairlead/core';
import type { Kube } from '@fairlead/kube';
import { auto, http, manual, tickets, type Surroundings } from '@fairlead/tickets';
import type { AddressMap } from './address-map.ts';
import { ownSecrets } from './admission/owners.ts';
import { agents, type Agents } from './agents.ts';
import { clusters, type Clusters, type ClustersOptions } from './clusters/clusters.ts';
import { credentialsOf, ltmCredentialsOf, secretReader, type SecretReader } from './credentials.ts';
import { device } from './device.ts';
import type { Log } from './log.ts';
import { ltmAgents, type LtmAgents } from './ltm-agents.ts';
import { measured, readable } from './metrics/measured.ts';
import type { Metrics } from './metrics/metrics.ts';
import { managementStores } from './management-stores.ts';
import type { PlacesOptions } from './places.ts';
import { statisticsReader } from './statistics.ts';

export interface ControllersOptions {
  management: Kube;
  /** Target clusters of the command line, by name; more come from Secrets. */
  clusters: ReadonlyMap<string, Kube>;
  /** How a kubeconfig in a Secret becomes a client. */
  open: ClustersOptions['open'];
  /** Our own namespace: of Secrets that are referred to without one, and of those with target clusters. */
  namespace: string;
  /** How a device is reached; over this machine's network when absent. */
  device?: PlacesOptions['device'] | undefined;
  map: AddressMap;
  clock: Clock;
  random: () => number;
  /** The mark on what we put on devices. */
  owner: string;
  policy: Policy;
  log: Log;
  metrics?: Metrics | undefined;
}

/** What tickets hear of outages: of target clusters, of the devices of agents and of LTMs. */
const around = ({ targets, served, ltms }: Outside): Surroundings => ({
  cluster: (name) => targets.outage(name),
  device: served.device,
  ltm: ltms.state,
  ltmDevice: ltms.device,
  listen(heard) {
    const devices = [served.listen(heard.device), ltms.onDevice(heard.device)];
    const stops = [targets.listen(heard.cluster), ...devices, ltms.listen(heard.ltm)];
    return () => stops.forEach((stop) => stop());
  },
});

interface Outside {
  targets: Pick<Clusters, 'outage' | 'listen'>;
  served: Pick<Agents, 'device' | 'listen'>;
  ltms: Pick<LtmAgents, 'state' | 'device' | 'onDevice' | 'listen'>;
}

/** By `spec.policy.provider`. */
const approvers = (clock: Clock, secrets: Pick<SecretReader, 'read'>) => ({
  auto: auto(),
  manual: manual(),
  http: http({ fetch, clock, token: async (policy) => approverToken(policy, secrets) }),
});

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
  const { management, clock, random, log, metrics } = options;
  // Every watch and wait listens to this one; that many is no leak.
  setMaxListeners(0, signal);
  const stores = managementStores(management);
  const secrets = secretReader(management, options.namespace);
  const credentials = (loadbalancer: Loadbalancer) => credentialsOf(loadbalancer, secrets);
  const targets = clusters({ ...options, fixed: options.clusters });
  const ltms = ltmAgents({
    ...options,
    device: options.device ?? device,
    loadbalancers: stores.loadbalancers,
    lbtickets: stores.lbtickets,
    clusters: targets,
    credentials: (loadbalancer) => ltmCredentialsOf(loadbalancer, secrets),
    onCredentials: secrets.listen,
  });
  const served = agents({
    ...options,
    device: options.device ?? device,
    loadbalancers: stores.loadbalancers,
    lbtickets: stores.lbtickets,
    clusters: targets,
    front: ltms,
    credentials,
    onCredentials: secrets.listen,
  });
  const counted = statisticsReader({ device: options.device ?? device, credentials, map: options.map, clock });
  const ticketTurns = tickets({
    kube: management,
    stores,
    clusters: (name) => targets.get(name),
    surroundings: around({ targets, served, ltms }),
    approvers: measured(approvers(clock, secrets), { clock, metrics }),
    statistics: counted.read,
    clock,
    random,
    log: (line) => log.warn(line),
    onTurn: metrics?.ticketsTurn,
    onChange: (what) => log.info(`${what.turn} changed`, what),
  });
  metrics?.scrape(readable({ stores, targets, served, ltms, ticketTurns }));
  await Promise.all([
    ...Object.values(stores).map((one) => one.run(signal)),
    targets.run(signal),
    secrets.run(signal),
    ticketTurns.run(signal),
    served.run(signal),
    ltms.run(signal),
    ownSecrets({ ...options, loadbalancers: stores.loadbalancers }, signal),
  ]).finally(() => metrics?.scrape(undefined));
  await counted.close();
}
