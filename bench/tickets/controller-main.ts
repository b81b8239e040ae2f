// The process under measurement: the controller of tickets, wired as `fairlead run` wires it, with no agent beside it.
// Argument: a JSON file with the servers, `{management, targets: {name: …}}`. Says `ready` once it has read them; ends with its input.
import { setMaxListeners } from 'node:events';
import { readFileSync } from 'node:fs';
import { auto, tickets } from '@fairlead/tickets';
import { systemClock } from '../../apps/fairlead/src/clock.ts';
import { lean } from '../../apps/fairlead/src/lean.ts';
import { managementStores } from '../../apps/fairlead/src/management-stores.ts';
import { targetCluster } from '../../apps/fairlead/src/target-cluster.ts';
import { clientOf, type Server } from './client.ts';

lean();
const [file = ''] = process.argv.slice(2);
const servers = JSON.parse(readFileSync(file, 'utf8')) as { management: Server; targets: Record<string, Server> };
const say = (line: string): void => void process.stderr.write(`${line}\n`);
const stop = new AbortController();
setMaxListeners(0, stop.signal);
process.stdin.resume().once('end', () => stop.abort());

const management = clientOf(servers.management, say);
const stores = managementStores(management);
const targets = new Map(
  Object.entries(servers.targets).map(([name, server]) => [
    name,
    targetCluster(name, clientOf(server, say), systemClock),
  ]),
);
const running = [
  ...Object.values(stores).map((one) => one.run(stop.signal)),
  ...[...targets.values()].map((target) => target.run(stop.signal)),
  tickets({
    kube: management,
    stores,
    clusters: (name) => targets.get(name),
    approvers: { auto: auto() },
    clock: systemClock,
    random: Math.random,
    log: say,
  }).run(stop.signal),
];
const copies = [...Object.values(stores), ...[...targets.values()].flatMap((one) => Object.values(one.stores))];
await Promise.all(copies.map((one) => one.ready(stop.signal)));
process.stdout.write('ready\n');
await Promise.all(running);
process.exit(0);
