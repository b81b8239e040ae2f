import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { type Review, admission } from './admission.ts';
import { checkShape } from './checks/shape.ts';
import { definitions } from './crds.ts';
import { filled } from './fill.ts';
import type { Lbrule } from './lbrule.ts';
import type { Lbticket } from './lbticket.ts';
import { type Loadbalancer, loadbalancers } from './loadbalancer.ts';
import { makeWorld } from './make.ts';
import { structural } from './structural.ts';

const folder = new URL('../../../examples/quickstart/', import.meta.url);
const read = (path: string) => readFileSync(new URL(path, folder), 'utf8');

const loadbalancer = parse(read('management/01-loadbalancer.yaml')) as Loadbalancer;
const ticket = parse(read('management/02-lbticket.yaml')) as Lbticket;
const rule = parse(read('management/03-lbrule.yaml')) as Lbrule;

test.each([loadbalancer, ticket, rule])('the $kind of the quickstart fits its schema as it stands', (object) => {
  const definition = definitions.find((d) => d.kind.kind === object.kind);
  expect(object.apiVersion).toBe(`${definition?.kind.group}/${definition?.kind.version}`);
  if (definition) expect(checkShape(structural(definition.spec), object.spec, 'spec')).toEqual([]);
});

test('the quickstart is admitted, one object after the other', async () => {
  const review = (resource: string, object: Loadbalancer | Lbticket | Lbrule): Review => ({
    operation: 'CREATE',
    resource: { group: object.apiVersion.split('/')[0] ?? '', version: 'v1', resource },
    object,
  });
  const exists = { namespaceExists: () => true };
  expect(await admission(makeWorld({}, exists))(review('loadbalancers', loadbalancer))).toEqual({ allowed: true });
  // As a server returns it.
  const stored = filled(loadbalancers, loadbalancer);
  expect(await admission(makeWorld({ loadbalancers: [stored] }, exists))(review('lbtickets', ticket))).toEqual({
    allowed: true,
  });
  const last = makeWorld({ loadbalancers: [stored], lbtickets: [ticket] }, exists);
  expect(await admission(last)(review('lbrules', rule))).toEqual({ allowed: true });
});

interface Workload {
  kind: string;
  metadata: { name: string };
  spec: {
    ports?: { port: number; targetPort: string }[];
    template?: { spec: { containers: { ports: { name: string; containerPort: number }[] }[] } };
  };
}

test('every Service that the ticket and the rule name is there, with that port', () => {
  const workloads = parseAllDocuments(read('acp-region01/04-workloads.yaml')).map(
    (document) => document.toJS() as Workload,
  );
  const wanted = [...(ticket.spec.listners ?? []).flatMap((listner) => listner.services), ...rule.spec.services];
  const missing = wanted.filter(({ service, port }) => {
    const found = workloads.find(({ kind, metadata }) => kind === 'Service' && metadata.name === service);
    const target = found?.spec.ports?.find((p) => p.port === port)?.targetPort;
    const deployment = workloads.find(({ kind, metadata }) => kind === 'Deployment' && metadata.name === service);
    return !deployment?.spec.template?.spec.containers.some(({ ports }) =>
      ports.some((p) => p.name === target && p.containerPort === port),
    );
  });
  expect(wanted).toHaveLength(6);
  expect(missing).toEqual([]);
});
