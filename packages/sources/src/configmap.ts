// AS3 ConfigMaps, and the Services and EndpointSlices their pools name: what F5's controllers read (spec/f5.md §1.3, §3).
import { askerOf, type LoadBalancer, type Origin, type PoolRef, type Result, type Scope } from '@fairlead/core';
import type { Change, ConfigMap, EndpointSlice, KubeObject, Namespace, Service, Store } from '@fairlead/kube';
import {
  annotations,
  fingerprint,
  isActive,
  originOf,
  readConfigMap,
  useId,
  withDigests,
  type PoolUse,
  type Reading,
  type ReadOptions,
} from './reading.ts';
import { secretsOf, type SecretOptions, type SecretPair, type Secrets } from './secrets.ts';
import { scopesOf, shelf } from './shelf.ts';
import type { Edit, Refusal, Source, Supply, Touch } from './source.ts';
import { poolLabelsOf, serviceOf, supply, type EndpointStores } from './supply.ts';

export interface ConfigMapOptions extends ReadOptions {
  /** Where certificates come from; without it they stay open, and no place takes them. */
  certificates?: SecretOptions | undefined;
  /** The cluster's name: the first part of what its objects are called in a place. */
  cluster: string;
  /** Only ConfigMaps annotated for this Loadbalancer, and those without the annotation; all when absent. */
  loadbalancer?: string | undefined;
  stores: EndpointStores & { configmaps: Store<ConfigMap>; namespaces: Store<Namespace> };
  /** Does the Loadbalancer's selector take this ConfigMap, in a namespace with these labels? */
  selects(configmap: ConfigMap, namespaceLabels: Readonly<Record<string, string>>): boolean;
}

/** Reads and listens from the moment it is made, until `close`. */
export const configmapSource = (options: ConfigMapOptions): Source => new ConfigMapSource(options);

/**
 * The life of what one ConfigMap says:
 *
 *             reads                         reads again
 *   (none) ---------> wanted, by application -----------> wanted
 *      ^                 |        ^                        |
 *      | deleted,        | does not parse                  | deleted, staged, not selected
 *      | staged          v        | mended                 v
 *      '-------------- held: what it had stays, its     (none): what it had goes
 *                      pools still follow their pods
 *
 * One that names a Secret nothing is known of yet is read again once something is; what it said before stays meanwhile.
 */
class ConfigMapSource implements Source {
  readonly name: string;
  readonly #options: ConfigMapOptions;
  readonly #shelf = shelf();
  /** By asker, what was read last: an edit of anything else is no edit. */
  readonly #prints = new Map<string, string>();
  readonly #listeners = new Set<(touch: Touch) => void>();
  readonly #closing = new AbortController();
  readonly #secrets: Secrets | undefined;
  /** By asker, ConfigMaps whose Secrets are not known yet. */
  readonly #waiting = new Map<string, ConfigMap>();
  /** Those that wait among the first: until they are read, what they have in a place is not known to be unwanted. */
  readonly #first = new Set<string>();
  #isTold = false;

  constructor(options: ConfigMapOptions) {
    const { cluster, loadbalancer, stores } = options;
    this.name = loadbalancer === undefined ? cluster : `${cluster}/${loadbalancer}`;
    this.#options = options;
    this.#secrets = options.certificates && secretsOf(options.certificates);
    this.#secrets?.listen((askers) => askers.forEach((asker) => this.#onSecret(asker)));
    for (const configmap of stores.configmaps.all()) this.#take(configmap, configmap);
    const stops = [
      stores.configmaps.listen((change) => this.#onConfigMap(change)),
      stores.namespaces.listen((change) => this.#onNamespace(change)),
      stores.services.listen((change) => this.#onService(change)),
      stores.endpointslices.listen((change) => this.#onSlice(change)),
    ];
    this.#closing.signal.addEventListener('abort', () => stops.forEach((stop) => stop()));
    // Structure need not wait for endpoints, nor endpoints for structure.
    void this.#whenReady([stores.configmaps, stores.namespaces], () => this.#tellFirst());
    void this.#whenReady([stores.services, stores.endpointslices], () => this.#tellAll());
  }

  get synced(): boolean {
    const { configmaps, namespaces } = this.#options.stores;
    return configmaps.synced && namespaces.synced && this.#first.size === 0;
  }

  /**
   *   the ConfigMap `asker` of this cluster | is ours
   *   --------------------------------------+------------------------------------------
   *   is there                              | unless annotated for another Loadbalancer
   *   is gone, and was `fairlead-<name>`    | when that is our Loadbalancer
   *   is gone, and had another name         | yes
   */
  owns(asker: string): boolean {
    const { cluster, loadbalancer, stores } = this.#options;
    const [home, namespace, name = ''] = asker.split('/');
    if (home !== cluster) return false;
    if (loadbalancer === undefined) return true;
    const present = stores.configmaps.get({ namespace, name });
    if (!present) return !name.startsWith('fairlead-') || name === `fairlead-${loadbalancer}`;
    return (present.metadata.annotations?.[annotations.loadbalancer] ?? loadbalancer) === loadbalancer;
  }

  scopes(): Iterable<Scope> {
    return this.#shelf.scopes();
  }

  wanted(scope: Scope): LoadBalancer[] {
    return this.#shelf.inScope(scope).flatMap(({ balancers }) => balancers.filter((one) => one.scope === scope));
  }

  pools(scope: Scope): PoolRef[] {
    const uses = this.#shelf.inScope(scope).flatMap((reading) => [...reading.uses.values()]);
    return uses.map(({ ref }) => ref).filter((ref) => ref.scope === scope);
  }

  edits(): Edit[] {
    return [...this.#shelf.all()].map((reading) => ({ origin: reading.origin, scopes: [...scopesOf(reading)] }));
  }

  origin(asker: string): Origin | undefined {
    return this.#shelf.get(asker)?.origin;
  }

  refusals(asker?: string): Refusal[] {
    const readings = asker === undefined ? [...this.#shelf.troubled()] : [this.#shelf.get(asker)];
    return readings.flatMap((reading) => reading?.refusals ?? []);
  }

  supply(pool: PoolRef, asker: string): Supply | undefined {
    const reading = this.#shelf.get(asker);
    const use = reading?.uses.get(useId(pool));
    return reading && use && supply(use, reading.origin, this.#options.stores);
  }

  certificate(asker: string, secret: string): Result<SecretPair> | undefined {
    const reading = this.#shelf.get(asker);
    const isNamed = reading && [...reading.secrets.values()].some((names) => names.includes(secret));
    return isNamed ? this.#secrets?.read({ namespace: reading.origin.namespace, name: secret }) : undefined;
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

  async #whenReady(stores: { ready(signal?: AbortSignal): Promise<void> }[], then: () => void): Promise<void> {
    await Promise.all(stores.map((store) => store.ready(this.#closing.signal)));
    if (!this.#closing.signal.aborted) then();
  }

  /** Once all that was there when we came is read. */
  #tellFirst(): void {
    if (this.#isTold || !this.synced) return;
    this.#isTold = true;
    this.#tellAll();
  }

  #tellAll(): void {
    const scopes = [...this.scopes()];
    this.#tell({ scopes, pools: scopes.flatMap((scope) => this.pools(scope)), edits: this.edits() });
  }

  #tell(touch: Touch): void {
    for (const listener of this.#listeners) listener(touch);
  }

  #isOurs(configmap: ConfigMap): boolean {
    const { loadbalancer, selects, stores } = this.#options;
    const named = configmap.metadata.annotations?.[annotations.loadbalancer];
    if (!isActive(configmap) || (named !== undefined && loadbalancer !== undefined && named !== loadbalancer))
      return false;
    const namespace = stores.namespaces.get({ name: configmap.metadata.namespace ?? '' });
    return selects(configmap, namespace?.metadata.labels ?? {});
  }

  /** Takes `configmap` in as it is now, or out when it is gone or no longer ours. */
  #take(named: ConfigMap, now: ConfigMap | undefined): void {
    const origin = originOf(this.#options.cluster, named);
    const asker = askerOf(origin);
    const live = now && this.#isOurs(now) ? now : undefined;
    const print = live && fingerprint(live);
    if (this.#prints.get(asker) === print && !this.#waiting.has(asker)) return;
    const last = this.#shelf.get(asker);
    // One that was deleted and made again is another object: it has no good past.
    const past = last?.origin.uid === origin.uid ? last : undefined;
    const reading = live && readConfigMap(live, origin, this.#options, past);
    if (live && reading && !this.#nameSecrets(asker, reading)) return this.#wait(asker, live);
    if (!reading) this.#secrets?.name(asker, origin.namespace, []);
    this.#waiting.delete(asker);
    const touch = this.#shelf.put(asker, reading && this.#pinned(reading));
    if (print === undefined) this.#prints.delete(asker);
    else this.#prints.set(asker, print);
    this.#tell(touch);
    if (this.#first.delete(asker)) this.#tellFirst();
  }

  /** Follows the Secrets that `reading` names. Is something known of each? */
  #nameSecrets(asker: string, { secrets, origin }: Reading): boolean {
    const names = [...new Set([...secrets.values()].flat())];
    return this.#secrets?.name(asker, origin.namespace, names) ?? true;
  }

  #wait(asker: string, configmap: ConfigMap): void {
    this.#waiting.set(asker, configmap);
    if (!this.#isTold) this.#first.add(asker);
  }

  #pinned(reading: Reading): Reading {
    const { namespace } = reading.origin;
    return withDigests(reading, (name) => {
      const pair = this.#secrets?.read({ namespace, name });
      return pair?.ok ? pair.value.digest : undefined;
    });
  }

  /** A Secret that `asker` names holds something else, or is known at last. */
  #onSecret(asker: string): void {
    const waiting = this.#waiting.get(asker);
    if (waiting) return this.#take(waiting, waiting);
    const reading = this.#shelf.get(asker);
    if (reading) this.#tell(this.#shelf.put(asker, this.#pinned(reading)));
  }

  #onConfigMap({ before, after }: Change<ConfigMap>): void {
    const either = after ?? before;
    if (either) this.#take(either, after);
  }

  #onNamespace({ before, after }: Change<Namespace>): void {
    const name = (after ?? before)?.metadata.name ?? '';
    if (isSameLabels(before, after)) return;
    for (const configmap of this.#options.stores.configmaps.inNamespace(name)) this.#take(configmap, configmap);
  }

  #onService({ before, after }: Change<Service>): void {
    const names = new Set([before, after].flatMap((one) => (one ? nameOf(one) : [])));
    const labels = new Set([before, after].flatMap((one) => (one ? poolLabelsOf(one) : [])));
    const named = [...names].flatMap((name) => [...this.#shelf.byService(name)]);
    this.#touch([...named, ...[...labels].flatMap((one) => [...this.#shelf.byLabels(one)])]);
  }

  #onSlice({ before, after }: Change<EndpointSlice>): void {
    const names = new Set([before, after].flatMap((one) => (one ? serviceOf(one) : [])));
    this.#touch([...names].flatMap((name) => this.#usesOf(name)));
  }

  #usesOf(name: string): PoolUse[] {
    const [namespace, ...rest] = name.split('/');
    const service = this.#options.stores.services.get({ namespace, name: rest.join('/') });
    const labels = service ? poolLabelsOf(service) : [];
    return [...this.#shelf.byService(name), ...labels.flatMap((one) => [...this.#shelf.byLabels(one)])];
  }

  #touch(uses: readonly PoolUse[]): void {
    if (uses.length > 0) this.#tell({ scopes: [], pools: uses.map(({ ref }) => ref), edits: [] });
  }
}

const nameOf = ({ metadata }: KubeObject): string => `${metadata.namespace}/${metadata.name}`;

const isSameLabels = (a: KubeObject | undefined, b: KubeObject | undefined): boolean =>
  JSON.stringify(a?.metadata.labels) === JSON.stringify(b?.metadata.labels) && (a === undefined) === (b === undefined);
