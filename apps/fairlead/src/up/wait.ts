// Waiting until the quickstart carries traffic: tickets enabled and programmed, pods ready, members on the device.
import { deployments, pods } from '@fairlead/kube';
import { systemClock } from '../clock.ts';
import { memberAddresses } from './device-view.ts';
import type { Environment } from './environment.ts';
import type { Progress } from './progress.ts';

/** What is waited for, and what to say when it has not come in time. */
interface Wish {
  name: string;
  /** Undefined when it holds, else what is wanting. */
  wanting(): Promise<string | undefined> | string | undefined;
}

const patience = 60_000;
const between = 25;

/** Gives what did not come in time, as sentences. */
export async function untilCarried(environment: Environment, told: Progress): Promise<string[]> {
  const failures: string[] = [];
  for (const wish of wishes(environment)) {
    const wanting = await until(wish);
    if (wanting === undefined) told.done(wish.name);
    else {
      told.wrong(`${wish.name}: ${wanting}`);
      failures.push(`${wish.name}: ${wanting}`);
    }
  }
  return failures;
}

async function until(wish: Wish): Promise<string | undefined> {
  const end = systemClock.now() + patience;
  for (;;) {
    const wanting = await wish.wanting();
    if (wanting === undefined) return undefined;
    if (systemClock.now() > end) return `${wanting}, after ${patience / 1000} s`;
    await systemClock.sleep(between);
  }
}

function wishes({ stores, clusters, devices }: Environment): Wish[] {
  return [
    {
      name: 'pods are ready',
      wanting: async () => (await Promise.all([...clusters.values()].map(unready))).find((text) => text !== undefined),
    },
    {
      name: 'tickets are enabled',
      wanting: () =>
        wantingTicket(stores.lbtickets.all(), ({ status }) =>
          status?.process === 'enabled' ? undefined : (status?.process ?? 'not seen yet'),
        ),
    },
    {
      name: 'tickets are programmed on the device',
      wanting: () =>
        wantingTicket(stores.lbtickets.all(), ({ status }) => {
          const ready = status?.conditions?.find((condition) => condition.type === 'Ready');
          return ready?.status === 'True' ? undefined : (ready?.message ?? 'no condition Ready yet');
        }),
    },
    {
      name: 'pools have their members',
      wanting: async () => {
        const addresses = await memberAddresses(devices.ve.sim);
        const missing = (await Promise.all([...clusters.values()].map(readyAddresses)))
          .flat()
          .filter((address) => !addresses.has(address));
        return missing.length === 0 ? undefined : `${missing.length} ready pods are in no pool`;
      },
    },
  ];
}

type Ticket = Parameters<Parameters<typeof wantingTicket>[1]>[0];

function wantingTicket(
  tickets: Iterable<{
    metadata: { name: string };
    status?: { process?: string; conditions?: { type: string; status: string; message?: string }[] };
  }>,
  wanting: (ticket: typeof tickets extends Iterable<infer T> ? T : never) => string | undefined,
): string | undefined {
  const all = [...tickets];
  if (all.length === 0) return 'no ticket seen yet';
  for (const ticket of all as Ticket[]) {
    const text = wanting(ticket);
    if (text !== undefined) return `${ticket.metadata.name}: ${text}`;
  }
  return undefined;
}

type Client = Environment['management'];

async function unready(kube: Client): Promise<string | undefined> {
  const got = await kube.list(deployments);
  if (!got.ok) return got.problem.message;
  const waiting = got.value.items.find((one) => (one.status?.availableReplicas ?? 0) < (one.spec.replicas ?? 1));
  return (
    waiting &&
    `Deployment ${waiting.metadata.name} has ${waiting.status?.availableReplicas ?? 0} of ${waiting.spec.replicas ?? 1} pods`
  );
}

async function readyAddresses(kube: Client): Promise<string[]> {
  const got = await kube.list(pods);
  if (!got.ok) return [];
  return got.value.items
    .filter(
      (pod) =>
        pod.metadata.deletionTimestamp === undefined &&
        pod.status?.conditions?.some((c) => c.type === 'Ready' && c.status === 'True'),
    )
    .flatMap((pod) => pod.status?.podIP ?? []);
}
