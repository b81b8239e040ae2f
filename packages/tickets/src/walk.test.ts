// Random walks through the life of tickets, with faults everywhere. Twenty thousand of them, in two processes:
//   FC_RUNS=10000 FC_SEED=1 FC_SHRINK=no npx vitest run packages/tickets/src/walk.test.ts, and FC_SEED=2 beside it
// FC_SEED repeats the walks of a seed, FC_SHRINK=no shows the first that fails as it came.
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { walkers, type WalkStep } from './testing/steps.ts';
import { walks } from './testing/walk.ts';

/** A thousand take more than a minute of CPU, so on a desk there are fewer. */
const runs = Number(process.env['FC_RUNS'] ?? (process.env['CI'] ? 1000 : 150));
/** By chance where so many are asked for; otherwise always the same, so that a failure is the change's. */
const seed = process.env['FC_SEED'] ?? (process.env['FC_RUNS'] ? undefined : '1');

// Rather often the same, or few would come far.
const ticket = fc.constantFrom('a' as const, 'a' as const, ...walkers);
const balancer = fc.constantFrom('demo' as const, 'demo' as const, 'spare' as const);
const fault = fc.constantFrom('conflict' as const, 'lost' as const, 'gone' as const);
const approverFault = fc.constantFrom(
  { kind: 'outage' as const },
  { kind: 'lost' as const },
  { kind: 'twice' as const },
  { kind: 'slow' as const, ms: 5000 },
  { kind: 'slow' as const, ms: 30_000 },
);
const is = <const T extends string>(what: T) => fc.constant(what);
/** They grow, as far as nobody else is there, and shrink while nobody uses them. */
const network = fc.constantFrom<WalkStep>(
  { do: 'network', of: 'demo', layer: 'ltm', cidr: '10.0.0.0/29', isOverlapping: false },
  { do: 'network', of: 'demo', layer: 'ltm', cidr: '10.0.0.0/30', isOverlapping: false },
  { do: 'network', of: 'demo', layer: 'ltm', cidr: '10.0.0.0/28', isOverlapping: true },
  { do: 'network', of: 'spare', layer: 've', cidr: '20.1.0.16/28', isOverlapping: false },
  { do: 'network', of: 'spare', layer: 've', cidr: '20.1.0.16/29', isOverlapping: false },
  { do: 'network', of: 'spare', layer: 've', cidr: '20.1.0.0/27', isOverlapping: true },
);
const one: fc.Arbitrary<WalkStep> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: is('file'), ticket, on: balancer, veip: fc.constantFrom(undefined, undefined, '20.1.0.1', '20.1.0.5', '20.1.0.17', '9.9.9.9'), hasListner: fc.constantFrom(true, true, false) }) },
  { weight: 4, arbitrary: fc.record({ do: is('want'), ticket, state: fc.constantFrom('enabled' as const, 'disabled' as const, 'deleted' as const) }) },
  { weight: 3, arbitrary: fc.record({ do: is('edit'), ticket, what: fc.constantFrom('claimer' as const, 'balance' as const, 'broken' as const, 'address' as const, 'move' as const) }) },
  { weight: 2, arbitrary: fc.record({ do: is('give up'), ticket }) },
  { weight: 1, arbitrary: fc.record({ do: is('remove'), ticket }) },
  { weight: 3, arbitrary: fc.record({ do: is('rule'), ticket, what: fc.constantFrom('write' as const, 'write' as const, 'delete' as const, 'wrong' as const) }) },
  { weight: 1, arbitrary: network },
  { weight: 2, arbitrary: fc.record({ do: is('decide'), status: fc.constantFrom('opened' as const, 'opened' as const, 'rejected' as const, 'pending' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: is('policy'), of: balancer, at: fc.nat(1), isForced: fc.constantFrom(true, true, false) }) },
  { weight: 1, arbitrary: fc.record({ do: is('revoke'), at: fc.nat(1) }) },
  { weight: 2, arbitrary: fc.record({ do: is('approver'), fault: approverFault }) },
  { weight: 2, arbitrary: fc.record({ do: is('api'), side: fc.constantFrom('management' as const, 'target' as const), fault }) },
  { weight: 2, arbitrary: fc.record({ do: is('kill'), after: fc.nat(4), isLost: fc.boolean() }) },
  { weight: 2, arbitrary: fc.record({ do: is('restart') }) },
  { weight: 1, arbitrary: fc.record({ do: is('hand over'), overlap: fc.constantFrom(0, 50, 1000) }) },
  { weight: 1, arbitrary: fc.record({ do: is('cluster'), isAway: fc.boolean() }) },
  { weight: 3, arbitrary: fc.record({ do: is('report'), on: balancer, isGood: fc.constantFrom(true, true, false) }) },
  { weight: 3, arbitrary: fc.record({ do: is('wait'), ms: fc.constantFrom(100, 1000, 3000, 60_000) }) },
); // prettier-ignore

const filed = (name: (typeof walkers)[number], on: 'demo' | 'spare', hasListner: boolean): WalkStep[] => [
  { do: 'file', ticket: name, on, veip: undefined, hasListner },
  { do: 'wait', ms: 1000 },
];

/** Most walks begin where something is at stake, or few would come there. */
const openings = fc.constantFrom<WalkStep[]>(
  [],
  // It carries traffic.
  [...filed('a', 'demo', true), { do: 'report', on: 'demo', isGood: true }],
  [...filed('a', 'demo', true), { do: 'rule', ticket: 'a', what: 'write' }, { do: 'report', on: 'demo', isGood: true }],
  // One has the only address, another waits for it.
  [...filed('a', 'spare', false), ...filed('b', 'spare', false)],
  // Nobody has decided yet; and what was to be decided is gone.
  [{ do: 'decide', status: 'pending' }, ...filed('a', 'demo', true)],
  [{ do: 'decide', status: 'pending' }, ...filed('a', 'demo', true), { do: 'revoke', at: 0 }],
  // The only address rests.
  [...filed('a', 'spare', false), { do: 'give up', ticket: 'a' }],
);

test(
  `${runs} walks: whatever happens, all is sound at each step, and comes to its end when all is mended`,
  async () => {
    const walk = walks();
    const property = fc.asyncProperty(openings, fc.array(one, { minLength: 3, maxLength: 14 }), (opening, steps) =>
      walk([...opening, ...steps]),
    );
    await expect(
      fc.assert(property, {
        numRuns: runs,
        endOnFailure: process.env['FC_SHRINK'] === 'no',
        ...(seed ? { seed: Number(seed) } : {}),
      }),
    ).resolves.toBeUndefined();
  },
  Infinity,
);
