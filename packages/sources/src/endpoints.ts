// The ready pods behind one port of a Service: EndpointSlices → members. Pure.
import { byMemberName, memberName, type Member, type Problem } from '@fairlead/core';
import type { Endpoint, EndpointSlice, Service, ServicePort } from '@fairlead/kube';

export interface PortMembers {
  members: Member[];
  problem?: Problem | undefined;
}

type SlicePort = NonNullable<EndpointSlice['ports']>[number];

/**
 * Members of `service` at `port`, a Service port or else a target port (spec/f5.md §1.3; F5's two controllers differ).
 *
 *   `port` is the number of          | members are the endpoints of  | problem
 *   ---------------------------------+-------------------------------+---------------------------------
 *   one Service port                 | it, by its name in the slices | when another port's target is it
 *   two (TCP and UDP), same pods     | either                        |
 *   two (TCP and UDP), other pods    | none                          | ambiguous
 *   no Service port, a target port   | it                            |
 *   neither, and there are endpoints | none: never another port's    | no such port
 *   neither, and there are none      | none                          | no such port
 *
 * Slices of the Service's first address family only, or a pod with two addresses would count twice.
 */
export function membersAt(service: Service, slices: readonly EndpointSlice[], port: number): PortMembers {
  const family = service.spec.ipFamilies?.[0] ?? slices.map(({ addressType }) => addressType).sort()[0];
  const usable = slices.filter(({ addressType }) => addressType === family && addressType !== 'FQDN');
  const named = (service.spec.ports ?? []).filter((one) => one.port === port);
  if (named.length > 0) return ofServicePorts(service, usable, named);

  const pods = membersOf(usable, (one) => one.port === port);
  if (pods.length > 0 || isNumericTarget(service, port)) return { members: pods };
  const known = (service.spec.ports ?? []).map((one) => one.port).join(', ') || 'none';
  return {
    members: [],
    problem: problemOf(service, `has no port ${port}, and no pod behind it listens on it (its ports: ${known})`),
  };
}

function ofServicePorts(
  service: Service,
  slices: readonly EndpointSlice[],
  ports: readonly ServicePort[],
): PortMembers {
  const [first, ...others] = ports.map((port) => membersOf(slices, (one) => isSlicePortOf(port, one)));
  const members = first ?? [];
  const port = ports[0]?.port;
  if (others.some((other) => namesOf(other) !== namesOf(members))) {
    const names = ports.map((one) => one.name).join(', ');
    return {
      members: [],
      problem: problemOf(
        service,
        `has port ${port} more than once (${names}), with other pods each: give the ports numbers of their own`,
      ),
    };
  }
  const targeted = membersOf(slices, (one) => one.port === port);
  if (targeted.length === 0 || namesOf(targeted) === namesOf(members)) return { members };
  const why = `has port ${port} both as its own and as the target of another port, with other pods: its own is taken`;
  return { members, problem: problemOf(service, why) };
}

/** Slices name their ports as the Service does; a number would not do, for a named target port differs by pod. */
const isSlicePortOf = (port: ServicePort, one: SlicePort): boolean =>
  (one.name ?? '') === (port.name ?? '') && (one.protocol ?? 'TCP') === (port.protocol ?? 'TCP');

const isNumericTarget = (service: Service, port: number): boolean =>
  (service.spec.ports ?? []).some((one) => (one.targetPort ?? one.port) === port);

const namesOf = (members: readonly Member[]): string => members.map(memberName).join(' ');

const problemOf = (service: Service, why: string): Problem => ({
  code: 'invalid',
  message: `Service ${service.metadata.namespace}/${service.metadata.name} ${why}`,
});

/** Members on the ports of `slices` that `isWanted`, each once, sorted by name. */
function membersOf(slices: readonly EndpointSlice[], isWanted: (port: SlicePort) => boolean): Member[] {
  const members = new Map<string, Member>();
  for (const member of slices.flatMap((slice) => candidatesOf(slice, isWanted))) {
    // While an endpoint moves between slices it stands in both, and one of them may be old: the better state counts.
    if (members.get(memberName(member))?.state !== 'enabled') members.set(memberName(member), member);
  }
  return keepLast([...members.values()]).sort(byMemberName);
}

function candidatesOf(slice: EndpointSlice, isWanted: (port: SlicePort) => boolean): Member[] {
  const ports = (slice.ports ?? []).filter(isWanted).flatMap(({ port }) => port ?? []);
  const endpoints = slice.endpoints ?? [];
  return endpoints.flatMap((endpoint) => {
    const state = stateOf(endpoint);
    const [address] = endpoint.addresses;
    return state && address !== undefined ? ports.map((port) => ({ address, port, state })) : [];
  });
}

/**
 *   terminating | serving | ready | then
 *   ------------+---------+-------+------------------------------------------------------------
 *   no          | any     | yes   | enabled (ready without serving: publishNotReadyAddresses)
 *   no          | any     | no    | no member
 *   yes         | yes     | any   | draining: `ready` may say yes here, and must not be believed
 *   yes         | no      | any   | no member
 *
 * Absent reads as ready, serving and not terminating (spec/cloud.md §3.4).
 */
function stateOf({ conditions }: Endpoint): Member['state'] | undefined {
  const ready = conditions?.ready ?? true;
  const serving = conditions?.serving ?? ready;
  if (conditions?.terminating ?? false) return serving ? 'draining' : undefined;
  return ready ? 'enabled' : undefined;
}

/** With nobody else to serve, those that go but still serve stay: an outage helps none of them (spec/cloud.md §3.3). */
const keepLast = (members: Member[]): Member[] =>
  members.some(({ state }) => state === 'enabled')
    ? members
    : members.map((member) => ({ ...member, state: 'enabled' }));
