// Events about the conditions Programmed and Accepted: when one turns bad, and when it is good again. What is on its way
// is no news: ten thousand new tickets say nothing, and an edit that goes through says nothing.
import type { Condition, Lbticket } from '@fairlead/api';
import type { Told } from '@fairlead/kube';
import { conditionOf, type ConditionType } from './status.ts';

/** A condition of which something else is said than before; undefined where nothing is said of it, or the same. */
export function retold(
  type: ConditionType,
  before: Lbticket,
  after: Lbticket,
): { was: Condition | undefined; is: Condition } | undefined {
  const [was, is] = [conditionOf(before, type), conditionOf(after, type)];
  return is && (was?.status !== is.status || was.message !== is.message) ? { was, is } : undefined;
}

interface News {
  /** The condition, which is the reason of its Event when it is good again. */
  type: 'Programmed' | 'Accepted';
  before: Condition | undefined;
  after: Condition | undefined;
}

/** What a condition says when nothing is wrong though it is False. */
const quiet: readonly string[] = ['pending', 'disabled', 'deleted'];

/** The condition, if it says that something is wrong. */
const wrongIn = (condition: Condition | undefined): Condition | undefined =>
  condition?.status === 'False' && !quiet.includes(condition.reason) ? condition : undefined;

/**
 *   it was          | and is                              | told
 *   ----------------+-------------------------------------+----------------------------------
 *   anything        | wrong, for another reason or edit   | Warning Not…
 *   wrong, earlier  | True                                | Normal …
 *   –, pending, True| pending, True, disabled, Unknown    | nothing
 *
 * `troubled`: subjects that were wrong when last something was said of them. Between wrong and good there may be
 * "pending" for a while, which alone would forget it. `subject`: of whom, by a key of its own.
 */
export function turnNews(troubled: Set<string>, subject: string, { type, before, after }: News): Told[] {
  const key = `${type} ${subject}`;
  const [was, is] = [wrongIn(before), wrongIn(after)];
  if (was || is) troubled.add(key);
  if (is) return was && isSame(was, is) ? [] : [{ type: 'Warning', reason: `Not${type}`, message: is.message }];
  if (after?.status === 'False' && after.reason !== 'pending') troubled.delete(key);
  if (after?.status !== 'True' || !troubled.delete(key)) return [];
  const message =
    after.message || (type === 'Programmed' ? 'what is asked for is on the device' : 'its ticket takes it');
  return [{ type: 'Normal', reason: type, message }];
}

/** The same words may count something; an edit that is wrong in another way is news. */
const isSame = (before: Condition, after: Condition): boolean =>
  before.reason === after.reason &&
  (before.message === after.message || before.observedGeneration === after.observedGeneration);

/** All that was said of the subject is forgotten with it. */
export function forgetNews(troubled: Set<string>, subject: string): void {
  for (const type of ['Programmed', 'Accepted']) troubled.delete(`${type} ${subject}`);
}
