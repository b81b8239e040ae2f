// Golden cases: the Ingresses of one ticket, oldest first, to the listeners they ask for, as people read them.
import { check, compile, declaration, fill, type Application } from '@fairlead/as3';
import { hostRouteKey, type Listener, type Pool } from '@fairlead/core';
import type { Ingress } from '@fairlead/kube';
import { golden } from '@fairlead/testkit';
import { expect } from 'vitest';
import { merge, type Member, type Merged } from './group.ts';
import { readIngress } from './reading.ts';

golden(new URL('../../testdata/ingress/', import.meta.url), ({ documents }) => {
  const lines: string[] = [];
  const members: Member[] = [];
  for (const [i, document] of documents.entries()) {
    const { metadata, spec } = document as Ingress;
    const annotations = metadata.annotations ?? {};
    const ingress: Ingress = {
      apiVersion: 'networking.k8s.io/v1',
      kind: 'Ingress',
      metadata: { namespace: 'shop', ...metadata, annotations },
      ...(spec && { spec }),
    };
    const reading = readIngress(ingress);
    if (reading.ok) members.push({ name: metadata.name, created: i, reading: reading.value });
    else lines.push(`${metadata.name} is refused: ${reading.problem.path}: ${reading.problem.message}`);
  }
  const merged = merge({ name: 'web', address: '20.1.0.10', members });
  expectValid(merged);
  lines.push(
    ...merged.listeners.flatMap(listenerLines),
    ...merged.pools.map(({ pool, portName }) => poolLine(pool, portName)),
  );
  for (const [name, notes] of merged.notes) lines.push(...notes.map((note) => `note to ${name}: ${note}`));
  return { 'want.txt': `${lines.join('\n')}\n` };
});

/** What comes of it is a declaration that our own check takes. */
function expectValid({ listeners, pools }: Merged): void {
  if (listeners.length === 0) return;
  const origin = { cluster: 'c', kind: 'Ingress', namespace: 'shop', name: 'g', uid: 'u', created: 0, revision: '1' };
  const lb = {
    key: 't1/project_web_ingress_app',
    scope: 't1',
    origin,
    listeners,
    pools: pools.map(({ pool }) => pool),
  };
  const compiled = compile(lb);
  expect(compiled).toMatchObject({ ok: true });
  if (!compiled.ok) return;
  expect(check(declaration({ t1: { project_web_ingress_app: withCertificates(compiled.value) } }))).toEqual([]);
}

function withCertificates(application: Application): Application {
  const pem = (what: string) => `-----BEGIN ${what}-----\nAAAA\n-----END ${what}-----\n`;
  const pair = { certificate: pem('CERTIFICATE'), privateKey: pem('PRIVATE KEY') };
  return fill(application, new Map(), new Map(['a-tls', 'b-tls'].map((name) => [name, pair])));
}

const listenerLines = ({ name, address, port, protocol, hosts = [], tls, profiles }: Listener): string[] => [
  `${name} ${protocol}://${address}:${port}${tls ? ` tls ${JSON.stringify(tls)}` : ''}${profiles ? ` profiles ${JSON.stringify(profiles)}` : ''}`,
  ...hosts.map(
    (route) =>
      `  ${hostRouteKey(route)} -> ${JSON.stringify(route.to)}${route.clients ? ` for ${route.clients.join(', ')}` : ''}`,
  ),
];

const poolLine = ({ name, service, monitor, balance }: Pool, portName?: string): string =>
  `${name}: ${service.namespace}/${service.name} port ${portName ?? service.port}, ${balance}, ${JSON.stringify(monitor)}`;
