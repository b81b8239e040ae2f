// The rules of the ledger: one holder per address, pairs or nothing, what is shown before what is reserved, oldest first.
import { expect, test } from 'vitest';
import { Ledger, type PairWish } from './ledger.ts';
import { lb } from './testing/objects.ts';

function open(ve = '20.1.0.0/29', ltm = '10.0.0.0/29') {
  const woken: string[] = [];
  const ledger = new Ledger((ticket) => woken.push(ticket));
  const book = lb({
    ve: { addr: '200.1.1.1', cidr: ve },
    ltm: { url: 'http://l/api', cidr: ltm, mode: 'allocate' },
  });
  ledger.open(book);
  const take = (name: string, wish: PairWish = {}, created = 0) => {
    const taken = ledger.take('demo', { name, created }, wish);
    return taken.ok ? `${taken.value.veip} ${taken.value.ltmip}` : taken.problem.code;
  };
  return { ledger, take, woken, book };
}

test('a pair is reserved, and asking again gives it again', () => {
  const { take, ledger } = open();
  expect(take('a')).toBe('20.1.0.1 10.0.0.1');
  expect(take('b')).toBe('20.1.0.2 10.0.0.2');
  expect(take('a')).toBe('20.1.0.1 10.0.0.1');
  expect(ledger.capacity('demo')).toEqual({ ve: { total: 6, used: 2 }, ltm: { total: 6, used: 2 } });
});

test('when one of the pair cannot be had, the other goes back', () => {
  const { take, ledger } = open('20.1.0.0/29', '10.0.0.0/32');
  expect(take('a')).toBe('20.1.0.1 10.0.0.0');
  expect(take('b')).toBe('exhausted');
  expect(take('c', { ltmip: '10.9.9.9' })).toBe('invalid');
  expect(ledger.capacity('demo')?.ve.used).toBe(1);
});

test('a claim that the API server shows wins over a reservation, and not over an earlier claim', () => {
  const { take, ledger } = open();
  take('a');
  ledger.claim('demo', 'b', { veip: '20.1.0.1', ltmip: '10.0.0.9' });
  expect(take('a', { veip: '20.1.0.1' })).toBe('taken');
  ledger.claim('demo', 'c', { veip: '20.1.0.1' });
  expect(take('b', { veip: '20.1.0.1' })).toBe('20.1.0.1 10.0.0.9');
});

test('settling with another pair frees the first, and not before', () => {
  const { take, ledger } = open();
  take('a');
  ledger.settle('demo', 'a', { veip: '20.1.0.1', ltmip: '10.0.0.1' });
  expect(take('a', { veip: '20.1.0.5' })).toBe('20.1.0.5 10.0.0.1');
  expect(take('b', { veip: '20.1.0.1' })).toBe('taken');
  ledger.settle('demo', 'a', { veip: '20.1.0.5', ltmip: '10.0.0.1' });
  expect(take('b', { veip: '20.1.0.1' })).toBe('20.1.0.1 10.0.0.2');
});

test('who waits is woken when an address comes free, the oldest first, and is not overtaken', () => {
  const { take, ledger, woken } = open('20.1.0.0/32', '10.0.0.0/32');
  take('a', {}, 1);
  expect(take('young', {}, 9)).toBe('exhausted');
  expect(take('old', {}, 5)).toBe('exhausted');
  woken.length = 0;
  ledger.release('a');
  expect(new Set(woken)).toEqual(new Set(['old']));
  expect(take('youngest', {}, 10)).toBe('exhausted');
  expect(take('old', {}, 5)).toBe('20.1.0.0 10.0.0.0');
  expect(take('young', {}, 9)).toBe('exhausted');
});

test('who gives up waiting makes room for the next', () => {
  const { take, ledger, woken } = open('20.1.0.0/31', '10.0.0.0/31');
  take('a', {}, 1);
  take('b', {}, 2);
  expect(take('old', {}, 5)).toBe('exhausted');
  expect(take('young', {}, 9)).toBe('exhausted');
  ledger.release('a');
  woken.length = 0;
  ledger.leave('old');
  expect(woken).toEqual(['young']);
  expect(take('young', {}, 9)).toBe('20.1.0.0 10.0.0.0');
});

test('who asked for an address that another holds is woken when that one comes free', () => {
  const { take, ledger, woken } = open();
  take('a', { veip: '20.1.0.3' });
  expect(take('b', { veip: '20.1.0.3' })).toBe('taken');
  take('c');
  ledger.release('c');
  expect(woken).toEqual([]);
  ledger.release('a');
  expect(woken).toEqual(['b']);
});

test('a failed try wakes nobody, or two who wait would wake each other for ever', () => {
  const { take, woken } = open('20.1.0.0/29', '10.0.0.0/32');
  take('a', {}, 1);
  take('b', {}, 2);
  take('c', {}, 3);
  woken.length = 0;
  take('b', {}, 2);
  take('c', {}, 3);
  expect(woken).toEqual([]);
});

test('a network that grows wakes who waits, one that shrinks takes nothing away', () => {
  const { take, ledger, woken, book } = open('20.1.0.0/30', '10.0.0.0/29');
  take('a', { veip: '20.1.0.2' });
  take('b');
  expect(take('c')).toBe('exhausted');
  const grown = structuredClone(book);
  grown.spec.ve.cidr = '20.1.0.0/29';
  ledger.open(grown);
  expect(woken).toEqual(['c']);
  expect(take('c')).toBe('20.1.0.3 10.0.0.3');
  const shrunk = structuredClone(book);
  shrunk.spec.ve.cidr = '20.1.0.0/31';
  ledger.open(shrunk);
  expect(take('a', { veip: '20.1.0.2' })).toBe('20.1.0.2 10.0.0.1');
});

test('a network that cannot be read gives nothing out, and says where it is wrong', () => {
  const { ledger, take, book } = open();
  const bad = structuredClone(book);
  bad.spec.ltm.exclude = ['nonsense'];
  ledger.open(bad);
  expect(take('a')).toBe('invalid');
  expect(ledger.problem('demo')?.path).toBe('spec.ltm.exclude[0]');
  expect(ledger.capacity('demo')).toBeUndefined();
});

test('a ticket that may have been moved claims nothing that its Loadbalancer could not give', () => {
  const { take, ledger } = open();
  ledger.claim('demo', 'a', { veip: '20.9.0.1', ltmip: '10.0.0.3' }, true);
  expect(ledger.pairOf('demo', 'a')).toEqual({ ltmip: '10.0.0.3' });
  expect(take('a', { veip: '20.9.0.1' })).toBe('invalid');
  // Who was served from a network that shrank since keeps what it has.
  ledger.claim('demo', 'b', { veip: '20.9.0.1', ltmip: '10.0.0.4' });
  expect(ledger.pairOf('demo', 'b')).toEqual({ veip: '20.9.0.1', ltmip: '10.0.0.4' });
});
