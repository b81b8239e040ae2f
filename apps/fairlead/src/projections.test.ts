// What copies keep, and that they say the same.
import type { Lbticket } from '@fairlead/api';
import type { Service } from '@fairlead/kube';
import { expect, test } from 'vitest';
import { shortServices, shortTickets } from './projections.ts';

const condition = (message: string) => ({
  type: 'Programmed',
  status: 'True',
  reason: 'Programmed',
  message,
  lastTransitionTime: '2026-01-01T00:00:00Z',
  observedGeneration: 1,
});

const ticket = (...messages: string[]): Lbticket =>
  JSON.parse(
    JSON.stringify({
      apiVersion: 'ebcpaas.lb/v1',
      kind: 'Lbticket',
      metadata: { name: 'a', namespace: 'n', managedFields: [{ manager: 'kubectl' }] },
      spec: { loadbalancer: 'demo', namespace: 'shop', lbtype: 'listner', state: 'enabled' },
      status: {
        process: 'enabled',
        conditions: messages.map(condition),
        history: [{ at: '2026-01-01T00:00:00Z', to: 'enabled', why: messages[0] }],
      },
    }),
  ) as Lbticket;

test('a short ticket says what it said, without who manages its fields', () => {
  const { metadata, ...rest } = ticket('a', 'b');
  const { managedFields: _, ...named } = metadata;
  expect(shortTickets()(ticket('a', 'b'))).toEqual({ ...rest, metadata: named });
});

test('a ticket without a status stays without one', () => {
  const { status: _, ...fresh } = ticket();
  expect(shortTickets()(fresh)).not.toHaveProperty('status');
});

test('tickets that say the same share what they say', () => {
  const short = shortTickets();
  const [one, other] = [short(ticket('a')), short(ticket('a'))];
  expect(other.status?.conditions?.[0]).toBe(one.status?.conditions?.[0]);
  expect(short(ticket('b')).status?.conditions?.[0]).not.toBe(one.status?.conditions?.[0]);
});

test('more words than are kept do not mix up', () => {
  const short = shortTickets();
  for (let i = 0; i < 3000; i += 1) {
    const said = [`word ${i}`, `message ${i}`];
    expect(short(ticket(...said)).status?.conditions?.map(({ message }) => message)).toEqual(said);
  }
});

test('a short Service has what pools are filled and matched by', () => {
  const service: Service = {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'a', namespace: 'n', labels: { app: 'a' }, managedFields: [{ manager: 'x', time: 'now' }] },
    spec: { clusterIP: '10.96.0.1', clusterIPs: ['10.96.0.1'], ports: [{ port: 80 }], type: 'ClusterIP' },
    status: { loadBalancer: {} },
  };
  expect(shortServices()(service)).toEqual({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'a', namespace: 'n', labels: { app: 'a' }, managedFields: [{ manager: 'x' }] },
    spec: { ports: [{ port: 80 }], type: 'ClusterIP' },
  });
});
