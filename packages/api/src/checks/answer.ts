// What a person may write in the status of a ticket: the answer to its application, and nothing else (spec/tickets.md §6).
import { isEqual, refusal, type Refusal } from '@fairlead/core';
import { answerIn, type Lbticket } from '../lbticket.ts';

const answered = 'NetworkPolicyOpen';

/**
 *   in the status                     | a person may change it
 *   ----------------------------------+---------------------------------------------
 *   the condition NetworkPolicyOpen   | while the ticket is in apply
 *   answeredBy                        | with the answer: admission writes the name
 *   application, filing               | taken out, both: of an approver that is gone for good
 *   anything else                     | never: it is what the controllers found
 */
export function checkAnswer(object: Lbticket, old: Lbticket): Refusal[] {
  if (isEqual(object.status, old.status)) return [];
  const free = [
    ...(answerIn(object) === answerIn(old) ? [] : ['answeredBy']),
    ...(object.status?.application === undefined && object.status?.filing === undefined
      ? ['application', 'filing']
      : []),
  ];
  const isRestKept = isEqual(rest(object, free), rest(old, free));
  const isAnswerKept = isEqual(answer(object), answer(old));
  if (isRestKept && (isAnswerKept || old.status?.process === 'apply')) return [];
  const process = old.status?.process ?? 'new';
  const words = isRestKept
    ? {
        en: `an application is answered only while the ticket is in apply, this is ${process}: wait until it is, or leave the status alone`,
        zh: `只有工单处于 apply 状态时才能答复申请,此工单为 ${process}:请等待其进入该状态,或不要修改 status`,
      }
    : {
        en: `only the condition ${answered} may be changed by others than the controllers: leave the rest as it is (fairlead approve and fairlead reject do)`,
        zh: `除控制器外,只能修改 ${answered} 状况(condition):其余内容请保持不变(可使用 fairlead approve 或 fairlead reject)`,
      };
  return [refusal('denied', words, 'status')];
}

const answer = ({ status }: Lbticket) => status?.conditions?.find(({ type }) => type === answered);

/** All but the answer, and the fields that are free in this write. Conditions by type, for their order says nothing. */
function rest({ status = {} }: Lbticket, free: readonly string[]): object {
  const { conditions = [], ...others } = status;
  const byType = conditions.filter(({ type }) => type !== answered).map((one) => [one.type, one] as const);
  const kept = Object.entries(others).filter(([field]) => !free.includes(field));
  return { ...Object.fromEntries(kept), conditions: Object.fromEntries(byType) };
}
