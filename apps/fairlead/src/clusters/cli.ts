// The command line of `fairlead cluster`.
import type { Result } from '@fairlead/core';
import { Option, type Command } from 'commander';
import { systemClock } from '../clock.ts';
import { connectManagement, kubeconfigOpener } from '../connect.ts';
import { kubeconfigOption, managementOption } from '../kubeconfig-option.ts';
import { addCluster, checkClusters, listClusters, removeCluster, type Said } from './commands.ts';
import { inlined } from './inline.ts';
import type { Desk } from './registered.ts';

interface At {
  /** Undefined in a pod without one. */
  kubeconfig: string | undefined;
  management: string;
  namespace: string;
}

interface Adding {
  kubeconfig: string;
  context?: string;
  managementKubeconfig: string | undefined;
  management: string;
  namespace: string;
  unchecked: boolean;
}

/** Adds the commands to `program`. */
export function clusterCommands(program: Command): void {
  const command = program.command('cluster').description('target clusters: register, list, check and remove them');
  command
    .command('add')
    .description('register a target cluster, or give it other credentials; a running controller takes it up')
    .argument('<name>', 'name, as Loadbalancers have it in spec.cluster')
    .requiredOption(
      '--kubeconfig <FILE>',
      "kubeconfig with the cluster's API server and the controller's credentials there",
    )
    .option('--context <NAME>', 'context in that file (default: its current one)')
    .addOption(kubeconfigOption(aboutIt, '--management-kubeconfig <FILE>'))
    .addOption(managementOption())
    .addOption(namespace())
    .option('--unchecked', 'do not ask the API server whether it is there', false)
    .action(async (name: string, options: Adding) =>
      end(async () => {
        const config = await inlined(options.kubeconfig, options.context);
        if (!config.ok) return config;
        const desk = await deskFor({ ...options, kubeconfig: options.managementKubeconfig });
        return desk.ok ? addCluster(desk.value, { name, config: config.value, unchecked: options.unchecked }) : desk;
      }),
    );
  at(command.command('list').description('show the target clusters, and whether they answer from here'))
    .addOption(new Option('-o, --output <FORM>', 'what to print').choices(['table', 'json']).default('table'))
    .action(async (options: At & { output: 'table' | 'json' }) =>
      end(async () => {
        const desk = await deskFor(options);
        return desk.ok ? listClusters(desk.value, options.output) : desk;
      }),
    );
  at(command.command('check').description('check that clusters answer, are told apart, and allow what is needed'))
    .argument('[name...]', 'clusters (default: all)')
    .action(async (names: string[], options: At) =>
      end(async () => {
        const desk = await deskFor(options);
        return desk.ok ? checkClusters(desk.value, names) : desk;
      }),
    );
  at(command.command('remove').description('take a target cluster out; what it has on devices stays there'))
    .argument('<name>', 'name of the cluster')
    .option('--force', 'though Loadbalancers name it', false)
    .action(async (name: string, options: At & { force: boolean }) =>
      end(async () => {
        const desk = await deskFor(options);
        return desk.ok ? removeCluster(desk.value, { name, force: options.force }) : desk;
      }),
    );
}

const aboutIt = 'kubeconfig with the management cluster';
const namespace = () =>
  new Option('--namespace <NAME>', 'namespace of the controller, where the Secrets are').default('fairlead-system');

const at = (command: Command): Command =>
  command.addOption(kubeconfigOption(aboutIt)).addOption(managementOption()).addOption(namespace());

async function deskFor({ kubeconfig, management: context, namespace: own }: At): Promise<Result<Desk>> {
  const connected = await connectManagement({ kubeconfig, management: context });
  if (!connected.ok) return connected;
  // Why a cluster does not answer stands in what is printed.
  const client = kubeconfigOpener(() => undefined);
  const open: Desk['open'] = (text, from) => client(text, from, ending.signal);
  return { ok: true, value: { management: connected.value, namespace: own, open, clock: systemClock } };
}

/** A server that never answers must not keep a command that has said all it knows. */
const ending = new AbortController();

async function end(work: () => Promise<Result<Said>>): Promise<void> {
  const said = await work();
  ending.abort();
  if (said.ok) for (const line of said.value.lines) process.stdout.write(`${line}\n`);
  else process.stderr.write(`fairlead cluster: ${said.problem.message}\n`);
  process.exitCode = said.ok ? said.value.code : 1;
}
