// The server put together: a store over the given storage, the built-in kinds, the definitions found in it, and the controllers.
import { addresses, firstAddress } from './addresses.ts';
import { answerer } from './answer.ts';
import type { Token } from './auth.ts';
import { background } from './background.ts';
import type { Clock } from './clock.ts';
import type { Admit, Cluster } from './cluster.ts';
import { loadDefinitions } from './definitions.ts';
import { builtin } from './kinds/builtin.ts';
import { bootstrap } from './namespaces.ts';
import { own } from './own.ts';
import { registry } from './resource.ts';
import type { Storage } from './storage/storage.ts';
import { openStore } from './store.ts';

export interface ApiServerOptions {
  storage: Storage;
  clock: Clock;
  random(bytes: number): Uint8Array;
  /** What the cluster is called; for messages. */
  name: string;
  /** Who may come in. Members of `system:masters` may do everything; nobody comes in without a token. */
  tokens: readonly Token[];
  /** Asked about every write, in order. */
  admit?: Admit[];
  /** The range of service addresses; an IPv4 CIDR. `10.96.0.0/16` unless given. */
  serviceCidr?: string;
  /** How many past events of each resource a watch can start from; 10,000 unless given. */
  history?: number;
  /** Told of the server's own failures: bugs, and turns of its controllers that were refused. */
  report(message: string): void;
}

export interface ApiServer {
  /** A Kubernetes API server as a function; paths and headers count, the host does not. */
  answer(request: Request): Promise<Response>;
  /** Resolves when the server's own controllers have nothing left to do. */
  idle(): Promise<void>;
  /** Stops the controllers and closes the storage. Watches end when their requests are aborted. */
  close(): Promise<void>;
}

export async function apiServer(options: ApiServerOptions): Promise<ApiServer> {
  const { clock, random, tokens, report, serviceCidr = '10.96.0.0/16' } = options;
  const store = await openStore(options.storage, options.history ?? 10_000);
  const cluster: Cluster = {
    name: options.name,
    store,
    registry: registry(builtin()),
    clock,
    random,
    admit: options.admit ?? [],
    addresses: addresses({ serviceCidr, random }),
  };
  loadDefinitions(cluster);
  const writes = own(cluster);
  const controllers = background(cluster, writes, (message) => report(`${options.name}: ${message}`));
  await bootstrap(writes, firstAddress(serviceCidr));
  await controllers.idle();
  return {
    answer: answerer({ cluster, tokens, report: (message) => report(`${options.name}: ${message}`) }),
    idle: () => controllers.idle(),
    async close() {
      await controllers.close();
      await store.close();
    },
  };
}
