// The command line: every command, its options and their help. What each does is in the file of its name.
import { Command, InvalidArgumentError, Option } from 'commander';
import { crdFiles } from '@fairlead/api';
import { addCanary } from './canary-commands.ts';
import { clusterCommands } from './clusters/cli.ts';
import { answerTicket } from './approve.ts';
import { completion, shells, type Shell } from './completion.ts';
import { explain } from './explain.ts';
import { kubeconfigOption, managementOption, ownKubeconfig } from './kubeconfig-option.ts';
import { plan } from './plan.ts';
import { run } from './run.ts';
import { crash, give, loseNode, restoreNode, simCluster } from './sim-cluster.ts';
import { simApprover, simBigip } from './sim.ts';
import { up } from './up/up.ts';

const collect = (value: string, before: string[]): string[] => [...before, value];
const port = (value: string): number => {
  const number = Number(value);
  if (!Number.isInteger(number) || number < 0 || number > 65_535)
    throw new InvalidArgumentError('a port is a whole number from 0 to 65535');
  return number;
};

const map = () =>
  new Option(
    '--map <FROM=TO>',
    'reach the device that objects call FROM at TO (host, host:port or URL); may be repeated',
  )
    .argParser(collect)
    .default([], 'none');
const files = (about: string) =>
  new Option('-f, --filename <PATH>', `${about}; a file, a folder, or - for standard input; may be repeated`)
    .argParser(collect)
    .default([], 'none');

const targetClusters = () =>
  new Option('--cluster <NAME=CONTEXT>', 'a target cluster and its context; may be repeated')
    .argParser(collect)
    .default([], 'every other context, under its own name');
const aboutNamespace =
  'namespace, in the management cluster, of Secrets that Loadbalancers refer to without one, and that register clusters';

const clustersOf = 'kubeconfig with the management cluster and the target clusters';

const program = new Command('fairlead')
  .description(
    'The load-balancer control plane for Kubernetes: from the load balancers you own into the pods of many clusters.',
  )
  .version('0.1.0')
  .showHelpAfterError('(fairlead --help shows what there is)')
  .configureHelp({ sortSubcommands: false, helpWidth: 110 });

program
  .command('up')
  .description(
    'run a whole environment on this machine: three Kubernetes API servers, the controllers, simulated BIG-IPs with a live data plane, and pods that really listen',
  )
  .option('--once', 'exit after the summary: 0 only if all of it held', false)
  .option('--out <DIR>', 'write summary.json, declarations/<tenant>.json and irules/*.tcl there')
  .option('--data-dir <DIR>', 'keep state over restarts in this folder', '.fairlead')
  .option('--ephemeral', 'keep no state; the kubeconfig goes with the run', false)
  .option('--requests <N>', 'requests to measure for each split', (value) => Math.max(1, port(value)), 2000)
  .addOption(map())
  .action(async (options) => exit(await up(options)));

program
  .command('run')
  .description('run the controllers against real clusters')
  .addOption(kubeconfigOption(clustersOf))
  .addOption(managementOption())
  .addOption(targetClusters())
  .option(
    '--namespace <NAME>',
    'namespace, in the management cluster, of Secrets that Loadbalancers refer to without one',
    'fairlead-system',
  )
  .option('--owner <NAME>', 'the mark that tells our configuration on a device from that of others', 'fairlead')
  .addOption(
    new Option('--policy <POLICY>', 'what a turn may do on a device')
      .choices(['sync', 'upsert-only', 'dry-run'])
      .default('sync'),
  )
  .option('--webhook <[HOST:]PORT>', 'serve admission of our kinds over HTTPS there; needs --webhook-url')
  .option(
    '--webhook-url <URL>',
    'how the API server reaches it: https://HOST:PORT, or service/NAMESPACE/NAME[:PORT]; registered at the start',
  )
  .option('--metrics <[HOST:]PORT>', 'serve /metrics, /healthz and /readyz there; off for nowhere', '127.0.0.1:8480')
  .option('--no-leader-elect', 'work without the Lease: only where no second controller can be')
  .addOption(
    new Option('--log-level <LEVEL>', 'least level to log').choices(['debug', 'info', 'warn', 'error']).default('info'),
  )
  .addOption(map())
  .action(async (options) => exit(await run(options)));

program
  .command('plan')
  .description('show what would be declared on the device, and the difference to what is there; changes nothing')
  .addOption(
    files('Loadbalancers, Lbtickets, Lbrules and F5 Ingresses to add to, or put in place of, those in the clusters'),
  )
  .addOption(kubeconfigOption(clustersOf))
  .addOption(managementOption())
  .addOption(targetClusters())
  .option('--namespace <NAME>', aboutNamespace, 'fairlead-system')
  .option('--owner <NAME>', 'the mark that tells our configuration on a device from that of others', 'fairlead')
  .option('--offline', 'read only the files; compare with nothing', false)
  .addOption(new Option('-o, --output <FORM>', 'what to print').choices(['diff', 'json', 'irule']).default('diff'))
  .addOption(map())
  .action(async (options) => exit(await plan(options)));

program
  .command('explain')
  .description('say which rule, or F5 Ingress, and which pool a request would get, and why')
  .argument('<ticket>', 'ticket, as [namespace/]name')
  .option('--listner <NAME>', 'listner of the ticket (default: the only one, or the first)')
  .option('--port <PORT>', "port of the ticket's address (default: for F5 Ingresses each that is served)", port)
  .option('--client <ADDRESS>', 'address the request comes from', '192.0.2.1')
  .option('--host <HOST>', 'Host header')
  .option('--path <PATH>', 'path and query, such as /cart?id=7', '/')
  .option('--header <NAME=VALUE>', 'a header; may be repeated', collect, [])
  .option('--cookie <NAME=VALUE>', 'a cookie; may be repeated', collect, [])
  .addOption(files('read the objects from here rather than from the clusters'))
  .addOption(kubeconfigOption(clustersOf))
  .addOption(managementOption())
  .addOption(targetClusters())
  .option(
    '--namespace <NAME>',
    'namespace, in the management cluster, of Secrets that register clusters',
    'fairlead-system',
  )
  .addOption(new Option('-o, --output <FORM>', 'what to print').choices(['text', 'json']).default('text'))
  .action(async (ticket, options) => exit(await explain(ticket, options)));

for (const [answer, about] of [
  ['approve', 'open the network of a ticket that waits for an approver (policy.provider manual)'],
  ['reject', 'refuse a ticket that waits for an approver; say why with --message'],
] as const)
  program
    .command(answer)
    .description(about)
    .argument('<ticket>', 'ticket, as [namespace/]name')
    .option('-m, --message <TEXT>', 'what the user is told')
    .addOption(kubeconfigOption(clustersOf))
    .addOption(managementOption())
    .action(async (ticket, options) => exit(await answerTicket(answer, ticket, options)));
addCanary(program, exit);

program
  .command('crds')
  .description('print the CustomResourceDefinitions, for kubectl apply -f -')
  .action(() => {
    const texts = Object.entries(crdFiles()).filter(([path]) => path.startsWith('deploy/crds/'));
    process.stdout.write(texts.map(([, text]) => text).join('---\n'));
  });

clusterCommands(program);

const sim = program.command('sim').description('run one simulator by itself');
sim
  .command('bigip')
  .description('a BIG-IP: iControl REST, AS3, and a data plane on loopback addresses')
  .option('--host <ADDRESS>', 'address of its management port', '127.0.0.1')
  .option('--port <PORT>', 'its management port; 0 takes any', port, 8443)
  .option('--user <NAME>', 'administrator', 'admin')
  .option('--password <WORD>', "the administrator's password", 'admin')
  .action(async (options) => exit(await simBigip(options)));
sim
  .command('approver')
  .description('an approver of network policies over HTTP, with a page on which to open or reject by hand')
  .option('--host <ADDRESS>', 'address of its API and page', '127.0.0.1')
  .option('--port <PORT>', 'its port; 0 takes any', port, 8445)
  .option('--token <TOKEN>', 'bearer token it asks for (default: none)')
  .addOption(
    new Option('--decide <STATUS>', 'what becomes of an application as it is filed')
      .choices(['pending', 'opened', 'rejected'])
      .default('pending'),
  )
  .option('--latency <MS>', 'milliseconds before each answer', (value) => Math.max(0, Number(value) || 0), 0)
  .action(async (options) => exit(await simApprover(options)));

const simulated = sim
  .command('cluster')
  .description('nodes whose pods really listen, on any API server; and faults in those that run');
const anyCluster = () =>
  new Option('--kubeconfig <FILE>', 'kubeconfig of the cluster').env('KUBECONFIG').default(ownKubeconfig);
const contextOption = () => new Option('--context <NAME>', "context in it (default: the kubeconfig's current one)");
simulated
  .command('start')
  .description('run nodes, a scheduler and the workload controllers on an API server, until Ctrl-C')
  .addOption(anyCluster())
  .addOption(contextOption())
  .option('--name <NAME>', 'what the cluster calls itself; its nodes are NAME-node-1 and so on', 'sim')
  .option('--nodes <N>', 'how many nodes', (value) => Math.max(1, port(value)), 3)
  .option('--pod-cidr <CIDR>', 'addresses of pods and nodes', '127.200.0.0/16')
  .option('--listen-cidr <CIDR>', 'where pods listen instead; a kube-apiserver refuses endpoints in 127.0.0.0/8')
  .option('--no-listen', 'open no ports: for many pods')
  .option(
    '--collect',
    'collect garbage and empty deleted namespaces too, for an API server with no controller manager',
    false,
  )
  .action(async (options) => exit(await simCluster(options)));
simulated
  .command('crash')
  .description('the containers of a pod end with 1; its restart policy says what follows')
  .argument('<pod>', 'name of the pod')
  .option('-n, --namespace <NAME>', "namespace of the pod (default: the context's)")
  .addOption(anyCluster())
  .addOption(contextOption())
  .action(async (name, options) => exit(await give(crash, name, options)));
simulated
  .command('lose-node')
  .description('a node goes silent, with all that runs on it')
  .argument('<node>', 'name of the node')
  .addOption(anyCluster())
  .addOption(contextOption())
  .action(async (name, options) => exit(await give(loseNode, name, options)));
simulated
  .command('restore-node')
  .description('a lost node is back')
  .argument('<node>', 'name of the node')
  .addOption(anyCluster())
  .addOption(contextOption())
  .action(async (name, options) => exit(await give(restoreNode, name, options)));

program
  .command('completion')
  .description('print a completion script for your shell: source <(fairlead completion bash)')
  .argument('<shell>', shells.join(', '))
  .action((shell: string) => {
    if (!shells.includes(shell as Shell)) program.error(`no completion for ${shell}; there is: ${shells.join(', ')}`);
    process.stdout.write(completion(program, shell as Shell));
  });

function exit(code: number): void {
  process.exitCode = code;
}

// A reader that has seen enough, such as head, closes the pipe: that is its right, and the end of our work.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit();
});

await program.parseAsync();
