// One turn of one Lbrule: its conditions say whether the ticket takes it, and whether it is on the device.
import { lbrules, type Lbrule, type LbruleStatus, type Lbticket } from '@fairlead/api';
import { fail, isEqual, type Problem } from '@fairlead/core';
import { laterTry, type Desk, type Next } from './desk.ts';
import { ticketOf } from './directory.ts';
import { failed, fails, holds, onChange } from './finding.ts';
import { fieldManager, placeOf } from './names.ts';
import { forgetNews, turnNews } from './news.ts';
import { part } from './part.ts';
import { conditionOf, merge, timeText, type Fact } from './status.ts';

export async function ruleTurn(desk: Desk, key: string): Promise<Next> {
  const { namespace, name } = placeOf(key);
  const rule = desk.lbrules.read({ namespace, name });
  if (!rule) forgetNews(desk.troubled, `rule ${key}`);
  if (!rule || rule.metadata.deletionTimestamp !== undefined) return onChange;
  const ticket = desk.lbtickets.read({ namespace, name: rule.spec.lbticket });
  const problem = problemOf(desk, rule, ticket);
  const Accepted = problem ? failed(problem) : holds('Accepted');
  const Programmed = problem ? failed(problem) : programmedBy(ticket);
  const Ready = Programmed.status === 'True' ? holds('Ready') : Programmed;
  const { generation = 0, resourceVersion } = rule.metadata;
  const at = { time: timeText(desk.clock.now()), observed: generation };
  const conditions = merge(rule.status?.conditions ?? [], { Accepted, Programmed, Ready }, at);
  const status: LbruleStatus = { observedGeneration: generation, conditions };
  if (isEqual(status, rule.status)) return onChange;
  const patch = { type: 'merge' as const, body: { metadata: { resourceVersion }, status } };
  const written = await desk.kube.patch(lbrules, { name, namespace }, patch, { subresource: 'status', fieldManager });
  if (written.ok) {
    desk.tries.delete(`rule ${key}`);
    desk.lbrules.wrote(written.value, resourceVersion);
    tell(desk, rule, written.value);
    return onChange;
  }
  if (written.problem.code === 'missing') return onChange;
  desk.log(`Lbrule ${key}: its status is not written: ${written.problem.message}`);
  return { after: laterTry(desk, `rule ${key}`) };
}

/** What is not accepted is not programmed either, and once said is said. */
function tell(desk: Desk, before: Lbrule, after: Lbrule): void {
  const [accepted, programmed] = (['Accepted', 'Programmed'] as const).map((type) => {
    const [was, is] = [before, after].map(({ status }) => status?.conditions?.find((one) => one.type === type));
    const subject = `rule ${after.metadata.namespace ?? ''}/${after.metadata.name}`;
    return turnNews(desk.troubled, subject, { type, before: was, after: is });
  });
  desk.teller.tell(after, accepted?.length ? accepted : (programmed ?? []));
}

function problemOf(desk: Desk, rule: Lbrule, ticket: Lbticket | undefined): Problem | undefined {
  const name = ticketOf(rule);
  if (!ticket)
    return fail('missing', `Lbticket ${name} does not exist; file it, or name another`, 'spec.lbticket').problem;
  const listner = ticket.spec.listners?.find((one) => one.name === rule.spec.listner);
  if (!listner) {
    const has = ticket.spec.listners?.map((one) => one.name).join(', ') || 'none';
    const why = `Lbticket ${name} has no listner "${rule.spec.listner}"; it has ${has}`;
    return fail('missing', why, 'spec.listner').problem;
  }
  const loadbalancer = desk.loadbalancers.get({ name: ticket.spec.loadbalancer });
  if (!loadbalancer || !(ticket.status?.veip ?? ticket.spec.veip)) return undefined;
  // Only its own listner and itself: what is wrong elsewhere is said elsewhere.
  const alone = { ...ticket, spec: { ...ticket.spec, listners: [listner] } };
  const without = part({ loadbalancer, ticket: alone, rules: [] });
  const made = part({ loadbalancer, ticket: alone, rules: [rule] });
  return without.ok && !made.ok ? made.problem : undefined;
}

function programmedBy(ticket: Lbticket | undefined): Fact {
  if (ticket?.status?.process !== 'enabled') return fails('pending', 'its ticket is not enabled');
  const condition = conditionOf(ticket, 'Programmed');
  return condition
    ? { status: condition.status, reason: condition.reason, message: condition.message }
    : fails('pending', 'nothing is known of its ticket yet');
}
