// The kubeconfig that `fairlead up` writes: one context for each embedded cluster.
import { stringify } from 'yaml';

export interface ClusterAccess {
  /** Name of cluster, user and context alike. */
  name: string;
  server: string;
  token: string;
  /** A user to act as, where the token's own may. */
  as?: string;
  /** PEM of the authority that signed the server's certificate. */
  ca: string;
}

/** The first cluster's context is the current one. */
export function kubeconfig(clusters: readonly ClusterAccess[]): string {
  return stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': clusters[0]?.name ?? '',
    clusters: clusters.map(({ name, server, ca }) => ({
      name,
      cluster: { server, 'certificate-authority-data': Buffer.from(ca).toString('base64') },
    })),
    users: clusters.map(({ name, token, as }) => ({ name, user: { token, ...(as ? { as } : {}) } })),
    contexts: clusters.map(({ name }) => ({ name, context: { cluster: name, user: name, namespace: 'default' } })),
  });
}
