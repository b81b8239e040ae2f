// Whose name stands on a ticket: a table over writes, through admission as an API server asks it.
import { expect, test } from 'vitest';
import { admission } from './admission.ts';
import type { Lbticket } from './lbticket.ts';
import { makeLoadbalancer, makeTicket, makeWorld } from './make.ts';

const admit = admission(makeWorld({ loadbalancers: [makeLoadbalancer()], lbtickets: [] }));
const resource = { group: 'ebcpaas.io', version: 'v1', resource: 'lbtickets' };

const withNotes = (ticket: Lbticket, annotations: Record<string, string>): Lbticket => ({
  ...ticket,
  metadata: { ...ticket.metadata, annotations },
});
const by = (user: string, ticket = makeTicket()) => withNotes(ticket, { 'fairlead.io/changed-by': user });

async function nameAfter(object: Lbticket, old: Lbticket | undefined, username?: string): Promise<string | undefined> {
  const verdict = await admit({
    operation: old ? 'UPDATE' : 'CREATE',
    resource,
    object,
    oldObject: old,
    userInfo: { username, groups: [] },
  });
  if (!verdict.allowed) throw new Error(verdict.status.message);
  const stored = (verdict.object ?? object) as Lbticket;
  return stored.metadata.annotations?.['fairlead.io/changed-by'];
}

const claimed = makeTicket({ claimer: 'team b' });
const free = makeTicket({ veip: '', ltmip: '' });
const chosen = withNotes(makeTicket({ veip: '20.1.0.9', ltmip: '10.0.0.9' }), {
  'fairlead.io/changed-by': 'ann',
  'fairlead.io/allocated': '20.1.0.9,10.0.0.9',
});

const rows: [what: string, object: Lbticket, old: Lbticket | undefined, want: string | undefined][] = [
  ['a new ticket has the name of who filed it', makeTicket(), undefined, 'bob'],
  ["a name that a user puts there is replaced by the user's own", by('ceo'), undefined, 'bob'],
  ['an edit of what is asked for has the name of who made it', by('ann', claimed), by('ann'), 'bob'],
  ['the same without the annotation, as apply sends it', claimed, by('ann'), 'bob'],
  ['a write that asks for nothing else leaves the name', withNotes(makeTicket(), { note: 'x' }), by('ann'), 'ann'],
  ['nor can it be changed by itself', by('ceo'), by('ann'), 'ann'],
  ['addresses that the controller chose are no edit', chosen, by('ann', free), 'ann'],
  ['addresses that a user names are one', makeTicket({ veip: '20.1.0.9', ltmip: '10.0.0.9' }), by('ann', free), 'bob'],
];

test.each(rows)('%s', async (_, object, old, want) => {
  expect(await nameAfter(object, old, 'bob')).toBe(want);
});

test('whom nobody names leaves none, and takes away what was claimed', async () => {
  expect(await nameAfter(by('ceo'), undefined)).toBeUndefined();
});

const policy = (status: 'True' | 'False', reason: string) => ({
  conditions: [{ type: 'NetworkPolicyOpen', status, reason, message: '', lastTransitionTime: '2026-01-01T00:00:00Z' }],
});
const waiting = { process: 'apply', ...policy('False', 'pending') } as const;
const answers: [what: string, after: Lbticket['status'], before: Lbticket['status'], want: string | undefined][] = [
  ['an approval has the name of who wrote it', { ...waiting, ...policy('True', 'Approved') }, waiting, 'bob'],
  ['so has a rejection', { ...waiting, ...policy('False', 'Rejected') }, waiting, 'bob'],
  [
    "a name that is sent along is replaced by the user's own",
    { ...waiting, ...policy('True', 'Approved'), answeredBy: 'ceo' },
    waiting,
    'bob',
  ],
  [
    'an approval that is turned into a rejection has the name of who turned it',
    { ...waiting, ...policy('False', 'rejected'), answeredBy: 'ann' },
    { ...waiting, ...policy('True', 'Approved'), answeredBy: 'ann' },
    'bob',
  ],
  [
    'who writes the rest of the status beside an answer leaves the name of who gave it',
    { ...waiting, ...policy('True', 'Approved'), answeredBy: 'ann', veip: '20.1.0.1' },
    { ...waiting, ...policy('True', 'Approved'), answeredBy: 'ann' },
    'ann',
  ],
  ['no answer has no name', { ...waiting, ...policy('False', 'unreachable') }, waiting, undefined],
  [
    'what the controller says with the next state is no answer',
    { process: 'enabled', ...policy('True', 'Opened') },
    waiting,
    undefined,
  ],
];

test.each(answers)('%s', async (_, after, before, want) => {
  const verdict = await admit({
    operation: 'UPDATE',
    resource,
    subresource: 'status',
    // Only the status is written so, and another spec beside it is nothing to judge.
    object: { ...makeTicket({ loadbalancer: '' }), status: after },
    oldObject: { ...makeTicket(), status: before },
    userInfo: { username: 'bob', groups: [] },
  });
  if (!verdict.allowed) throw new Error(verdict.status.message);
  const stored = (verdict.object ?? { status: after }) as Lbticket;
  expect(stored.status?.answeredBy).toBe(want);
  expect(stored.status?.conditions).toEqual(after?.conditions);
});
