// The F5 Ingresses of tickets for commands that only look: those of the target clusters, with those of files in their place.
import { ticketOfIngress, type Lbticket, type Loadbalancer } from '@fairlead/api';
import { compile } from '@fairlead/as3';
import { fail, ok, type Result } from '@fairlead/core';
import { ingresses, secrets, type Ingress, type Kube } from '@fairlead/kube';
import type { Connected } from '@fairlead/kube/node';
import { readOnce, type OnceAnswer } from '@fairlead/sources';
import { partitionOf, ticketName } from '@fairlead/tickets';
import { clustersLabel, entriesOf } from './clusters/entries.ts';
import { connectTo, kubeconfigOpener } from './connect.ts';
import { contextsWanted, type ClusterOptions } from './contexts.ts';
import { nameOf, over, type Wishes } from './wishes.ts';

export interface TargetOptions extends ClusterOptions {
  /** Of the Secrets that register clusters. */
  namespace: string;
}

export interface IngressReader {
  /** What the Ingresses of `ticket` ask for together on the address `ip`. */
  read(ticket: Lbticket, loadbalancer: Loadbalancer, ip: string): Promise<Result<OnceAnswer>>;
  close(): Promise<void>;
}

/** `management`: undefined to read the files alone. Each cluster and namespace is asked once. */
export function ingressReader(
  management: Kube | undefined,
  wishes: Pick<Wishes, 'ingresses'>,
  options: TargetOptions,
): IngressReader {
  const clients = new Map<string, Promise<Result<Client>>>();
  const lists = new Map<string, Promise<Result<Ingress[]>>>();

  const list = async (kube: Kube, cluster: string, namespace: string): Promise<Result<Ingress[]>> => {
    const known = clients.get(cluster) ?? clientOf(kube, cluster, options);
    clients.set(cluster, known);
    const client = await known;
    if (!client.ok) return client;
    const got = await client.value.kube.list(ingresses, { namespace });
    return got.ok ? ok(got.value.items) : fail(got.problem.code, `cluster "${cluster}": ${got.problem.message}`);
  };

  return {
    async read(ticket, loadbalancer, ip) {
      const { namespace } = ticket.spec;
      const { cluster } = loadbalancer.spec;
      const key = `${cluster}/${namespace}`;
      const listed = lists.get(key) ?? (management ? list(management, cluster, namespace) : Promise.resolve(ok([])));
      lists.set(key, listed);
      const found = await listed;
      if (!found.ok) return found;
      return ok(
        readOnce({
          cluster,
          loadbalancer: loadbalancer.metadata.name,
          ticket: ticketName(ticket),
          namespace,
          partition: partitionOf(loadbalancer, namespace),
          ip,
          ingresses: withFiles(found.value, wishes, namespace).filter((one) => isOf(one, ticket)),
          accepts: compile,
        }),
      );
    },
    async close() {
      for (const client of clients.values()) {
        const made = await client;
        if (made.ok) await made.value.close();
      }
    },
  };
}

const isOf = (ingress: Ingress, ticket: Lbticket): boolean =>
  ticketOfIngress(ingress) === ticketName(ticket) && ingress.metadata.deletionTimestamp === undefined;

function withFiles(listed: readonly Ingress[], { ingresses }: Pick<Wishes, 'ingresses'>, namespace: string): Ingress[] {
  const all = new Map(listed.map((one) => [nameOf(one), one]));
  for (const [name, one] of ingresses)
    if (one.metadata.namespace === namespace) all.set(name, over(all.get(name), one));
  return [...all.values()];
}

interface Client {
  kube: Kube;
  close(): Promise<void>;
}

/** As `run` finds it: a context, or else a Secret that registers it. */
async function clientOf(management: Kube, cluster: string, options: TargetOptions): Promise<Result<Client>> {
  const contexts = contextsWanted(options);
  if (!contexts.ok) return contexts;
  const context = contexts.value.get(cluster);
  if (context !== undefined) return of(cluster, await connectTo(options.kubeconfig, context));
  const { namespace } = options;
  const found = await management.list(secrets, { namespace, labelSelector: clustersLabel });
  if (!found.ok) return fail(found.problem.code, `the Secrets that register clusters: ${found.problem.message}`);
  const entry = entriesOf([], found.value.items).wanted.get(cluster);
  if (!entry)
    return fail(
      'missing',
      `cluster "${cluster}" is not known here, so its Ingresses cannot be read: give --cluster ${cluster}=CONTEXT, or register it with fairlead cluster add`,
    );
  const { text = '', from } = entry;
  if (text === '') return ok({ kube: management, close: () => Promise.resolve() });
  return of(cluster, await kubeconfigOpener((line) => void process.stderr.write(`fairlead: ${line}\n`))(text, from));
}

const of = (cluster: string, connected: Result<Connected>): Result<Client> =>
  connected.ok ? connected : fail(connected.problem.code, `cluster "${cluster}": ${connected.problem.message}`);
