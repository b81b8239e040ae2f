// Golden cases: the Ingresses of one ticket, and requests, to what `fairlead explain` says of them.
import { compile } from '@fairlead/as3';
import type { Ingress } from '@fairlead/kube';
import { readOnce } from '@fairlead/sources';
import { golden } from '@fairlead/testkit';
import { explainIngress, ingressLines } from './explain-ingress.ts';

interface Asked {
  host?: string;
  path: string;
  client?: string;
  port?: number;
}

golden(new URL('../testdata/explain-ingress/', import.meta.url), ({ documents, options }) => {
  const ingresses = documents.map((one) => {
    const { metadata, ...rest } = one as Ingress;
    return { ...rest, metadata: { namespace: 'shop', ...metadata } };
  });
  const at = { cluster: 'acp-region01', loadbalancer: 'demo', ticket: 'project/web', namespace: 'shop' };
  const read = readOnce({ ...at, partition: 't1', ip: '20.1.0.10', ingresses, accepts: compile });
  const blocks = (options as Asked[]).map(({ host, path, client = '192.0.2.1', port }) => {
    const headers: [string, string][] = host === undefined ? [] : [['Host', host]];
    const got = explainIngress(read, { ticket: at.ticket, port, request: { client, uri: path, headers } });
    const lines = got.ok ? ingressLines(got.value) : [`${got.problem.code}: ${got.problem.message}`];
    return [`# ${host ?? '(no host)'} ${path} from ${client}${port ? ` port ${port}` : ''}`, ...lines].join('\n');
  });
  return { 'want.txt': `${blocks.join('\n\n')}\n` };
});
