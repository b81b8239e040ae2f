// The first layer, with `ltm.mode: as3`: each port of a ticket's LTM address forwards to the same port of its VE address. Pure.
import type { Lbticket, Listner, Loadbalancer } from '@fairlead/api';
import { virtualName } from '@fairlead/as3';
import type { Listener, LoadBalancer, Member, Pool, Problem } from '@fairlead/core';
import { digest } from './digest.ts';
import { createdAt, tenantOf, ticketName } from './names.ts';

/** What a ticket wants of the LTM now. */
export interface LtmWish {
  /** Tells one wish from another: reports speak of it. */
  revision: string;
  scope: string;
  /** Undefined: nothing of the ticket is to be there. */
  balancer?: LoadBalancer | undefined;
  /** By pool, the VE address that gets its connections. */
  members: ReadonlyMap<string, Member[]>;
}

/**
 * What became of a wish: `none` when the LTM is not ours to configure, `clear` when nothing of the ticket is left there.
 */
export type LtmState = 'none' | 'pending' | 'programmed' | 'clear' | { problem: Problem };

/** The first part of what a ticket is called as an asker on the LTM; then comes its `namespace/name`. */
export const ltmCluster = (loadbalancer: string): string => `ltm:${loadbalancer}`;

/** A tenant beside that of the second layer: both may be one device. */
export const ltmTenant = (loadbalancer: Loadbalancer, namespace: string): string =>
  `${tenantOf(loadbalancer, namespace)}_ltm`;

export function ltmWish(loadbalancer: Loadbalancer, ticket: Lbticket): LtmWish {
  const scope = ltmTenant(loadbalancer, ticket.spec.namespace);
  const { process, veip, ltmip } = ticket.status ?? {};
  const listners = ticket.spec.listners ?? [];
  if (process !== 'enabled' || !veip || !ltmip || listners.length === 0)
    return { revision: 'none', scope, members: new Map() };
  const listeners = listners.map((one) => listener(ticket, one, ltmip)).sort(byName);
  const pools = listners.map((one) => pool(ticket, one)).sort(byName);
  const revision = digest(JSON.stringify([listeners, pools, veip]));
  const { namespace = '', name, uid = '' } = ticket.metadata;
  const origin = {
    cluster: ltmCluster(loadbalancer.metadata.name),
    kind: 'Lbticket',
    namespace,
    name,
    uid,
    created: createdAt(ticket),
    revision,
  };
  const key = `${scope}/${letterFirst(ticketName(ticket).replace('/', '_'))}_ltm_app`;
  const members = listners.map((one): [string, Member[]] => [
    poolName(one),
    [{ address: veip, port: one.port, state: 'enabled' }],
  ]);
  return { revision, scope, balancer: { key, scope, origin, listeners, pools }, members: new Map(members) };
}

const letterFirst = (name: string): string => (/^[0-9]/.test(name) ? `n${name}` : name);

/** tcp and udp may share a number. */
const portName = ({ port, protocal }: Listner): string => (protocal === 'udp' ? `${port}_udp` : String(port));

const poolName = (listner: Listner): string => `ve_${portName(listner)}_pool`;

/** Passed through as it comes: rules, sessions and TLS are the second layer's. */
const listener = (ticket: Lbticket, listner: Listner, address: string): Listener => ({
  name: virtualName(`${ticket.metadata.name}_ltm${listner.protocal === 'udp' ? '_udp' : ''}`, listner.port),
  address,
  port: listner.port,
  protocol: listner.protocal === 'udp' ? 'udp' : 'tcp',
  persistence: 'none',
  routes: [],
  pools: [{ pool: poolName(listner), weight: 1 }],
});

/** A datagram port answers nobody who knows not its protocol, so there the address itself is asked. */
const pool = (ticket: Lbticket, listner: Listner): Pool => ({
  name: poolName(listner),
  service: { namespace: ticket.spec.namespace, name: ticket.metadata.name, port: listner.port },
  monitor: { type: listner.protocal === 'udp' ? 'icmp' : 'tcp' },
  balance: 'round-robin',
});

const byName = (a: { name: string }, b: { name: string }): number => (a.name < b.name ? -1 : 1);
