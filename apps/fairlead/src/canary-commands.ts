// The commands under `fairlead canary`, with their options and help.
import { type Command, InvalidArgumentError, Option } from 'commander';
import { canaryFinish, canaryShift, canaryStart, canaryState, canaryStatus } from './canary.ts';
import { kubeconfigOption, managementOption } from './kubeconfig-option.ts';

/** Says how it went. */
type Exit = (code: number) => void;

const kubeconfig = () => kubeconfigOption('kubeconfig with the management cluster');

const whole =
  (least: number, most: number) =>
  (value: string): number => {
    const number = Number(value);
    if (!Number.isInteger(number) || number < least || number > most)
      throw new InvalidArgumentError(`a whole number from ${least} to ${most}`);
    return number;
  };

const shares = (value: string): number[] => value.split(',').map(whole(1, 100));

const wait = () =>
  new Option('--wait', 'show what happens until it has ended; 0 only if it went as wished').default(false);

/** Makes `fairlead canary NAME` with what all that act on one canary have. */
type Verb = (name: string, about: string) => Command;

export function addCanary(program: Command, exit: Exit): void {
  const canary = program
    .command('canary')
    .description('shift the requests of a listner or rule to a new Service in steps, watched, and back when it fails');
  const verb: Verb = (name, about) =>
    canary
      .command(name)
      .description(about)
      .argument('<name>', 'name of the canary, as [namespace/]name')
      .option('-n, --namespace <NAME>', 'namespace of a canary that is named without one (default: default)')
      .addOption(kubeconfig())
      .addOption(managementOption());

  addStart(verb, exit);
  addSteering(verb, exit);
  verb('finish', 'write the weights of a promoted canary into its ticket or rule, and remove it').action(
    async (name, options) => exit(await canaryFinish(name, options)),
  );
  canary
    .command('status')
    .description('show one canary with its history, or all of them')
    .argument('[name]', 'name of the canary, as [namespace/]name')
    .option('-n, --namespace <NAME>', 'namespace of the canary; without a name, only those of this one')
    .option('--watch', 'go on showing what happens until it has ended', false)
    .addOption(new Option('-o, --output <FORM>', 'what to print').choices(['text', 'json']).default('text'))
    .addOption(kubeconfig())
    .addOption(managementOption())
    .action(async (name, options) => exit(await canaryStatus(name, options)));
}

function addStart(verb: Verb, exit: Exit): void {
  verb('start', 'begin: watch the device as it is for a pause, then go through the steps')
    .requiredOption('--ticket <NAME>', 'ticket, in the namespace of the canary')
    .requiredOption('--listner <NAME>', 'listner of the ticket')
    .option('--rule <NAME>', "rule on that listner whose weights are shifted (default: the listner's own)")
    .requiredOption(
      '--service <NAME[:PORT]>',
      'the new Service; it is in the list of the listner or rule already, with weight 0',
    )
    .option('--steps <SHARES>', 'its shares in percent, one after the other (default: 5,20,50,100)', shares)
    .option('--pause <TIME>', 'how long each step is watched (default: 60s)')
    .option(
      '--max-error-ratio <POINTS>',
      'percentage points of errors above the baseline that abort (default: 5)',
      whole(0, 100),
    )
    .option(
      '--min-requests <N>',
      'requests to the canary before a step is judged or left (default: 20)',
      whole(0, 1_000_000),
    )
    .option('--min-available <PERCENT>', 'share of its members that must be available (default: 50)', whole(0, 100))
    .option('--manual', 'go on only when told to (fairlead canary shift)', false)
    .addOption(wait())
    .action(async (name, options) => exit(await canaryStart(name, options)));
}

/** What an operator does to a canary on its way. */
function addSteering(verb: Verb, exit: Exit): void {
  verb('shift', 'go to the next step at once')
    .option('--step <N>', 'or to this one; 1 is the first', whole(1, 10))
    .addOption(wait())
    .action(async (name, options) => exit(await canaryShift(name, options)));
  verb('pause', 'stay at the present step; a canary that fails still goes back').action(async (name, options) =>
    exit(await canaryState(name, options, 'paused')),
  );
  verb('resume', 'go on after a pause').action(async (name, options) =>
    exit(await canaryState(name, options, 'running')),
  );
  verb('promote', 'give the new Service everything, at once')
    .addOption(wait())
    .action(async (name, options) => exit(await canaryState(name, options, 'promoted')));
  verb('rollback', 'back to the weights in the ticket or rule, at once')
    .addOption(wait())
    .action(async (name, options) => exit(await canaryState(name, options, 'rolledback')));
}
