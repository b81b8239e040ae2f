// The first layer, with `ltm.mode: as3`: each port of a ticket's LTM address forwards to the same port of its VE address. Pure.
import type { Lbticket, Loadbalancer } from '@fairlead/api';
import { virtualName } from '@fairlead/as3';
import type { Listener, LoadBalancer, Member, Pool, Problem } from '@fairlead/core';
import { digest } from './digest.ts';
import { createdAt, tenantOf, ticketName } from './names.ts';

/** What a ticket wants of the LTM now. */
export interface LtmWish {
  /** Tells one wish from another: reports speak of it. */
  revision: string;
  scope: string;
  /** Nobody can say now what is wanted: what is there stays. */
  isUnknown?: true;
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

/** A port of the LTM address; tcp and udp may share a number. */
interface Door {
  port: number;
  protocol: 'tcp' | 'udp';
}

/** `ingressPorts`: of a ticket with `lbtype: ingress`, those that its F5 Ingresses are served on; undefined while nobody knows. */
export function ltmWish(
  loadbalancer: Loadbalancer,
  ticket: Lbticket,
  ingressPorts?: readonly number[] | undefined,
): LtmWish {
  const scope = ltmTenant(loadbalancer, ticket.spec.namespace);
  const { process, veip, ltmip } = ticket.status ?? {};
  const none = { revision: 'none', scope, members: new Map() };
  if (process !== 'enabled' || !veip || !ltmip) return none;
  const doors = doorsOf(ticket, ingressPorts);
  if (!doors) return { ...none, revision: 'unknown', isUnknown: true };
  if (doors.length === 0) return none;
  const listeners = doors.map((one) => listener(ticket, one, ltmip)).sort(byName);
  const pools = doors.map((one) => pool(ticket, one)).sort(byName);
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
  const members = doors.map((one): [string, Member[]] => [
    poolName(one),
    [{ address: veip, port: one.port, state: 'enabled' }],
  ]);
  return { revision, scope, balancer: { key, scope, origin, listeners, pools }, members: new Map(members) };
}

function doorsOf({ spec }: Lbticket, ingressPorts: readonly number[] | undefined): Door[] | undefined {
  if (spec.lbtype === 'ingress') return ingressPorts?.map((port) => ({ port, protocol: 'tcp' }));
  return (spec.listners ?? []).map(({ port, protocal }) => ({ port, protocol: protocal === 'udp' ? 'udp' : 'tcp' }));
}

const letterFirst = (name: string): string => (/^[0-9]/.test(name) ? `n${name}` : name);

const poolName = ({ port, protocol }: Door): string => `ve_${port}${protocol === 'udp' ? '_udp' : ''}_pool`;

/** Passed through as it comes: rules, sessions and TLS are the second layer's. */
const listener = (ticket: Lbticket, door: Door, address: string): Listener => ({
  name: virtualName(`${ticket.metadata.name}_ltm${door.protocol === 'udp' ? '_udp' : ''}`, door.port),
  address,
  port: door.port,
  protocol: door.protocol,
  persistence: 'none',
  routes: [],
  pools: [{ pool: poolName(door), weight: 1 }],
});

/** A datagram port answers nobody who knows not its protocol, so there the address itself is asked. */
const pool = (ticket: Lbticket, door: Door): Pool => ({
  name: poolName(door),
  service: { namespace: ticket.spec.namespace, name: ticket.metadata.name, port: door.port },
  monitor: { type: door.protocol === 'udp' ? 'icmp' : 'tcp' },
  balance: 'round-robin',
});

const byName = (a: { name: string }, b: { name: string }): number => (a.name < b.name ? -1 : 1);
