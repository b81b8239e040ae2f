// The rules of addresses, I-1 to I-12 of spec/cloud.md §4.4, as they hold for tickets (spec/tickets.md §4). One test each, or more.
import { checkLoadbalancer, lbtickets, loadbalancers, type Lbticket, type Loadbalancer } from '@fairlead/api';
import { fail, ok } from '@fairlead/core';
import { events } from '@fairlead/kube';
import { expect, test } from 'vitest';
import { Ledger } from './ledger.ts';
import { made } from './testing/cluster.ts';
import { lb, listner, ticket } from './testing/objects.ts';
import { conditionAt, world, type World } from './testing/world.ts';

const ve = (cidr: string, exclude: string[] = []) => ({ addr: '200.1.1.1', user: 'a', passwd: 'b', cidr, exclude });
const ltm = (cidr: string, exclude: string[] = []) => ({
  url: 'http://100.1.1.1/api',
  cidr,
  exclude,
  mode: 'allocate' as const,
});

function ledgerOf(loadbalancer: Loadbalancer): { ledger: Ledger; woken: string[] } {
  const woken: string[] = [];
  const ledger = new Ledger((name) => woken.push(name));
  ledger.open(loadbalancer);
  return { ledger, woken };
}

/** VE addresses that applicants get one after another, until there are none. */
function allOf(ledger: Ledger): string[] {
  const given: string[] = [];
  for (let n = 0; n < 100; n += 1) {
    const taken = ledger.take('demo', { name: `p/t${n}`, created: n }, {});
    if (!taken.ok) return given;
    given.push(taken.value.veip);
  }
  return given;
}

const want = (here: World, name: string, spec: Partial<Lbticket['spec']>) =>
  made(here.management.patch(lbtickets, { name, namespace: 'project' }, { type: 'merge', body: { spec } }));

async function file(here: World, name: string, spec: Partial<Lbticket['spec']> = {}): Promise<Lbticket> {
  await made(here.management.create(lbtickets, ticket(name, spec)));
  await here.clock.advance(1000);
  return here.ticket(name);
}

async function giveUp(here: World, name: string): Promise<void> {
  for (const state of ['disabled', 'deleted'] as const) {
    await want(here, name, { state });
    await here.clock.advance(1000);
  }
}

test('I-1: network, broadcast and what is excluded, by address, range or CIDR, are never given out', () => {
  const exclude = ['20.1.0.1', '20.1.0.4-20.1.0.6', '20.1.0.8/30'];
  const { ledger } = ledgerOf(lb({ ve: ve('20.1.0.0/28', exclude), ltm: ltm('10.0.0.0/24') }));
  expect(allOf(ledger)).toEqual(['20.1.0.2', '20.1.0.3', '20.1.0.7', '20.1.0.12', '20.1.0.13', '20.1.0.14']);
  expect(ledger.capacity('demo')?.ve).toEqual({ total: 6, used: 6 });
});

test('I-1: the two layers may be of different families', () => {
  const { ledger } = ledgerOf(lb({ ve: ve('2001:db8::/125'), ltm: ltm('10.0.0.0/24') }));
  expect(ledger.take('demo', { name: 'p/a', created: 1 }, {})).toMatchObject({
    value: { veip: '2001:db8::1', ltmip: '10.0.0.1' },
  });
});

test('I-2: networks of one device that overlap are refused, and those of two devices are not', () => {
  const one = lb({ ve: ve('20.1.0.0/24') });
  const twin = (addr: string) => ({
    ...lb({ ve: { ...ve('20.1.0.128/25'), addr }, ltm: { ...ltm('10.9.0.0/24'), url: 'http://other/api' } }),
    metadata: { name: 'twin' },
  });
  const there = { loadbalancers: () => [one], lbtickets: () => [], lbrules: () => [] };
  expect(checkLoadbalancer(twin('200.1.1.1'), undefined, there)).toMatchObject([{ path: 'spec.ve.cidr' }]);
  expect(checkLoadbalancer(twin('200.1.1.2'), undefined, there)).toEqual([]);
});

test('I-3: of two controllers that wrote one address for two tickets, the write that came first counts', async () => {
  const here = await world();
  await made(here.management.create(loadbalancers, lb()));
  await here.begin();
  const pair = { veip: '20.1.0.1', ltmip: '10.0.0.1' };
  // As each controller writes what it chose: the second has not seen the first.
  for (const name of ['first', 'second']) {
    const one = ticket(name, pair);
    const annotations = { 'fairlead.io/allocated': `${pair.veip},${pair.ltmip}` };
    await made(here.management.create(lbtickets, { ...one, metadata: { ...one.metadata, annotations } }));
  }
  await here.clock.advance(3000);
  const both = [await here.ticket('first'), await here.ticket('second')];
  expect(both.map(({ status }) => status?.process)).toEqual(['enabled', 'enabled']);
  expect(new Set(both.map(({ status }) => status?.veip)).size).toBe(2);
});

test('I-4: a ticket that was filed while nobody worked takes nothing that an older one holds', async () => {
  const here = await world();
  await made(here.management.create(loadbalancers, lb()));
  await file(here, 'zz-holder');
  await here.stop();
  await made(here.management.create(lbtickets, ticket('aa-new')));
  await here.begin();
  await here.clock.advance(1000);
  expect((await here.ticket('zz-holder')).status?.veip).toBe('20.1.0.1');
  expect((await here.ticket('aa-new')).status?.veip).toBe('20.1.0.2');
});

const wishes: [what: string, wish: Partial<Lbticket['spec']>, says: RegExp][] = [
  ['out of the network', { veip: '20.9.0.1' }, /spec\.veip: 20\.9\.0\.1 is not in 20\.1\.0\.0\/24/],
  ['of the other family', { veip: '2001:db8::1' }, /spec\.veip: 2001:db8::1 is not in 20\.1\.0\.0\/24/],
  ['held by another', { veip: '20.1.0.1' }, /spec\.veip: 20\.1\.0\.1 is held by project\/holder/],
  ['excluded', { ltmip: '10.0.0.3' }, /spec\.ltmip: 10\.0\.0\.3 .*reserved or excluded/],
]; // prettier-ignore
test.each(wishes)('I-5: an address that is %s fails the ticket by name, and the other of the pair stays free', async (_, wish, says) => {
  const here = await world();
  await made(here.management.create(loadbalancers, lb({ ltm: ltm('10.0.0.0/29', ['10.0.0.3']) })));
  await file(here, 'holder');
  const failed = await file(here, 'test', wish);
  expect(failed.status?.process).toBe('failed');
  expect(failed.status?.conditions?.[0]?.message).toMatch(says);
  expect((await here.loadbalancer('demo')).status?.capacity).toMatchObject({ ve: { used: 1 }, ltm: { used: 1 } });
}); // prettier-ignore

test('I-5: what was asked for is honoured, in whatever spelling', async () => {
  const here = await world();
  await made(here.management.create(loadbalancers, lb({ ve: ve('2001:db8::/64') })));
  const one = await file(here, 'test', { veip: '2001:0DB8:0::00ff' });
  expect(one.status).toMatchObject({ process: 'enabled', veip: '2001:db8::ff' });
  const other = await file(here, 'other', { veip: '2001:db8::ff' });
  expect(conditionAt(other, 'Allocated')).toEqual(['False', 'taken']);
});

test('I-6: no address is shared, not even by tickets with other ports: one holder, ever', async () => {
  const here = await world();
  await made(here.management.create(loadbalancers, lb()));
  await file(here, 'web', { veip: '20.1.0.9', listners: [listner(80, 'svc01')] });
  const other = await file(here, 'other', { veip: '20.1.0.9', listners: [listner(81, 'svc02')] });
  expect(conditionAt(other, 'Allocated')).toEqual(['False', 'taken']);
});

test('I-7: an address is given on only after the device has confirmed that it is gone there', async () => {
  const here = await world();
  await made(here.management.create(loadbalancers, lb({ ve: ve('20.1.0.0/32') })));
  await file(here, 'first', { listners: [listner()] });
  await here.report();
  await file(here, 'next');
  await giveUp(here, 'first');
  await here.clock.advance(600_000);
  expect((await here.ticket('first')).status).toMatchObject({ process: 'disabled', veip: '20.1.0.0' });
  expect((await here.ticket('next')).status?.process).toBe('failed');
  await here.report();
  expect((await here.ticket('first')).status?.process).toBe('deleted');
  expect((await here.ticket('next')).status).toMatchObject({ process: 'enabled', veip: '20.1.0.0' });
});

test('I-8: exhaustion is a condition and an Event, its end too, and who waited longest is served first', async () => {
  const here = await world();
  await made(here.management.create(loadbalancers, lb({ ltm: ltm('10.0.0.0/31') })));
  for (const name of ['a', 'b', 'z-older', 'c-younger']) await file(here, name);
  const told = async () => {
    const { items } = await made(here.management.list(events, { namespace: 'default' }));
    return items
      .filter(({ involvedObject }) => involvedObject.kind === 'Loadbalancer')
      .sort((a, b) => Number(a.metadata.resourceVersion) - Number(b.metadata.resourceVersion))
      .map(({ type, reason }) => `${type} ${reason}`);
  };
  const condition = async () =>
    (await here.loadbalancer('demo')).status?.conditions?.find(({ type }) => type === 'AddressesAvailable');
  expect(await condition()).toMatchObject({ status: 'False', reason: 'exhausted' });
  expect(await told()).toContain('Warning AddressesExhausted');
  await giveUp(here, 'a');
  expect((await here.ticket('z-older')).status?.process).toBe('enabled');
  expect((await here.ticket('c-younger')).status?.process).toBe('failed');
  // Who waits no longer leaves the list, and a network that grows serves the rest.
  await made(here.management.patch(loadbalancers, { name: 'demo' }, { type: 'merge', body: { spec: { ltm: { cidr: '10.0.0.0/27' } } } }));
  await here.clock.advance(1000);
  expect((await here.ticket('c-younger')).status?.process).toBe('enabled');
  expect(await condition()).toMatchObject({ status: 'True', reason: 'Available' });
  expect((await told()).at(-1)).toBe('Normal AddressesAvailable');
}); // prettier-ignore

test('I-9: a network in use may grow and is else refused; no ticket is given another address by it', async () => {
  const here = await world();
  await made(here.management.create(loadbalancers, lb({ ve: ve('20.1.0.0/24') })));
  const one = await file(here, 'test', { veip: '20.1.0.200' });
  const old = await here.loadbalancer('demo');
  const there = { loadbalancers: () => [old], lbtickets: () => [one], lbrules: () => [] };
  const becomes = (cidr: string) =>
    checkLoadbalancer({ ...old, spec: { ...old.spec, ve: { ...old.spec.ve, cidr } } }, old, there).map(
      ({ path }) => path,
    );
  expect(becomes('20.1.0.0/25')).toEqual(['spec.ve.cidr']);
  expect(becomes('30.1.0.0/24')).toEqual(['spec.ve.cidr']);
  expect(becomes('20.1.0.0/23')).toEqual([]);
  // Where no admission runs: who has an address keeps it, and it is not given again.
  const ve25 = { spec: { ve: { cidr: '20.1.0.0/25' } } };
  await made(here.management.patch(loadbalancers, { name: 'demo' }, { type: 'merge', body: ve25 }));
  await here.restart();
  await here.clock.advance(1000);
  expect((await here.ticket('test')).status).toMatchObject({ process: 'enabled', veip: '20.1.0.200' });
});

test('I-10: a /64 costs as much as a /24, and all of a /16 is given out, each address once', () => {
  const { ledger } = ledgerOf(lb({ ve: ve('2001:db8::/64'), ltm: ltm('10.0.0.0/16') }));
  const given = new Set<string>();
  for (let n = 0; n < 65_534; n += 1) {
    const taken = ledger.take('demo', { name: `p/t${n}`, created: n }, {});
    if (taken.ok) given.add(taken.value.ltmip).add(taken.value.veip);
  }
  expect(given.size).toBe(2 * 65_534);
  expect(ledger.take('demo', { name: 'p/late', created: 1e6 }, {})).toMatchObject({ problem: { code: 'exhausted' } });
});

test('I-11: at 80 and 90 percent an admin hears of it, once each, before it is too late', async () => {
  const here = await world();
  await made(here.management.create(loadbalancers, lb({ ve: ve('20.1.0.0/24'), ltm: ltm('10.0.0.0/28', ['10.0.0.11-10.0.0.14']) })));
  const seen: string[] = [];
  for (let n = 1; n <= 10; n += 1) {
    await file(here, `t${n}`);
    const { conditions } = (await here.loadbalancer('demo')).status ?? {};
    const said = conditions?.find(({ type }) => type === 'AddressesAvailable');
    seen.push(`${n} ${said?.status} ${said?.reason} ${said?.message.slice(0, 4)}`.trim());
  }
  expect(seen.slice(6)).toEqual(['7 True Available', '8 True Scarce 80 %', '9 True Scarce 90 %', '10 False exhausted no a']);
}); // prettier-ignore

test('I-12: the history says when which addresses came from where, and when they were free again', async () => {
  const here = await world();
  await made(here.management.create(loadbalancers, lb()));
  await file(here, 'test');
  await giveUp(here, 'test');
  const { history = [] } = (await here.ticket('test')).status ?? {};
  expect(history[0]).toMatchObject({
    when: expect.stringMatching(/^2026-01-01T/),
    why: 'addresses 20.1.0.1 (VE) and 10.0.0.1 (LTM) of Loadbalancer demo are taken',
  });
  expect(history.at(-1)?.why).toMatch(/its addresses are free/);
});

test.each(['created', 'failed'])(
  'a %s ticket moved while nobody looks gets addresses of where it is now',
  async (state) => {
    const away = async () => fail('busy', 'the approver is away');
    const rejecting = {
      file: async () => ok('app'),
      ask: async () => ok({ status: 'rejected', message: 'no' }),
      withdraw: async () => ok(undefined),
    };
    const approver = state === 'failed' ? rejecting : { file: away, ask: away, withdraw: away };
    const here = await world({ approvers: { http: approver as never } });
    const policy = { provider: 'http' as const, url: 'http://approver.test' };
    await made(here.management.create(loadbalancers, lb({ ve: ve('20.1.0.0/29'), ltm: ltm('10.0.0.0/29'), policy })));
    const other = lb({ ve: ve('20.1.0.16/29'), ltm: ltm('10.0.0.16/29'), policy });
    await made(here.management.create(loadbalancers, { ...other, metadata: { name: 'spare' } }));
    await made(here.management.create(lbtickets, ticket('a')));
    await here.clock.advance(1000);
    const first = await here.ticket('a');
    expect([first.spec.veip, first.status?.process]).toEqual(['20.1.0.1', state]);
    await here.stop();
    const at = { name: 'a', namespace: 'project' };
    const body = { spec: { loadbalancer: 'spare' } };
    await made(here.management.patch(lbtickets, at, { type: 'merge', body }));
    await here.begin();
    await here.clock.advance(2000);
    const { spec } = await here.ticket('a');
    expect([spec.veip, spec.ltmip]).toEqual(['20.1.0.17', '10.0.0.17']);
  },
);

test('a ticket moved and disabled while nobody looks shows no addresses of where it was', async () => {
  let isAway = true;
  const file = async () => (isAway ? fail('busy', 'the approver is away') : ok('app'));
  const ask = async () => ok({ status: 'pending', message: '' });
  const here = await world({ approvers: { http: { file, ask, withdraw: async () => ok(undefined) } as never } });
  const policy = { provider: 'http' as const, url: 'http://approver.test' };
  const places = { demo: ['20.1.0.0/29', '10.0.0.0/29'], spare: ['20.1.0.16/29', '10.0.0.16/29'] } as const;
  for (const [name, [high, low]] of Object.entries(places)) {
    const one = lb({ ve: ve(high), ltm: ltm(low), policy });
    await made(here.management.create(loadbalancers, { ...one, metadata: { name } }));
  }
  await made(here.management.create(lbtickets, ticket('a')));
  await here.clock.advance(1000);
  await here.stop();
  const at = { name: 'a', namespace: 'project' };
  const body = { spec: { loadbalancer: 'spare', veip: null, ltmip: null, state: 'disabled' } };
  await made(here.management.patch(lbtickets, at, { type: 'merge', body }));
  isAway = false;
  await here.begin();
  await here.clock.advance(5000);
  const { spec, status } = await here.ticket('a');
  expect([spec.veip, status?.veip, status?.process]).toEqual(['20.1.0.17', '20.1.0.17', 'disabled']);
});

test('of two Loadbalancers with the same addresses on one device the older gives them out, until they are apart', async () => {
  // Without admission, which refuses the second.
  const here = await world();
  await made(here.management.create(loadbalancers, lb()));
  await here.clock.advance(2000);
  const twin = { ...lb(), metadata: { name: 'twin' } };
  await made(here.management.create(loadbalancers, twin));
  await made(here.management.create(lbtickets, ticket('test', { loadbalancer: 'twin' })));
  await here.clock.advance(2000);
  const said = (await here.loadbalancer('twin')).status?.conditions?.find(({ type }) => type === 'AddressesAvailable');
  expect(said).toMatchObject({ status: 'False', reason: 'taken' });
  expect(said?.message).toMatch(/overlaps .* of Loadbalancer demo on the same device/);
  expect((await here.ticket('test')).status).toMatchObject({ process: 'failed' });
  expect((await here.ticket('test')).status).not.toHaveProperty('veip');
  const apart = { ltm: { ...twin.spec.ltm, cidr: '10.9.0.0/24' }, ve: { ...twin.spec.ve, cidr: '20.9.0.0/24' } };
  await made(here.management.patch(loadbalancers, { name: 'twin' }, { type: 'merge', body: { spec: apart } }));
  await here.clock.advance(2000);
  expect((await here.ticket('test')).status).toMatchObject({ process: 'enabled', veip: '20.9.0.1' });
  const now = (await here.loadbalancer('twin')).status?.conditions?.find(({ type }) => type === 'AddressesAvailable');
  expect(now).toMatchObject({ status: 'True' });
});

test('a new ticket that is refused leaves the address that it was looked at with to others', async () => {
  const here = await world();
  await made(here.management.create(loadbalancers, lb({ ve: ve('20.1.0.0/30'), ltm: ltm('10.0.0.0/30') })));
  await made(here.management.create(lbtickets, ticket('wrong', { namespace: 'nowhere' })));
  await here.clock.advance(2000);
  expect((await here.ticket('wrong')).status).toMatchObject({ process: 'failed' });
  for (const name of ['a', 'b']) await made(here.management.create(lbtickets, ticket(name)));
  await here.clock.advance(2000);
  for (const name of ['a', 'b']) expect((await here.ticket(name)).status).toMatchObject({ process: 'enabled' });
});
