// The server put together: a store over the given storage, the built-in kinds, the definitions found in it, and the controllers.
import { addresses, firstAddress } from './addresses.ts';
import { answerer } from './answer.ts';
import { accountTokens } from './access/account-tokens.ts';
import type { Peer, Token } from './access/authenticate.ts';
import { clientCertificates } from './access/client-certificates.ts';
import { background } from './background.ts';
import type { Clock } from './clock.ts';
import type { Admit, Cluster } from './cluster.ts';
import { loadDefinitions } from './definitions.ts';
import { builtin } from './kinds/builtin.ts';
import { bootstrap } from './namespaces.ts';
import { own } from './own.ts';
import { registry } from './resource.ts';
import { send, type Send } from './send.ts';
import type { Storage } from './storage/storage.ts';
import { openStore } from './store.ts';

export interface ApiServerOptions {
  storage: Storage;
  clock: Clock;
  random(bytes: number): Uint8Array;
  /** What the cluster is called; for messages. */
  name: string;
  /** Who may come in by a token; members of `system:masters` may do everything. Without a token one is `system:anonymous`. */
  tokens: readonly Token[];
  /** PEM of the authority whose client certificates are believed (CN is the user, each O a group); none are unless given. */
  clientAuthority?: string;
  /** PEM of the authority behind the server's own certificate: every namespace has it in the ConfigMap kube-root-ca.crt. */
  authority?: string;
  /** How webhooks and kubelets are called; over HTTPS unless given. */
  send?: Send;
  /** Asked about every write, in order, after the mutating webhooks; told to the client only when schema and rules have nothing to say. */
  admit?: Admit[];
  /** The range of service addresses; an IPv4 CIDR. `10.96.0.0/16` unless given. */
  serviceCidr?: string;
  /** Endpoints and EndpointSlices may hold loopback addresses, which Kubernetes refuses: for simulated pods that listen there. */
  loopbackEndpoints?: boolean;
  /** How many past events of each resource a watch can start from; 10,000 unless given. */
  history?: number;
  /** Told of the server's own failures: bugs, and turns of its controllers that were refused. */
  report(message: string): void;
}

export interface ApiServer {
  /** A Kubernetes API server as a function; paths and headers count, the host does not. `peer` is what the connection tells. */
  answer(request: Request, peer?: Peer): Promise<Response>;
  /** Resolves when the server's own controllers have nothing left to do. */
  idle(): Promise<void>;
  /** Stops the controllers and closes the storage. Watches end when their requests are aborted. */
  close(): Promise<void>;
}

export async function apiServer(options: ApiServerOptions): Promise<ApiServer> {
  const { clock, random, tokens, clientAuthority, serviceCidr = '10.96.0.0/16' } = options;
  const report = (message: string) => options.report(`${options.name}: ${message}`);
  const store = await openStore(options.storage, options.history ?? 10_000);
  const cluster: Cluster = {
    name: options.name,
    store,
    registry: registry(builtin({ loopbackEndpoints: options.loopbackEndpoints ?? false })),
    clock,
    random,
    admit: options.admit ?? [],
    addresses: addresses({ serviceCidr, random }),
    send: options.send ?? send,
    authority: options.authority,
    report,
  };
  const authenticators = {
    tokens,
    accounts: accountTokens(cluster),
    certificates: clientAuthority === undefined ? undefined : clientCertificates(clientAuthority, clock),
  };
  loadDefinitions(cluster);
  const writes = own(cluster);
  const controllers = background(cluster, writes, report);
  await bootstrap(writes, firstAddress(serviceCidr));
  await controllers.idle();
  return {
    answer: answerer({ cluster, authenticators, report }),
    idle: () => controllers.idle(),
    async close() {
      await controllers.close();
      await store.close();
    },
  };
}
