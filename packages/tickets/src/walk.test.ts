// Random walks through the life of tickets, with faults everywhere. FC_RUNS=20000 walks more; FC_SEED=… repeats them, and
// FC_SHRINK=no shows the first that fails as it came.
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { ground, walkers, type WalkStep } from './testing/walk.ts';

/** A thousand take some two minutes of CPU, so on a desk there are fewer. */
const runs = Number(process.env['FC_RUNS'] ?? (process.env['CI'] ? 1000 : 150));
const seed = process.env['FC_SEED'];

// Rather often the same, or few would come far.
const ticket = fc.constantFrom('a' as const, 'a' as const, ...walkers);
const fault = fc.constantFrom('conflict' as const, 'lost' as const, 'gone' as const);
const approverFault = fc.constantFrom(
  { kind: 'outage' as const },
  { kind: 'lost' as const },
  { kind: 'twice' as const },
  { kind: 'slow' as const, ms: 5000 },
  { kind: 'slow' as const, ms: 30_000 },
);
const is = <const T extends string>(what: T) => fc.constant(what);
const one: fc.Arbitrary<WalkStep> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: is('file'), ticket, veip: fc.constantFrom(undefined, undefined, '20.1.0.1', '20.1.0.5', '9.9.9.9'), hasListner: fc.constantFrom(true, true, false) }) },
  { weight: 4, arbitrary: fc.record({ do: is('want'), ticket, state: fc.constantFrom('enabled' as const, 'disabled' as const, 'deleted' as const) }) },
  { weight: 3, arbitrary: fc.record({ do: is('edit'), ticket, what: fc.constantFrom('claimer' as const, 'balance' as const, 'broken' as const, 'address' as const) }) },
  { weight: 2, arbitrary: fc.record({ do: is('give up'), ticket }) },
  { weight: 1, arbitrary: fc.record({ do: is('remove'), ticket }) },
  { weight: 2, arbitrary: fc.record({ do: is('decide'), status: fc.constantFrom('opened' as const, 'opened' as const, 'rejected' as const, 'pending' as const) }) },
  { weight: 2, arbitrary: fc.record({ do: is('approver'), fault: approverFault }) },
  { weight: 2, arbitrary: fc.record({ do: is('api'), side: fc.constantFrom('management' as const, 'target' as const), fault }) },
  { weight: 2, arbitrary: fc.record({ do: is('kill'), after: fc.nat(4), isLost: fc.boolean() }) },
  { weight: 2, arbitrary: fc.record({ do: is('restart') }) },
  { weight: 1, arbitrary: fc.record({ do: is('hand over'), overlap: fc.constantFrom(0, 50, 1000) }) },
  { weight: 1, arbitrary: fc.record({ do: is('cluster'), isAway: fc.boolean() }) },
  { weight: 3, arbitrary: fc.record({ do: is('report'), isGood: fc.constantFrom(true, true, false) }) },
  { weight: 3, arbitrary: fc.record({ do: is('wait'), ms: fc.constantFrom(100, 1000, 3000, 60_000) }) },
); // prettier-ignore

/** Half of the walks begin with a ticket that carries traffic. */
const onDevice: WalkStep[] = [
  { do: 'file', ticket: 'a', veip: undefined, hasListner: true },
  { do: 'wait', ms: 1000 },
  { do: 'report', isGood: true },
];

test(
  `${runs} walks: whatever happens, all is sound at each step, and comes to its end when all is mended`,
  async () => {
    const { walk } = await ground();
    const walks = fc.asyncProperty(fc.boolean(), fc.array(one, { minLength: 3, maxLength: 14 }), (isOnDevice, steps) =>
      walk(isOnDevice ? [...onDevice, ...steps] : steps),
    );
    await expect(
      fc.assert(walks, {
        numRuns: runs,
        endOnFailure: process.env['FC_SHRINK'] === 'no',
        ...(seed ? { seed: Number(seed) } : {}),
      }),
    ).resolves.toBeUndefined();
  },
  Infinity,
);
