// Golden cases: a Loadbalancer, its tickets and rules → the ConfigMap of one namespace, its labels, and what users are told.
import {
  checkLbrule,
  checkLbticket,
  checkLoadbalancer,
  filled,
  lbrules,
  lbtickets,
  loadbalancers,
  type Lbrule,
  type Lbticket,
  type Loadbalancer,
} from '@fairlead/api';
import { check } from '@fairlead/as3';
import type { ConfigMap } from '@fairlead/kube';
import { golden } from '@fairlead/testkit';
import { expect } from 'vitest';
import { configMap, isApplied, type ConfigMapAnswer } from './configmap.ts';
import { wantedServiceLabels } from './labels.ts';
import { ticketName } from './names.ts';
import { part } from './part.ts';

interface Case {
  loadbalancers: Loadbalancer[];
  tickets: Lbticket[];
  rules: Lbrule[];
}

golden(new URL('../testdata/', import.meta.url), ({ documents, options }) => {
  const given = read(documents);
  const before = read((options as { before?: unknown[] } | undefined)?.before ?? []);
  const existing =
    before.tickets.length > 0 ? made({ ...before, loadbalancers: given.loadbalancers }).object : undefined;
  const { object, problems } = made(given, existing);
  expect(made(given, object).object, 'again over the result').toEqual(object);
  expect(isApplied(object, object)).toBe(true);
  const template = JSON.parse(object.data?.['template'] ?? '') as { declaration: Record<string, unknown> };
  expect(check(template), 'our own check of what is declared').toEqual([]);
  const loadbalancer = one(given.loadbalancers);
  return {
    'want.json': template,
    'status.yaml': {
      admission: admission(given),
      tickets: Object.fromEntries(
        given.tickets.map((ticket) => [ticketName(ticket), problems.get(ticketName(ticket)) ?? 'written']),
      ),
      annotations: object.metadata.annotations,
      services: Object.fromEntries(wantedServiceLabels(loadbalancer, object)),
    },
  };
});

function made({ loadbalancers, tickets, rules }: Case, existing?: ConfigMap): ConfigMapAnswer {
  const loadbalancer = one(loadbalancers);
  return configMap({
    loadbalancer,
    namespace: tickets[0]?.spec.namespace ?? '',
    contributions: tickets.map((ticket) => ({
      ticket: ticketName(ticket),
      created: Date.parse(ticket.metadata.creationTimestamp ?? '') || 0,
      part: part({ loadbalancer, ticket, rules }),
    })),
    existing,
  });
}

/** What admission would have said, had it seen the objects one after the other. Unknown fields show here. */
function admission({ loadbalancers, tickets, rules }: Case): string[] {
  const world = { loadbalancers: () => loadbalancers, lbtickets: () => tickets, lbrules: () => rules };
  const all = [
    ...loadbalancers.flatMap((one) => checkLoadbalancer(one, undefined, world)),
    ...tickets.flatMap((one) => checkLbticket(one, undefined, world)),
    ...rules.flatMap((one) => checkLbrule(one, undefined, world)),
  ];
  return all.map(({ path, message }) => `${path}: ${message}`);
}

function read(documents: unknown[]): Case {
  const of = <T extends { kind: string; metadata: { namespace?: string } }>(kind: string): T[] =>
    (documents as T[]).filter((document) => document.kind === kind);
  const here = <T extends { metadata: object }>(object: T): T => ({
    ...object,
    metadata: { namespace: 'project', ...object.metadata },
  });
  return {
    loadbalancers: of<Loadbalancer>('Loadbalancer').map((one) => filled(loadbalancers, one)),
    tickets: of<Lbticket>('Lbticket').map((one) => filled(lbtickets, here(one))),
    rules: of<Lbrule>('Lbrule').map((one) => filled(lbrules, here(one))),
  };
}

function one<T>(all: readonly T[]): T {
  const [first, ...rest] = all;
  if (first === undefined || rest.length > 0) throw new Error('bug: a case has one Loadbalancer');
  return first;
}
