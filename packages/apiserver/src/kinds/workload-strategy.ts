// How workloads put new pods in the place of old ones: the strategies of deployments, stateful sets and daemon sets.
import { forbiddenField, invalidValue, required, unsupported } from '../field-error.ts';
import { isTree, treeOf, type Tree } from '../object.ts';
import type { Cause } from '../status.ts';
import { amountCauses, amountOf, negativeCauses, shareCauses } from './amounts.ts';

/*
   kind        | types                   | rolling update
   ------------+-------------------------+------------------------------------------------------------
   Deployment  | Recreate, RollingUpdate | surge and unavailable not both 0, unavailable up to 100%
   StatefulSet | RollingUpdate, OnDelete | partition not negative
   DaemonSet   | RollingUpdate, OnDelete | either surge or unavailable is 0, not both, both up to 100%
*/

export function deploymentStrategyCauses(strategy: Tree): Cause[] {
  const path = 'spec.strategy';
  const rolling = treeOf(strategy.rollingUpdate);
  if (strategy.type === 'Recreate')
    return strategy.rollingUpdate
      ? [forbiddenField(`${path}.rollingUpdate`, "may not be specified when strategy `type` is 'Recreate'")]
      : [];
  if (strategy.type !== 'RollingUpdate')
    return [unsupported(path, printed(strategy, podAmounts), ['Recreate', 'RollingUpdate'])];
  const below = `${path}.rollingUpdate`;
  const causes = [
    ...amountCauses(rolling.maxUnavailable, `${below}.maxUnavailable`),
    ...amountCauses(rolling.maxSurge, `${below}.maxSurge`),
  ];
  if (amountOf(rolling.maxUnavailable) === 0 && amountOf(rolling.maxSurge) === 0)
    causes.push(invalidValue(`${below}.maxUnavailable`, rolling.maxUnavailable, 'may not be 0 when `maxSurge` is 0'));
  return [...causes, ...shareCauses(rolling.maxUnavailable, `${below}.maxUnavailable`)];
}

export function statefulStrategyCauses(strategy: Tree): Cause[] {
  const path = 'spec.updateStrategy';
  if (strategy.type === 'RollingUpdate') {
    const rolling = treeOf(strategy.rollingUpdate);
    const below = `${path}.rollingUpdate`;
    return [
      ...negativeCauses(rolling, below, 'partition'),
      ...amountCauses(rolling.maxUnavailable, `${below}.maxUnavailable`),
      ...shareCauses(rolling.maxUnavailable, `${below}.maxUnavailable`),
    ];
  }
  if (strategy.type !== 'OnDelete')
    return [invalidValue(path, printed(strategy, partitions), "must be 'RollingUpdate' or 'OnDelete'")];
  if (!strategy.rollingUpdate) return [];
  const rolling = printed(strategy, partitions).RollingUpdate;
  return [invalidValue(`${path}.rollingUpdate`, rolling, "only allowed for updateStrategy 'RollingUpdate'")];
}

export function daemonStrategyCauses(strategy: Tree): Cause[] {
  const path = 'spec.updateStrategy';
  if (strategy.type === 'OnDelete') return [];
  if (strategy.type !== 'RollingUpdate')
    return [unsupported(path, printed(strategy, podAmounts), ['RollingUpdate', 'OnDelete'])];
  const below = `${path}.rollingUpdate`;
  const { maxUnavailable, maxSurge } = treeOf(strategy.rollingUpdate);
  const causes = [
    ...amountCauses(maxUnavailable, `${below}.maxUnavailable`),
    ...amountCauses(maxSurge, `${below}.maxSurge`),
    ...shareCauses(maxUnavailable, `${below}.maxUnavailable`),
    ...shareCauses(maxSurge, `${below}.maxSurge`),
  ];
  const isUnavailable = amountOf(maxUnavailable) !== 0;
  const isSurging = amountOf(maxSurge) !== 0;
  if (isUnavailable && isSurging)
    causes.push(invalidValue(`${below}.maxSurge`, maxSurge, 'may not be set when maxUnavailable is non-zero'));
  if (!isUnavailable && !isSurging) causes.push(required(`${below}.maxUnavailable`, 'cannot be 0 when maxSurge is 0'));
  return causes;
}

const podAmounts = (rolling: Tree): Tree => ({
  MaxUnavailable: rolling.maxUnavailable ?? 0,
  MaxSurge: rolling.maxSurge ?? 0,
});
const partitions = (rolling: Tree): Tree => ({
  Partition: rolling.partition ?? 0,
  MaxUnavailable: rolling.maxUnavailable ?? null,
});

/** A strategy as the real server prints one it refuses: by the names of its own structure. */
const printed = (strategy: Tree, rolling: (given: Tree) => Tree): Tree => ({
  Type: strategy.type ?? '',
  RollingUpdate: isTree(strategy.rollingUpdate) ? rolling(strategy.rollingUpdate) : null,
});
