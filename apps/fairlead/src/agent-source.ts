// What an agent reads of its cluster, ConfigMaps and F5 Ingresses, and how both are told what came of them.
import type { Lbticket } from '@fairlead/api';
import { compile } from '@fairlead/as3';
import type { Clock } from '@fairlead/core';
import { ingressStatuses, isOfIngresses, statuses, type Remark, type Statuses } from '@fairlead/engine';
import type { KubeObject, ObjectReference, Store } from '@fairlead/kube';
import {
  configmapSource,
  ingressSource,
  together,
  type Front,
  type IngressSource,
  type Source,
} from '@fairlead/sources';
import { readKeyPair } from './key-pair.ts';
import type { Log } from './log.ts';
import type { TargetCluster } from './target-cluster.ts';
import { decode } from './template.ts';

export interface AgentSourceOptions {
  cluster: string;
  loadbalancer: string;
  nsselector: Readonly<Record<string, string>>;
  /** Where Ingresses of that namespace are served. */
  partition(namespace: string): string;
  target: TargetCluster;
  /** Of the management cluster: who may have which address. */
  lbtickets: Store<Lbticket>;
  /** The LTM, when it is ours to configure. */
  front?: Front | undefined;
}

export function agentSource(options: AgentSourceOptions): { source: Source; ingresses: IngressSource } {
  const { cluster, loadbalancer, nsselector, target, lbtickets, partition, front } = options;
  const certificates = { secrets: target.secrets, readKeyPair };
  const configmaps = configmapSource({
    cluster,
    loadbalancer,
    stores: target.stores,
    selects: (_, labels) => Object.entries(nsselector).every(([key, value]) => labels[key] === value),
    decode,
    accepts: compile,
    certificates,
  });
  const ingresses = ingressSource({
    cluster,
    loadbalancer,
    stores: { ...target.stores, lbtickets },
    accepts: compile,
    certificates,
    partition,
    front,
  });
  return { source: together(configmaps, ingresses), ingresses };
}

export interface AgentReportsOptions {
  clock: Clock;
  random: () => number;
  log: Log;
  clusters(name: string): TargetCluster | undefined;
  /** The Ingresses of that Loadbalancer. */
  ingresses(loadbalancer: string): IngressSource | undefined;
}

/** Outcomes go to the objects they are of. */
export function agentReports(options: AgentReportsOptions): Statuses {
  const { clock, random, log, clusters } = options;
  const shared = {
    clock,
    random,
    log: (line: string) => log.warn(line),
    onBug: (error: unknown, asker: string) => log.bug(error, `status of ${asker}`),
  };
  const toConfigMaps = statuses({
    ...shared,
    clusters: (name) => {
      const cluster = clusters(name);
      const event = (regarding: ObjectReference, told: Remark) => {
        const { apiVersion = '', kind = '', name: of = '', namespace = '', uid = '' } = regarding;
        return (
          cluster && void record(cluster, { apiVersion, kind, metadata: { name: of, namespace, uid } }, { told, log })
        );
      };
      return cluster && { kube: cluster.kube, configmaps: cluster.stores.configmaps, event };
    },
  });
  const toIngresses = ingressStatuses({
    ...shared,
    clusters: (name) => {
      const cluster = clusters(name);
      const event = (regarding: KubeObject, told: Remark) => cluster && void record(cluster, regarding, { told, log });
      return cluster && { kube: cluster.kube, event };
    },
    group: (asker) => options.ingresses(loadbalancerIn(asker))?.group(asker),
  });
  return {
    report(outcomes) {
      toConfigMaps.report(outcomes.filter((one) => !isOfIngresses(one)));
      toIngresses.report(outcomes.filter(isOfIngresses));
    },
    run: async (signal) => void (await Promise.all([toConfigMaps.run(signal), toIngresses.run(signal)])),
    get size() {
      return toConfigMaps.size + toIngresses.size;
    },
  };
}

/** `cluster/namespace/fairlead-<loadbalancer>:<namespace>:<ticket>` */
const loadbalancerIn = (asker: string): string => /\/fairlead-([^:/]+):/.exec(asker)?.[1] ?? '';

async function record(
  { recorder }: TargetCluster,
  regarding: KubeObject,
  { told, log }: { told: Remark; log: Log },
): Promise<void> {
  const done = await recorder.event(regarding, told);
  const { name, namespace } = regarding.metadata;
  if (!done.ok) log.warn(`Event of ${regarding.kind} ${namespace}/${name}: ${done.problem.message}`);
}
