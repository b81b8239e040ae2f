// The eviction subresource of a pod: a delete that waits for the disruption budgets the pod counts in.
import { reviewedPost } from '../admission/admit.ts';
import { deleteOptionsOf, isDryRun } from '../options.ts';
import { remove } from '../remove.ts';
import { isTree, listOf, timeText, treeOf, type KubeObject, type Tree } from '../object.ts';
import { own } from '../own.ts';
import { posted } from '../posted.ts';
import { keyOf, part } from '../resource.ts';
import { matchesSelector } from '../selector.ts';
import { decode } from '../store.ts';
import { badRequest, failure, forbidden, internal, notFound, ok, refuse, type Result, type Status } from '../status.ts';
import { nameOf, type Place } from '../write.ts';

const eviction = { group: 'policy', kind: 'Eviction', schema: 'io.k8s.api.policy.v1.Eviction' };
const budgetKey = { group: 'policy', resource: 'poddisruptionbudgets', isNamespaced: true };
/** More pods than this may not be on their way out at once: the budget's status would grow without end. */
const mostDisrupted = 2000;

/** POST of an Eviction. 429 while a budget does not allow it; the client is to try again. */
export async function evict(place: Place): Promise<Result<void>> {
  const sent = await posted(place, eviction);
  if (!sent.ok) return sent;
  const body = await reviewedPost(place, sent.value, { group: eviction.group, version: 'v1', kind: eviction.kind });
  if (!body.ok) return body;
  const { cluster, call, resource } = place;
  const { namespace, name } = call.target;
  if (body.value.metadata.name !== undefined && body.value.metadata.name !== name)
    return refuse(badRequest('name in URL does not match name in Eviction object'));
  const options = deleteOptionsOf(call, treeOf(body.value.deleteOptions));
  if (!options.ok) return options;
  const entry = cluster.store.get(keyOf(resource, namespace, name));
  if (!entry) return refuse(notFound(nameOf(place), name));
  const pod = decode(entry.text);
  if (needsBudget(pod)) {
    const granted = await takeFromBudget(place, pod, options.value.dryRun === true);
    if (!granted.ok) return granted;
  }
  const removed = await remove(place, options.value, { isAdmitted: true });
  return removed.ok ? ok(undefined) : removed;
}

/** A pod that does no work, or is going anyway, takes nothing away from its application. */
function needsBudget(pod: KubeObject): boolean {
  const phase = part(pod, 'status').phase;
  return !pod.metadata.deletionTimestamp && phase !== 'Succeeded' && phase !== 'Failed' && phase !== 'Pending';
}

async function takeFromBudget(place: Place, pod: KubeObject, isTrial: boolean): Promise<Result<void>> {
  const budgets = budgetsOf(place, pod);
  const [budget] = budgets;
  if (!budget) return ok(undefined);
  if (budgets.length > 1)
    return refuse(
      internal('This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.'),
    );
  if (!isReady(pod) && allowsUnhealthy(budget)) return ok(undefined);
  if (isTrial || isDryRun(place.call)) return asResult(budgetProblem(budget));
  let problem: Status | undefined;
  const now = timeText(place.cluster.clock.now());
  // Decided on the budget as it is when it is written: two evictions never take the same allowance.
  await own(place.cluster).change('policy/v1', 'poddisruptionbudgets', {
    name: budget.metadata.name ?? '',
    namespace: place.call.target.namespace,
    subresource: 'status',
    change(current) {
      problem = budgetProblem(current);
      if (!problem) take(current, place.call.target.name, now);
    },
  });
  return asResult(problem);
}

const asResult = (problem: Status | undefined): Result<void> => (problem ? refuse(problem) : ok(undefined));

function budgetsOf({ cluster, call }: Place, pod: KubeObject): KubeObject[] {
  const entries = cluster.store.table(keyOf(budgetKey)).range(keyOf(budgetKey, call.target.namespace));
  return entries
    .map((entry) => decode(entry.text))
    .filter((budget) => {
      const selector = part(budget, 'spec').selector;
      return isTree(selector) && matchesSelector(selector, pod.metadata.labels ?? {});
    });
}

const isReady = (pod: KubeObject): boolean =>
  listOf(part(pod, 'status').conditions)
    .map(treeOf)
    .some((one) => one.type === 'Ready' && one.status === 'True');

/** A pod that is not ready may go: always, or (as a rule) while enough others are well. */
function allowsUnhealthy(budget: KubeObject): boolean {
  if (part(budget, 'spec').unhealthyPodEvictionPolicy === 'AlwaysAllow') return true;
  const { current, desired } = countsOf(budget);
  return current >= desired && desired > 0;
}

const countsOf = (budget: KubeObject): { current: number; desired: number; allowed: number } => {
  const status = part(budget, 'status');
  return {
    current: Number(status.currentHealthy ?? 0),
    desired: Number(status.desiredHealthy ?? 0),
    allowed: Number(status.disruptionsAllowed ?? 0),
  };
};

const group = { group: 'policy', resource: 'poddisruptionbudgets' };

/** Why the budget does not let one more pod go. */
function budgetProblem(budget: KubeObject): Status | undefined {
  const name = budget.metadata.name ?? '';
  const status = part(budget, 'status');
  const { current, desired, allowed } = countsOf(budget);
  if (Number(status.observedGeneration ?? 0) < (budget.metadata.generation ?? 0))
    return tooMany(`The disruption budget ${name} is still being processed by the server.`, 10);
  if (allowed < 0) return forbidden(group, name, 'pdb disruptions allowed is negative');
  if (Object.keys(treeOf(status.disruptedPods)).length > mostDisrupted)
    return forbidden(group, name, 'DisruptedPods map too big - too many evictions not confirmed by PDB controller');
  if (allowed > 0) return undefined;
  return tooMany(
    current <= desired
      ? `The disruption budget ${name} needs ${desired} healthy pods and has ${current} currently`
      : `The disruption budget ${name} does not allow evicting pods currently`,
  );
}

const tooMany = (message: string, seconds?: number): Status =>
  failure(429, 'TooManyRequests', "Cannot evict pod as it would violate the pod's disruption budget.", {
    causes: [{ reason: 'DisruptionBudget', message }],
    ...(seconds === undefined ? {} : { retryAfterSeconds: seconds }),
  });

function take(budget: KubeObject, pod: string, now: string): void {
  const status: Tree = part(budget, 'status');
  const disruptedPods = { ...treeOf(status.disruptedPods), [pod]: now };
  const disruptionsAllowed = Number(status.disruptionsAllowed ?? 0) - 1;
  const others = listOf(status.conditions).filter((one) => treeOf(one).type !== 'DisruptionAllowed');
  const condition = {
    type: 'DisruptionAllowed',
    status: disruptionsAllowed > 0 ? 'True' : 'False',
    reason: disruptionsAllowed > 0 ? 'SufficientPods' : 'InsufficientPods',
    message: '',
    observedGeneration: budget.metadata.generation ?? 0,
    lastTransitionTime: now,
  };
  budget.status = { ...status, disruptionsAllowed, disruptedPods, conditions: [...others, condition] };
}
