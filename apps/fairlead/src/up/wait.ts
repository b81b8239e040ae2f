// Waiting until the quickstart carries traffic: tickets enabled and programmed, pods ready, members on the device.
import type { Lbticket } from '@fairlead/api';
import { deployments, pods, type Kube } from '@fairlead/kube';
import { systemClock } from '../clock.ts';
import { memberAddresses } from './device-view.ts';
import { managementName, type Environment } from './environment.ts';
import type { Progress } from './progress.ts';
import { namesOf, type Applied } from './quickstart.ts';

/** What is waited for, and what to say when it has not come in time. */
interface Wish {
  name: string;
  /** Undefined when it holds, else what is wanting. */
  wanting(): Promise<string | undefined> | string | undefined;
}

const patience = 60_000;
const between = 25;

/** Gives what did not come in time, as sentences. */
export async function untilCarried(question: Question, told: Pick<Progress, 'done' | 'wrong'>): Promise<string[]> {
  const failures: string[] = [];
  for (const wish of wishes(question)) {
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

interface Question {
  environment: Environment;
  applied: Applied;
}

/** Only what was applied is waited for: a kept environment may hold anything else. */
function wishes({ environment, applied }: Question): Wish[] {
  const names = namesOf(applied, managementName, 'Lbticket');
  const own = () => [...environment.stores.lbtickets.all()].filter(({ metadata }) => names.has(metadata.name));
  return [
    {
      name: 'pods are ready',
      wanting: () => firstWanting(environment, (name, kube) => unready(kube, namesOf(applied, name, 'Deployment'))),
    },
    {
      name: 'tickets are enabled',
      wanting: () =>
        wantingTicket(own(), ({ status }) =>
          status?.process === 'enabled' ? undefined : (status?.process ?? 'not seen yet'),
        ),
    },
    {
      name: 'tickets are programmed on the device',
      wanting: () =>
        wantingTicket(own(), ({ status }) => {
          const ready = status?.conditions?.find((condition) => condition.type === 'Ready');
          return ready?.status === 'True' ? undefined : (ready?.message ?? 'no condition Ready yet');
        }),
    },
    {
      name: 'pools have their members, and monitors find them up',
      wanting: async () => {
        const members = await memberAddresses(environment.devices.ve.sim, 'up');
        return firstWanting(environment, async (name, kube) => {
          const ready = await readyAddresses(kube, namesOf(applied, name, 'Deployment'));
          const missing = ready.filter((address) => !members.has(address));
          return missing.length === 0
            ? undefined
            : `${missing.length} ready pods in ${name} are in no pool, or their monitor has not found them up`;
        });
      },
    },
  ];
}

async function firstWanting(
  { clusters }: Environment,
  wanting: (name: string, kube: Kube) => Promise<string | undefined>,
): Promise<string | undefined> {
  const answers = await Promise.all([...clusters].map(([name, kube]) => wanting(name, kube)));
  return answers.find((text) => text !== undefined);
}

function wantingTicket(
  tickets: readonly Lbticket[],
  wanting: (ticket: Lbticket) => string | undefined,
): string | undefined {
  if (tickets.length === 0) return 'no ticket seen yet';
  for (const ticket of tickets) {
    const text = wanting(ticket);
    if (text !== undefined) return `${ticket.metadata.name}: ${text}`;
  }
  return undefined;
}

async function unready(kube: Kube, names: ReadonlySet<string>): Promise<string | undefined> {
  const got = await kube.list(deployments);
  if (!got.ok) return got.problem.message;
  const waiting = got.value.items.find(
    ({ metadata, spec, status }) => names.has(metadata.name) && (status?.availableReplicas ?? 0) < (spec.replicas ?? 1),
  );
  return (
    waiting &&
    `Deployment ${waiting.metadata.name} has ${waiting.status?.availableReplicas ?? 0} of ${waiting.spec.replicas ?? 1} pods`
  );
}

/** Of the ready pods of these Deployments, which label their pods `app` with their own name. */
async function readyAddresses(kube: Kube, names: ReadonlySet<string>): Promise<string[]> {
  const got = await kube.list(pods);
  if (!got.ok) throw new Error(`bug: our own cluster cannot be asked: ${got.problem.message}`);
  return got.value.items
    .filter(({ metadata }) => names.has(metadata.labels?.['app'] ?? '') && metadata.deletionTimestamp === undefined)
    .filter(({ status }) => status?.conditions?.some((one) => one.type === 'Ready' && one.status === 'True'))
    .flatMap(({ status }) => status?.podIP ?? []);
}
