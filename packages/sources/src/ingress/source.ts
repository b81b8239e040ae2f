// F5 Ingresses (spec/tickets.md §8): those of one ticket share its address, so they are one load balancer together.
import { claimOf, type Lbticket, type VipClaim } from '@fairlead/api';
import {
  askerOf,
  crc32,
  fail,
  type LoadBalancer,
  type Origin,
  type PoolRef,
  type Result,
  type Scope,
} from '@fairlead/core';
import type { Change, EndpointSlice, Ingress, Service, Store } from '@fairlead/kube';
import type { Edit, Refusal, Source, Supply, Touch } from '../source.ts';
import { secretsOf, type SecretOptions, type SecretPair, type Secrets } from '../secrets.ts';
import { serviceOf, supply, type EndpointStores, type Use } from '../supply.ts';
import { isHeld, placedPorts, portsIn, withPorts, type Front } from './front.ts';
import { merge, type Merged } from './group.ts';
import {
  aloneOf,
  balancerOf,
  createdAt,
  groupName,
  idOf,
  keyOf,
  nameOf,
  placeOf,
  serviceIn,
  ticketIn,
  usesOf,
} from './names.ts';
import type { Group, IngressGroup, IngressMember, Ports } from './asked.ts';
import { readIngress, type IngressReading } from './reading.ts';

export interface IngressOptions {
  /** The cluster's name: the first part of what its objects are called in a place. */
  cluster: string;
  loadbalancer: string;
  stores: EndpointStores & {
    /** With the index `ticket` of `ingressIndexes`. */
    ingresses: Store<Ingress>;
    /** Of the management cluster: an Ingress gets what its ticket has, whatever its annotations say. */
    lbtickets: Store<Lbticket>;
  };
  /** Would the place take it? Asked of each Ingress alone, so that none spoils another. */
  accepts?: ((lb: LoadBalancer) => Result<unknown>) | undefined;
  /** The partition of the Loadbalancer for that namespace: a claim of another one is forged, or late. Absent: all of them. */
  partition?: ((namespace: string) => string) | undefined;
  /** Where certificates come from; without it they stay open, and no place takes them. */
  certificates?: SecretOptions | undefined;
  /** The layer before the place, when it is ours to configure as well. */
  front?: Front | undefined;
  /** Is the Ingress on its way out, so that nothing of it is to be wanted, though its claim stands? */
  isLeaving?: ((ingress: Ingress) => boolean) | undefined;
  /** Told of a ticket whose Ingresses ask for something else; without one, of any. */
  changed?: ((ticket?: string) => void) | undefined;
}

export interface IngressSource extends Source {
  /** Of the address of a ticket (`namespace/name`), those that its Ingresses want to be served on. */
  portsOf(ticket: string): Ports;
  /** The group of that name, as origins and places have it. */
  group(asker: string): IngressGroup | undefined;
}

/** Reads and listens from the moment it is made, until `close`. */
export const ingressSource = (options: IngressOptions): IngressSource => new Ingresses(options);

interface Good {
  uid: string;
  reading: IngressReading;
}

/**
 *   an Ingress with a claim  | its ticket           | then
 *   -------------------------+----------------------+---------------------------------------------------
 *   wanted                   | enabled, ours, there | its routes are in
 *   wanted                   | anything else        | none are: it is told to wait for its ticket
 *   not wanted               | any                  | none are: told `gone` once the place says so
 *   wanted, cannot be read   | enabled, ours, there | what was read last stays; told why
 *   the same, never read     | enabled, ours, there | the whole group stays as it is in the place
 */
class Ingresses implements IngressSource {
  readonly name: string;
  readonly #options: IngressOptions;
  readonly #groups = new Map<string, Group>();
  readonly #good = new Map<string, Good>();
  readonly #readings = new WeakMap<Ingress, Result<IngressReading>>();
  readonly #byService = new Map<string, Map<string, Use>>();
  readonly #listeners = new Set<(touch: Touch) => void>();
  readonly #closing = new AbortController();

  constructor(options: IngressOptions) {
    const { cluster, loadbalancer, stores } = options;
    this.name = `${cluster}/${loadbalancer} Ingresses`;
    this.#options = options;
    this.#secrets = options.certificates && secretsOf(options.certificates);
    this.#secrets?.listen((askers) => askers.forEach((asker) => this.#take(ticketIn(asker))));
    const stops = [
      stores.ingresses.listen((change) => this.#onIngress(change)),
      stores.lbtickets.listen((change) => this.#onTicket(change)),
      stores.services.listen((change) => this.#onService(change)),
      stores.endpointslices.listen((change) => this.#onSlice(change)),
      options.front?.listen((ticket) => this.#onFront(ticket)) ?? (() => undefined),
    ];
    this.#closing.signal.addEventListener('abort', () => stops.forEach((stop) => stop()));
    void this.#begin();
  }

  /** Tickets decide what an Ingress may have, so nothing is known before both are. */
  get synced(): boolean {
    return this.#options.stores.ingresses.synced && this.#options.stores.lbtickets.synced && this.#isBegun;
  }

  readonly #secrets: Secrets | undefined;
  #isBegun = false;

  async #begin(): Promise<void> {
    const { ingresses, lbtickets, services, endpointslices } = this.#options.stores;
    const { signal } = this.#closing;
    await Promise.all([ingresses.ready(signal), lbtickets.ready(signal)]);
    if (signal.aborted) return;
    this.#isBegun = true;
    const tickets = new Set([...ingresses.all()].flatMap((one) => claimOf(one)?.ticket ?? []));
    for (const ticket of tickets) this.#take(ticket);
    this.#tell(this.#everything());
    this.#options.changed?.();
    await Promise.all([services.ready(signal), endpointslices.ready(signal)]);
    if (!signal.aborted) this.#tell({ ...this.#everything(), edits: [] });
  }

  #everything(): Touch {
    const scopes = [...this.scopes()];
    return { scopes, pools: scopes.flatMap((scope) => this.pools(scope)), edits: this.edits() };
  }

  /** Groups have names that no Kubernetes object can have, and a Loadbalancer has its own. */
  owns(asker: string): boolean {
    const [home, , name = ''] = asker.split('/');
    return home === this.#options.cluster && name.startsWith(`fairlead-${this.#options.loadbalancer}:`);
  }

  scopes(): Set<Scope> {
    return new Set([...this.#groups.values()].map(({ scope }) => scope));
  }

  wanted(scope: Scope): LoadBalancer[] {
    return this.#in(scope).flatMap(({ balancer }) => balancer ?? []);
  }

  pools(scope: Scope): PoolRef[] {
    return this.#in(scope).flatMap(({ uses }) => [...uses.values()].map(({ ref }) => ref));
  }

  edits(): Edit[] {
    return [...this.#groups.values()].map(({ origin, scope }) => ({ origin, scopes: [scope] }));
  }

  origin(asker: string): Origin | undefined {
    return this.group(asker)?.origin;
  }

  refusals(asker?: string): Refusal[] {
    const groups = asker === undefined ? [...this.#groups.values()] : [this.#groups.get(ticketIn(asker))];
    return groups.flatMap((group) => group?.refusal ?? []);
  }

  supply(pool: PoolRef, asker: string): Supply | undefined {
    const group = this.#groups.get(ticketIn(asker));
    const use = group?.uses.get(pool.pool);
    if (!group || !use || use.ref.key !== pool.key) return undefined;
    return supply(use, group.origin, this.#options.stores);
  }

  certificate(asker: string, secret: string): Result<SecretPair> | undefined {
    const group = this.owns(asker) ? this.#groups.get(ticketIn(asker)) : undefined;
    return group?.secrets.includes(secret)
      ? this.#secrets?.read({ namespace: group.origin.namespace, name: secret })
      : undefined;
  }

  group(asker: string): IngressGroup | undefined {
    return this.owns(asker) ? this.#groups.get(ticketIn(asker)) : undefined;
  }

  portsOf(ticket: string): Ports {
    if (!this.synced) return undefined;
    const { balancer, refusal } = this.#groups.get(ticket) ?? {};
    return refusal ? undefined : portsIn(balancer);
  }

  listen(listener: (touch: Touch) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  close(): void {
    this.#closing.abort();
    this.#secrets?.close();
    this.#listeners.clear();
  }

  #in(scope: Scope): Group[] {
    return [...this.#groups.values()].filter((group) => group.scope === scope);
  }

  #tell(touch: Touch): void {
    for (const listener of this.#listeners) listener(touch);
  }

  #onIngress({ before, after }: Change<Ingress>): void {
    if (!this.#isBegun) return;
    const tickets = [before, after].map((one) => one && claimOf(one)?.ticket);
    for (const ticket of new Set(tickets)) if (ticket !== undefined) this.#take(ticket);
    if (!after && before) this.#good.delete(nameOf(before));
  }

  #onTicket({ before, after }: Change<Lbticket>): void {
    const ticket = after ?? before;
    if (this.#isBegun && ticket && this.#groups.has(nameOf(ticket))) this.#take(nameOf(ticket));
  }

  #onFront(ticket: string): void {
    if (this.#isBegun && this.#groups.has(ticket)) this.#take(ticket);
  }

  /** Puts together anew what the Ingresses of `ticket` ask for, and tells what of it is another thing than before. */
  #take(ticket: string): void {
    const before = this.#groups.get(ticket);
    const read = this.#read(ticket);
    const had = before ? before.ports : read && placedPorts(read.members.map(({ ingress }) => ingress));
    const wanted = read?.refusal ? undefined : portsIn(read?.balancer);
    const waits = isHeld(this.#options.front, ticket, { had, wanted });
    // Those that were there before stay, members of their pools included; after a restart the place alone knows them.
    if (before && waits) return;
    const after = read && this.#options.front ? withPorts(read, { had, waits }) : read;
    if (before && after && before.origin.revision === after.origin.revision) return;
    for (const use of before?.uses.values() ?? []) this.#byService.get(serviceIn(use))?.delete(idOf(use));
    if (after) this.#groups.set(ticket, after);
    else {
      this.#groups.delete(ticket);
      if (before) this.#secrets?.name(askerOf(before.origin), before.origin.namespace, []);
    }
    for (const use of after?.uses.values() ?? []) {
      const uses = this.#byService.get(serviceIn(use)) ?? new Map<string, Use>();
      this.#byService.set(serviceIn(use), uses.set(idOf(use), use));
    }
    const scopes = [...new Set([before, after].flatMap((group) => group?.scope ?? []))];
    const refs = [before, after].flatMap((group) => [...(group?.uses.values() ?? [])].map(({ ref }) => ref));
    const pools = [...new Map(refs.map((ref) => [`${ref.key} ${ref.pool}`, ref])).values()];
    this.#tell({ scopes, pools, edits: after ? [{ origin: after.origin, scopes }] : [] });
    this.#options.changed?.(ticket);
  }

  #read(ticket: string): Group | undefined {
    const { cluster, loadbalancer, stores } = this.#options;
    const found = [...stores.ingresses.by('ticket', ticket)].filter((one) => claimOf(one)?.ticket === ticket);
    const [lbticket, home] = [stores.lbtickets.get(placeOf(ticket)), found[0]?.metadata.namespace ?? ''];
    // A ticket is for one namespace; who claims it from another has forged the claim, or is late.
    const space = lbticket?.spec.namespace ?? home;
    const own = found.filter((one) => one.metadata.namespace === space);
    const name = groupName(loadbalancer, ticket);
    const members = own.flatMap((ingress) => this.#member(ingress, lbticket));
    const [first] = members;
    if (!first || (lbticket && lbticket.spec.loadbalancer !== loadbalancer)) return undefined;
    const { partition, ip } = first.claim;
    const base = { cluster, kind: 'Ingress', namespace: space, name, uid: lbticket?.metadata.uid ?? ticket };
    const key = keyOf(partition, ticket);
    const readings = members.flatMap(({ ingress, claim, isWaiting }) => {
      const reading = claim.wanted && !isWaiting ? this.#good.get(nameOf(ingress))?.reading : undefined;
      return reading ? [{ name: ingress.metadata.name, created: createdAt(ingress), reading }] : [];
    });
    const merged = merge({ name: placeOf(ticket).name, address: ip, members: readings });
    for (const member of members) member.notes.push(...(merged.notes.get(member.ingress.metadata.name) ?? []));
    const { secrets, digests, isReading } = this.#secretsOf(merged, base);
    const told = members.map(({ ingress: { metadata }, ...rest }) => [metadata.uid, rest]);
    const revision = crc32(JSON.stringify([merged, ip, digests, isReading, told])).toString(16);
    const origin: Origin = {
      ...base,
      created: Math.min(...members.map(({ ingress }) => createdAt(ingress))),
      revision,
    };
    const unread = isReading
      ? fail('busy', 'the Secrets of its certificates are not read yet').problem
      : members.find(({ ingress, problem }) => problem && !this.#good.has(nameOf(ingress)) && isServed(ingress))
          ?.problem;
    const at = { scope: partition, key };
    const balancer = { ...balancerOf(origin, at, merged), ...(secrets.length > 0 && { secrets: digests }) };
    return {
      origin,
      scope: partition,
      members,
      secrets,
      isReading,
      users: merged.users,
      uses: usesOf(origin, at, merged),
      ...(unread ? { refusal: { origin, key, problem: unread } } : merged.listeners.length > 0 && { balancer }),
    };
  }

  /** The Secrets that its listeners name, followed from now on, and what those that can be used hold. */
  #secretsOf({ listeners }: Merged, base: Pick<Origin, 'cluster' | 'namespace' | 'name'>) {
    const { namespace } = base;
    const named = listeners.flatMap(({ tls }) =>
      tls ? [tls.secretName, ...(tls.sni ?? []).map((one) => one.secretName)] : [],
    );
    const secrets = [...new Set(named)].sort();
    const isReading = !(this.#secrets?.name(askerOf(base), namespace, secrets) ?? true);
    const pairs = secrets.flatMap((name) => {
      const pair = this.#secrets?.read({ namespace, name });
      return pair?.ok ? [[name, pair.value.digest] as const] : [];
    });
    return { secrets, isReading, digests: Object.fromEntries(pairs) };
  }

  /** Reads the Ingress, and remembers it when it is good. One whose claim is another's address is none of the group. */
  #member(ingress: Ingress, ticket: Lbticket | undefined): IngressMember[] {
    const claim = claimOf(ingress);
    if (!claim) return [];
    const member = { ingress, claim, notes: [], isWaiting: false };
    if (!claim.wanted) return [member];
    const { partition = () => claim.partition } = this.#options;
    if (claim.partition !== partition(ingress.metadata.namespace ?? '')) return [{ ...member, isWaiting: true }];
    if (ticket?.status?.process !== 'enabled' || ticket.spec.lbtype !== 'ingress' || ticket.status.veip !== claim.ip)
      return [{ ...member, isWaiting: true }];
    if (this.#options.isLeaving?.(ingress)) return [{ ...member, isWaiting: true }];
    const reading = this.#accepted(ingress, claim);
    if (!reading.ok) {
      const known = this.#good.get(nameOf(ingress));
      if (known && known.uid !== ingress.metadata.uid) this.#good.delete(nameOf(ingress));
      return [{ ...member, problem: reading.problem }];
    }
    this.#good.set(nameOf(ingress), { uid: ingress.metadata.uid ?? '', reading: reading.value });
    return [member];
  }

  /** Each edit is read once, however often its neighbours change. */
  #accepted(ingress: Ingress, claim: VipClaim): Result<IngressReading> {
    const known = this.#readings.get(ingress) ?? this.#readAlone(ingress, claim);
    this.#readings.set(ingress, known);
    return known;
  }

  #readAlone(ingress: Ingress, { partition, ip, ticket }: VipClaim): Result<IngressReading> {
    const reading = readIngress(ingress);
    if (!reading.ok || !this.#options.accepts) return reading;
    const accepted = this.#options.accepts(aloneOf(this.#options.cluster, { partition, ip, ticket }, reading.value));
    return accepted.ok ? reading : accepted;
  }

  #onService({ before, after }: Change<Service>): void {
    const service = after ?? before;
    if (service) this.#touchService(nameOf(service));
  }

  #onSlice({ before, after }: Change<EndpointSlice>): void {
    for (const name of new Set([before, after].flatMap((one) => (one ? serviceOf(one) : [])))) this.#touchService(name);
  }

  #touchService(name: string): void {
    const uses = [...(this.#byService.get(name)?.values() ?? [])];
    if (uses.length > 0) this.#tell({ scopes: [], pools: uses.map(({ ref }) => ref), edits: [] });
  }
}

/** Did the agent say that it is on the device? It may be there still after a restart of ours. */
const isServed = ({ status }: Ingress): boolean => (status?.loadBalancer?.ingress ?? []).length > 0;
