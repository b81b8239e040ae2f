// Where commands find their clusters: the options that they share.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Option } from 'commander';

/** Where `fairlead up` leaves its own. */
export const ownKubeconfig = '.fairlead/kubeconfig';

export const managementContext = 'management';

/**
 *   --kubeconfig, KUBECONFIG | .fairlead/kubeconfig | ~/.kube/config | in a pod | then
 *   -------------------------+----------------------+----------------+----------+-------------------------------------
 *   given                    |                      |                |          | it
 *   –                        | there                |                |          | it
 *   –                        | –                    | there          |          | it
 *   –                        | –                    | –              | yes      | the pod's service account: undefined
 *   –                        | –                    | –              | no       | the first, to say that it is not there
 *
 * As in kubectl (client-go's deferred loading rules), a pod's service account comes last.
 */
export function usualKubeconfig(
  env: Readonly<Record<string, string | undefined>>,
  exists: (path: string) => boolean = existsSync,
): string | undefined {
  const places = [ownKubeconfig, ...(env['HOME'] ? [join(env['HOME'], '.kube/config')] : [])];
  return places.find(exists) ?? (env['KUBERNETES_SERVICE_HOST'] ? undefined : ownKubeconfig);
}

const words = `${ownKubeconfig}, else ~/.kube/config, else in a pod its service account`;

/** Its value is undefined for the service account of the pod that we are in. */
export const kubeconfigOption = (about: string, flags = '--kubeconfig <FILE>'): Option =>
  new Option(flags, about)
    .env('KUBECONFIG')
    // An empty one is none, as kubectl has it.
    .argParser((path: string, usual: string | undefined) => path || usual)
    .default(usualKubeconfig(process.env), words);

export const managementOption = (): Option =>
  new Option(
    '--management <CONTEXT>',
    'context of the management cluster; without a kubeconfig it is the cluster that the pod is in',
  ).default(managementContext);
