// What is wanted is made whole: texts of certificates beside the form, and a word on each Secret that cannot be used.
import { fail, ok, type Completed, type Item, type LoadBalancer, type Provider, type Result } from '@fairlead/core';
import { memory } from '@fairlead/providers';
import type { SecretPair, Source } from '@fairlead/sources';
import { expect, test } from 'vitest';
import { completed, keyPairsOf } from './certificates.ts';
import { make, ToldSource } from './testing/world.ts';

const pair = (digest: string, notAfter = 1_000): SecretPair => ({
  certificate: `C${digest}`,
  privateKey: `K${digest}`,
  digest,
  notAfter,
});

/** A source whose Secrets are `held`. */
class Holding extends ToldSource {
  readonly held: Record<string, Result<SecretPair>>;
  constructor(held: Record<string, Result<SecretPair>>) {
    super();
    this.held = held;
  }
  certificate = (_: string, secret: string): Result<SecretPair> | undefined => this.held[secret];
}

const lb: LoadBalancer = { ...make('shop/web'), secrets: { good: 'd1' } };

async function complete(
  source: Source,
  { open = [], found = [], now = 0 }: { open?: Completed<unknown>['open']; found?: Item<unknown>[]; now?: number } = {},
) {
  const provider: Provider = {
    ...memory(),
    complete: async (form: unknown) => ({ form, open, absent: [] }),
  } as unknown as Provider;
  const keyPairs = keyPairsOf(source, 'c1/shop/web', lb.secrets);
  const wish = { lb, asker: 'c1/shop/web', form: 'form', keyPairs };
  const signal = new AbortController().signal;
  return completed([wish], { owner: 'us', provider, sources: [source], found, now, signal });
}

const words = (problems: Awaited<ReturnType<typeof completed>>['problems']) =>
  [...(problems.get(lb.key)?.certificates ?? [])].map(([secret, { code, message }]) => `${secret} ${code}: ${message}`);

test('the texts of a Secret and those the place has go along, apart from the form', async () => {
  const there = { key: lb.key, form: 'old', owner: 'us', keyPairs: new Map([['gone#d0', pair('d0')]]) };
  const { wanted, problems } = await complete(new Holding({ good: ok(pair('d1')) }), { found: [there] });
  expect(wanted).toMatchObject([{ key: 'shop/web', form: 'form', owner: 'us' }]);
  expect([...(wanted[0]?.keyPairs?.keys() ?? [])].sort()).toEqual(['gone#d0', 'good#d1']);
  expect(words(problems)).toEqual([]);
});

test('what others have under the key is not taken for ours', async () => {
  const theirs = { key: lb.key, form: 'old', owner: 'them', keyPairs: new Map([['gone#d0', pair('d0')]]) };
  const { wanted } = await complete(new Holding({ good: ok(pair('d1')) }), { found: [theirs] });
  expect([...(wanted[0]?.keyPairs?.keys() ?? [])]).toEqual(['good#d1']);
});

test('a Secret that cannot be used is told once, with what becomes of its listeners', async () => {
  const source = new Holding({ good: ok(pair('d1')), lost: fail('missing', 'Secret shop/lost is not there') });
  const open = [
    { name: 'a', secret: 'lost', kept: true },
    { name: 'b', secret: 'lost', kept: false },
  ];
  expect(words((await complete(source, { open })).problems)).toEqual([
    'lost missing: Secret shop/lost is not there; until then what needs it is left off the device, and all else is there',
  ]);
  expect(words((await complete(source, { open: open.slice(0, 1) })).problems)).toEqual([
    'lost missing: Secret shop/lost is not there; until then the device keeps the certificate it has',
  ]);
});

test('one that came in the meantime is not told: its source has told of it', async () => {
  const source = new Holding({ good: ok(pair('d1')), late: ok(pair('d2')) });
  expect(words((await complete(source, { open: [{ name: 'a', secret: 'late', kept: false }] })).problems)).toEqual([]);
});

test.each([
  [999, []],
  [1_000, ['good expired: the certificate in Secret shop/good ended on 1970-01-01: renew it, for clients refuse it']],
])('at %i ms: %j', async (now, want) => {
  expect(words((await complete(new Holding({ good: ok(pair('d1')) }), { now })).problems)).toEqual(want);
});
