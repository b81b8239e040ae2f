// The rule of two controllers: an address counts when the watch has shown it, in the order in which it was written.
import type { Kube, KubeResult } from '@fairlead/kube';
import { expect, test } from 'vitest';
import { admit, type AdmissionDesk } from './admission.ts';
import { Ledger } from './ledger.ts';
import { lb, ticket } from './testing/objects.ts';

const pair = { veip: '20.1.0.1', ltmip: '10.0.0.1' };

function begin() {
  const ledger = new Ledger(() => undefined);
  ledger.open(lb());
  const bodies: unknown[] = [];
  const answer = { ok: true, value: ticket('test') } as KubeResult<never>;
  const patch: Kube['patch'] = async (_kind, _at, { body }) => {
    bodies.push(body);
    return answer;
  };
  let isShown = false;
  const desk = {
    kube: { patch } as Kube,
    loadbalancers: { get: () => lb() } as unknown as AdmissionDesk['loadbalancers'],
    target: () => undefined,
    outlineOf: () => ({ ok: true as const, value: { pools: {}, digest: 'none', foreigners: [] } }),
    ledger,
    lbtickets: { isShown: () => isShown, wrote: () => undefined },
  };
  const written = (wish: Partial<typeof pair>, allocated = '') => {
    const one = ticket('test', wish);
    const annotations = { 'fairlead.io/allocated': allocated };
    return { ...one, metadata: { ...one.metadata, annotations, finalizers: ['fairlead.io/tickets'] } };
  };
  return { desk, ledger, bodies, written, show: () => void (isShown = true) };
}

test('addresses are written first, and count once the watch has shown them', async () => {
  const { desk, bodies, written, show } = begin();
  expect(await admit(desk, ticket('test'))).toEqual({ found: 'wait' });
  expect(bodies).toMatchObject([{ spec: pair, metadata: { finalizers: ['fairlead.io/tickets'], annotations: { 'fairlead.io/allocated': '20.1.0.1,10.0.0.1' } } }]); // prettier-ignore
  const now = written(pair, '20.1.0.1,10.0.0.1');
  expect(await admit(desk, now)).toEqual({ found: 'wait' });
  show();
  expect(await admit(desk, now)).toEqual({ found: 'pair', pair });
  expect(bodies.length).toBe(1);
});

test('when the watch shows another first, we choose again what we chose ourselves', async () => {
  const { desk, ledger, bodies, written, show } = begin();
  await admit(desk, ticket('test'));
  ledger.claim('demo', 'project/rival', pair);
  show();
  expect(await admit(desk, written(pair, '20.1.0.1,10.0.0.1'))).toEqual({ found: 'wait' });
  expect(bodies[1]).toMatchObject({ spec: { veip: '20.1.0.2', ltmip: '10.0.0.2' } });
});

test('what the user asked for is not chosen again: the refusal names the holder', async () => {
  const { desk, ledger, written, show } = begin();
  ledger.claim('demo', 'project/rival', pair);
  show();
  const problem = { code: 'taken', path: 'spec.veip', message: expect.stringContaining('project/rival') };
  expect(await admit(desk, written(pair))).toMatchObject({ found: 'problem', problem });
});

test('the spelling of an address stays as the user wrote it', async () => {
  const { desk, ledger, bodies, written, show } = begin();
  ledger.open(lb({ ve: { addr: '200.1.1.1', cidr: '2001:db8::/64' } }));
  show();
  const asked = written({ veip: '2001:DB8:0::7', ltmip: '10.0.0.1' });
  expect(await admit(desk, asked)).toEqual({ found: 'pair', pair: { veip: '2001:db8::7', ltmip: '10.0.0.1' } });
  expect(bodies).toEqual([]);
});
