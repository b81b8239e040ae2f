// The Ingresses of one ticket read once, for who only looks: what they would configure, and what is wrong with them. Pure.
import type { LoadBalancer, Problem, Result } from '@fairlead/core';
import type { Ingress } from '@fairlead/kube';
import { merge, type Merged } from './group.ts';
import { aloneOf, balancerOf, createdAt, groupName, keyOf, placeOf } from './names.ts';
import { readIngress } from './reading.ts';

export interface OnceQuestion {
  cluster: string;
  loadbalancer: string;
  /** `namespace/name`. */
  ticket: string;
  /** In the target cluster. */
  namespace: string;
  partition: string;
  /** The VE address of the ticket. */
  ip: string;
  /** Those that name the ticket. One without a time of creation is the youngest. */
  ingresses: readonly Ingress[];
  accepts(lb: LoadBalancer): Result<unknown>;
}

export interface OnceAnswer {
  /** Undefined when nothing is asked for. */
  balancer?: LoadBalancer | undefined;
  /** By Ingress, why nothing of it counts. */
  problems: Map<string, Problem>;
  /** By Ingress, what of it an older one has. */
  notes: Map<string, string[]>;
  originOf: Merged['originOf'];
  /** By pool, the port of its Service where it is a name. */
  portNames: Map<string, string>;
}

export function readOnce(question: OnceQuestion): OnceAnswer {
  const { cluster, loadbalancer, ticket, namespace, partition, ip, ingresses, accepts } = question;
  const problems = new Map<string, Problem>();
  const members = ingresses.flatMap((ingress) => {
    const { name } = ingress.metadata;
    const reading = readIngress(ingress);
    const accepted = reading.ok ? accepts(aloneOf(cluster, { partition, ip, ticket }, reading.value)) : reading;
    if (!accepted.ok) problems.set(name, accepted.problem);
    return reading.ok && accepted.ok ? [{ name, created: ageOf(ingress), reading: reading.value }] : [];
  });
  const merged = merge({ name: placeOf(ticket).name, address: ip, members });
  const name = groupName(loadbalancer, ticket);
  const origin = { cluster, kind: 'Ingress', namespace, name, uid: '', created: 0, revision: '' };
  const balancer = balancerOf(origin, { scope: partition, key: keyOf(partition, ticket) }, merged);
  const { notes, pools, originOf } = merged;
  return {
    ...(merged.listeners.length > 0 && { balancer }),
    problems,
    notes,
    originOf,
    portNames: new Map(pools.flatMap(({ pool, portName }) => (portName === undefined ? [] : [[pool.name, portName]]))),
  };
}

const ageOf = (ingress: Ingress): number => createdAt(ingress) || Number.MAX_SAFE_INTEGER;
