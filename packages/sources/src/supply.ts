// From a pool's use to its members, through the stores of Services and EndpointSlices.
import { fail, ok, type Origin, type Problem, type Result } from '@fairlead/core';
import type { EndpointSlice, KubeObject, Service, Store } from '@fairlead/kube';
import { membersAt } from './endpoints.ts';
import type { PoolUse } from './reading.ts';
import type { Supply } from './source.ts';

export interface EndpointStores {
  /** With the index `as3-pool` of `serviceIndexes`. */
  services: Store<Service>;
  /** With the index `service` of `endpointSliceIndexes`. */
  endpointslices: Store<EndpointSlice>;
}

/** `namespace/tenant/application/pool`, when a Service carries the three labels of spec/f5.md §1.3. */
export const poolLabelsOf = ({ metadata }: KubeObject): string[] => {
  const parts = ['tenant', 'app', 'pool'].map((part) => metadata.labels?.[`cis.f5.com/as3-${part}`]);
  return parts.every((part) => part !== undefined && part !== '') ? [[metadata.namespace, ...parts].join('/')] : [];
};

/** `namespace/name` of the Service that an EndpointSlice belongs to. */
export const serviceOf = ({ metadata }: KubeObject): string[] => {
  const service = metadata.labels?.['kubernetes.io/service-name'];
  return service === undefined ? [] : [`${metadata.namespace}/${service}`];
};

/** Indexes that the store of Services must be made with. */
export const serviceIndexes = { 'as3-pool': poolLabelsOf };

/** Indexes that the store of EndpointSlices must be made with. */
export const endpointSliceIndexes = { service: serviceOf };

/** A use that may name its port, as the backend of an Ingress may. */
export interface Use extends PoolUse {
  portName?: string | undefined;
}

/**
 *   Service of the pool                     | members              | problem
 *   ----------------------------------------+----------------------+-------------------------
 *   the stores are not full yet             | not known: leave     |
 *   named, and there                        | of its port          | as `membersAt` says
 *   named, and known to be absent           | none                 | missing
 *   not named, one carries the labels       | of its port          | as `membersAt` says
 *   not named, several carry the labels     | of the oldest's port | taken by the oldest
 *   not named, none carries them            | none                 | missing
 */
export function supply(use: Use, origin: Origin, { services, endpointslices }: EndpointStores): Supply {
  if (!services.synced || !endpointslices.synced) return { origin, members: undefined };
  const named = use.service === undefined ? undefined : services.get({ namespace: use.namespace, name: use.service });
  const candidates = use.service === undefined ? [...services.by('as3-pool', use.labels)].sort(byAge) : [];
  const service = named ?? candidates[0];
  if (!service) return { origin, members: [], problem: absent(use) };
  const slices = [...endpointslices.by('service', nameOf(service))];
  const port = portOf(use, service);
  if (!port.ok) return { origin, members: [], problem: port.problem };
  const { members, problem } = membersAt(service, slices, port.value);
  return { origin, members, problem: problem ?? rivalry(candidates) };
}

function portOf({ portName, port }: Use, service: Service): Result<number> {
  if (portName === undefined) return ok(port);
  const ports = service.spec.ports ?? [];
  const named = ports.find(({ name }) => name === portName);
  if (named) return ok(named.port);
  const known = ports.map(({ name, port: number }) => name ?? number).join(', ') || 'none';
  return fail('invalid', `Service ${nameOf(service)} has no port named ${portName} (its ports: ${known})`);
}

const nameOf = ({ metadata }: KubeObject): string => `${metadata.namespace}/${metadata.name}`;

/** Oldest first: the creation time is RFC 3339 in UTC, so text order is time order. */
const byAge = (a: Service, b: Service): number => {
  const [first, second] = [a, b].map(({ metadata }) => `${metadata.creationTimestamp ?? ''} ${metadata.name}`);
  return (first ?? '') < (second ?? '') ? -1 : 1;
};

const absent = (use: PoolUse): Problem => ({
  code: 'missing',
  message:
    use.service === undefined
      ? `no Service in ${use.namespace} carries the labels cis.f5.com/as3-tenant, -app and -pool for ${use.ref.key}/${use.ref.pool}`
      : `Service ${use.namespace}/${use.service} is not there`,
});

function rivalry([oldest, ...others]: readonly Service[]): Problem | undefined {
  if (!oldest || others.length === 0) return undefined;
  const losers = others.map(nameOf).join(', ');
  return {
    code: 'taken',
    message: `Services ${losers} carry the labels of ${nameOf(oldest)}, which is older and gets the pool`,
  };
}
