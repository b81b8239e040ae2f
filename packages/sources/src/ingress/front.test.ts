// A first layer that leads to the ports of a ticket: what goes waits for it, what comes does not.
import { expect, test } from 'vitest';
import { asker, fullWorld, ingress, key, ticket } from '../testing/ingresses.ts';
import type { Front } from './front.ts';

/** Leads to `ports`, or nobody knows where. */
function toldFront() {
  const listeners = new Set<(ticket: string) => void>();
  let led: readonly number[] | undefined = [];
  const front: Front = {
    leadsBeyond: (_, ports) => !led || led.some((port) => !ports.includes(port)),
    listen(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
  const leads = (ports: readonly number[] | undefined): void => {
    led = ports;
    for (const listener of listeners) listener('project/web');
  };
  return { front, leads };
}

async function fronted() {
  const { front, leads } = toldFront();
  return { ...(await fullWorld({ front })), leads };
}

const on = (port: number, more: Parameters<typeof ingress>[2] = {}) =>
  ingress('a', '/a', {
    ...more,
    annotations: { 'virtual-server.f5.com/http-port': String(port), ...more.annotations },
  });

test('what comes does not wait, nor a new path on a port that stays', async () => {
  const here = await fronted();
  here.leads(undefined);
  here.stores.ingresses.put(on(80));
  expect(here.routes()).toEqual(['80/a']);
  here.stores.ingresses.put(ingress('b'));
  expect(here.routes()).toEqual(['80/a', '80/b']);
  here.stores.ingresses.remove({ namespace: 'shop', name: 'b' });
  expect(here.routes()).toEqual(['80/a']);
  expect(here.source.refusals()).toEqual([]);
});

test.each<[what: string, leave: (here: Awaited<ReturnType<typeof fronted>>) => void]>([
  ['its Ingress is gone', ({ stores }) => stores.ingresses.remove({ namespace: 'shop', name: 'a' })],
  ['its claim is withdrawn', ({ stores }) => stores.ingresses.put(on(80, { claim: { wanted: false } }))],
  ['its ticket is disabled', ({ stores }) => stores.lbtickets.put(ticket({ process: 'disabled' }))],
])('a port stays while the front leads there, though %s', async (_, leave) => {
  const here = await fronted();
  here.stores.ingresses.put(on(80));
  here.leads([80]);
  here.touched();
  leave(here);
  expect(here.routes()).toEqual(['80/a']);
  expect(here.touches).toEqual([]);
  here.leads([]);
  expect(here.routes()).toEqual([]);
  expect(here.touches.at(-1)).toMatchObject({ scopes: ['t1'] });
});

test('a port that is exchanged for another goes when the front has left it', async () => {
  const here = await fronted();
  here.stores.ingresses.put(on(80));
  here.leads([80]);
  here.stores.ingresses.put(on(8080));
  expect(here.routes()).toEqual(['80/a']);
  here.leads(undefined);
  expect(here.routes()).toEqual(['80/a']);
  here.leads([8080]);
  expect(here.routes()).toEqual(['8080/a']);
  expect(here.source.group(asker)?.ports).toEqual([8080]);
});

const told = (...ports: number[]) => ({ 'fairlead.io/status': JSON.stringify({ revision: '1', ok: true, ports }) });

test('after a restart the last report tells which ports are there, and the place keeps what goes', async () => {
  const here = await fronted();
  here.leads([80, 443]);
  here.stores.ingresses.put(on(80, { annotations: told(80, 443) }));
  expect(here.routes()).toEqual([]);
  expect(here.source.refusals(asker)).toMatchObject([{ key, problem: { code: 'busy' } }]);
  const { revision } = here.source.origin(asker) ?? {};
  here.leads([80]);
  expect(here.routes()).toEqual(['80/a']);
  expect(here.source.origin(asker)?.revision).not.toBe(revision);
});

test('after a restart, what is as it was does not wait for a front that is away', async () => {
  const here = await fronted();
  here.leads(undefined);
  here.stores.ingresses.put(on(80, { annotations: told(80) }));
  expect(here.routes()).toEqual(['80/a']);
});

test('for the front only those count that are to stay', async () => {
  const leaving = new Set<string>();
  const here = await fullWorld({ isLeaving: ({ metadata }) => leaving.has(metadata.name) });
  expect(here.source.portsOf('project/web')).toEqual([]);
  here.stores.ingresses.put(on(8080));
  here.stores.ingresses.put(ingress('b'));
  expect(here.source.portsOf('project/web')).toEqual([80, 8080]);
  leaving.add('b');
  here.stores.ingresses.put(ingress('b'));
  expect(here.source.portsOf('project/web')).toEqual([8080]);
  here.stores.ingresses.put(on(0));
  // What was read last is served still.
  expect(here.source.portsOf('project/web')).toEqual([8080]);
});

test('an Ingress that was served and cannot be read leaves the ports unknown', async () => {
  const here = await fullWorld();
  here.stores.ingresses.put(on(0, { served: true }));
  expect(here.source.portsOf('project/web')).toBeUndefined();
});
