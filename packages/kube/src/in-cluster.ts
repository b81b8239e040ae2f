// Who a pod is: the service account files that Kubernetes mounts, in the words of a kubeconfig.
import type { Read } from './credentials.ts';
import type { KubeResult } from './kube.ts';
import type { KubeContext } from './kubeconfig.ts';
import { invalid } from './problem.ts';

/** Where Kubernetes mounts them. */
export const serviceAccount = '/var/run/secrets/kubernetes.io/serviceaccount';

export interface PodParts {
  /** From KUBERNETES_SERVICE_HOST: an address, IPv6 without brackets. */
  host: string | undefined;
  /** From KUBERNETES_SERVICE_PORT. */
  port: string | undefined;
  /** Of the files token, ca.crt and namespace. */
  folder: string;
  read: Read;
}

/** The context `in-cluster`. Its token is read anew each minute, because the kubelet replaces it within the hour. */
export async function inCluster({ host, port, folder, read }: PodParts): Promise<KubeResult<KubeContext>> {
  if (!host || !port) return invalid('not in a pod: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set');
  const namespace = await read(`${folder}/namespace`).catch((error: unknown) => error as Error);
  if (namespace instanceof Error) return invalid(`the pod has no service account files: ${namespace.message}`);
  const server = `https://${host.includes(':') ? `[${host}]` : host}:${port}`;
  const cluster = { server, 'certificate-authority': `${folder}/ca.crt` };
  const user = { tokenFile: `${folder}/token` };
  return { ok: true, value: { name: 'in-cluster', cluster, user, namespace: namespace.trim() } };
}
