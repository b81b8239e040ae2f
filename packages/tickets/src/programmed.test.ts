// When a ticket counts as programmed, and when nothing of it is left: a table over what ConfigMap and agent say.
import type { ConfigMap } from '@fairlead/kube';
import { expect, test } from 'vitest';
import { multimap } from './multimap.ts';
import { clearanceOf, programmed, type ProgrammedDesk } from './programmed.ts';
import { lb, listner, ticket } from './testing/objects.ts';

interface Given {
  /** Digest of the ticket's objects in the ConfigMap; absent when it has none there. */
  entry?: string | undefined;
  report?: object | string;
  noConfigMap?: boolean;
  mode?: 'fairlead' | 'external';
  isPending?: boolean;
  /** The condition as it was. */
  was?: 'True' | 'False';
  synced?: boolean;
}

function make({ entry, report, noConfigMap, mode = 'fairlead', isPending, was, synced = true }: Given) {
  const tickets =
    entry === undefined ? {} : { 'project/test': { digest: entry, items: { shop_http_app: ['test_80_vs'] } } };
  const status = typeof report === 'string' ? report : JSON.stringify(report);
  const configMap: ConfigMap = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: {
      name: 'fairlead-demo',
      annotations: {
        'fairlead.io/revision': 'r2',
        'fairlead.io/tickets': JSON.stringify(tickets),
        ...(report === undefined ? {} : { 'fairlead.io/status': status }),
      },
    },
  };
  const target = {
    configMaps: { read: () => (noConfigMap ? undefined : configMap) },
    stores: { configmaps: { synced }, namespaces: { synced, get: () => undefined }, services: { synced } },
  };
  const pending = multimap<string>();
  if (isPending) pending.add('demo/shop', 'project/test');
  const desk = {
    loadbalancers: { get: () => lb({ cis: { mode, tenant: '{cluster}' } }) },
    target: () => target,
    outlineOf: () => ({ ok: true, value: { pools: {}, digest: 'now', foreigners: [] } }),
    refused: new Map(),
    pending,
    writing: new Set(),
  } as unknown as ProgrammedDesk;
  const time = '2026-01-01T00:00:00Z';
  const conditions = was
    ? [{ type: 'Programmed', status: was, reason: 'X', message: '', lastTransitionTime: time }]
    : [];
  return { desk, one: { ...ticket('test', { listners: [listner()] }), status: { conditions } } };
}

const ok = { revision: 'r2', applications: { shop_http_app: { ok: true } } };
const busy = { revision: 'r2', applications: { shop_http_app: { ok: false, code: 'busy', message: '503' } } };
const old = { ...ok, revision: 'r1' };

const rows: [rule: string, given: Given, want: string | undefined][] = [
  ['all of it is on the device', { entry: 'now', report: ok }, 'True Programmed'],
  ['the agent could not', { entry: 'now', report: busy }, 'False busy'],
  ['the agent cannot read the ConfigMap', { entry: 'now', report: { ...ok, problem: { code: 'invalid', message: 'x' } } }, 'False invalid'],
  ['the agent has not said anything', { entry: 'now' }, 'False pending'],
  ['the agent has not spoken of this application', { entry: 'now', report: { ...ok, applications: {} } }, 'False pending'],
  ['somebody wrote nonsense into the report', { entry: 'now', report: '{nonsense' }, 'False pending'],
  ['the ConfigMap is not written yet', { noConfigMap: true }, 'False pending'],
  ['its newest edit is not in the ConfigMap yet, though the report is good', { entry: 'old', report: ok }, 'False pending'],
  ["a neighbour's edit is on its way, and it was programmed", { entry: 'now', report: old, was: 'True' }, undefined],
  ["a neighbour's edit is on its way, and it was not programmed", { entry: 'now', report: old, was: 'False' }, 'False pending'],
  ['its own edit is on its way, and it was programmed before', { entry: 'now', report: old, was: 'True', isPending: true }, 'False pending'],
  ['the cluster has not been read yet', { noConfigMap: true, synced: false }, undefined],
  ['the CIS of the cluster does not report', { entry: 'now', mode: 'external' }, 'True Written'],
]; // prettier-ignore
for (const [rule, given, want] of rows) {
  test(`${rule}: ${want ?? 'the condition stays as it was'}`, () => {
    const { desk, one } = make(given);
    const fact = programmed(desk, one);
    expect(fact && `${fact.status} ${fact.reason}`).toBe(want);
  });
}

const ends: [rule: string, given: Given, want: boolean][] = [
  ['its objects are in the ConfigMap', { entry: 'now', report: ok }, false],
  ['they are out of it, and the agent has confirmed that', { report: ok }, true],
  ['they are out of it, and the agent speaks of an earlier revision', { report: old }, false],
  ['they are out of it, and an application could not be written', { report: busy }, false],
  ['they are out of it, and the agent cannot read it', { report: { ...ok, problem: { code: 'invalid', message: '' } } }, false],
  ['they are out of it, and the agent has said nothing', {}, false],
  ['they are out of it, and nobody reports in this mode', { mode: 'external' }, true],
  ['there is no ConfigMap', { noConfigMap: true }, true],
  ['the cluster has not been read', { noConfigMap: true, synced: false }, false],
]; // prettier-ignore
for (const [rule, given, want] of ends) {
  test(`${rule}: the ticket is ${want ? '' : 'not '}cleared`, () => {
    const { desk, one } = make(given);
    expect(clearanceOf(desk, one).isClear).toBe(want);
  });
}
