import { expect, test } from 'vitest';
import type { LbticketStatus } from '../lbticket.ts';
import { makeTicket } from '../make.ts';
import { checkAnswer } from './answer.ts';

const condition = (type: string, status: 'True' | 'False', reason: string, message = '') => ({
  type,
  status,
  reason,
  message,
  lastTransitionTime: '2026-01-01T00:00:00Z',
});
const allocated = condition('Allocated', 'True', 'Allocated');
const pending = condition('NetworkPolicyOpen', 'False', 'pending');
const open = condition('NetworkPolicyOpen', 'True', 'Approved', 'by me');
const rejected = condition('NetworkPolicyOpen', 'False', 'rejected', 'no');

const waiting: LbticketStatus = {
  process: 'apply',
  veip: '20.1.0.1',
  ltmip: '10.0.0.1',
  application: 'manual-1',
  conditions: [allocated, pending],
  history: [{ when: '2026-01-01T00:00:00Z', to: 'created', why: 'x' }],
};
const enabled: LbticketStatus = { ...waiting, process: 'enabled', conditions: [allocated, open] };

const { application: _, ...noApplication } = enabled;

test.each<[string, LbticketStatus | undefined, LbticketStatus | undefined, RegExp | undefined]>([
  ['nothing', waiting, waiting, undefined],
  ['an approval', { ...waiting, conditions: [allocated, open], answeredBy: 'otto' }, waiting, undefined],
  ['a rejection, in another order', { ...waiting, conditions: [rejected, allocated] }, waiting, undefined],
  ['a first condition', { process: 'apply', conditions: [open] }, { process: 'apply' }, undefined],
  ['another message', { ...waiting, conditions: [allocated, { ...pending, message: 'soon' }] }, waiting, undefined],
  ['the application out', noApplication, enabled, undefined],
  ['another application', { ...enabled, application: 'manual-2' }, enabled, /only the condition/],
  ['the state', { ...waiting, process: 'deleted' }, waiting, /only the condition NetworkPolicyOpen/],
  ['an address', { ...waiting, veip: '20.1.0.9' }, waiting, /only the condition/],
  ['the history', { ...waiting, history: [] }, waiting, /only the condition/],
  ['an answer and more', { ...waiting, conditions: [open], process: 'enabled' }, waiting, /only the condition/],
  ['another condition', { ...waiting, conditions: [pending] }, waiting, /only the condition/],
  ['a name without an answer', { ...waiting, answeredBy: 'ceo' }, waiting, /only the condition/],
  ['all of it away', undefined, waiting, /only the condition/],
  ['an answer that comes late', { ...enabled, conditions: [allocated, rejected] }, enabled, /this is enabled/],
  ['an answer to nothing', { conditions: [open] }, undefined, /this is new/],
])('a person writes %s', (_, after, before, want) => {
  const problems = checkAnswer(
    { ...makeTicket(), ...(after ? { status: after } : {}) },
    { ...makeTicket(), ...(before ? { status: before } : {}) },
  );
  expect(problems.map(({ path }) => path)).toEqual(want ? ['status'] : []);
  if (want) expect(problems[0]?.message).toMatch(want);
});
