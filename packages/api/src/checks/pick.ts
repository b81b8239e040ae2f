// Weights that cannot work: behind a first layer of ours the VE sees the LTM's own addresses, and picks by them.
import type { Words } from '@fairlead/core';
import type { Lbrule } from '../lbrule.ts';
import type { Lbticket } from '../lbticket.ts';
import { type Listner, isHttp } from '../listner.ts';
import { type World, loadbalancerNamed, ticketNamed } from './world.ts';

/** For a ticket: of each listner that shares requests out between Services, itself or in a rule. */
export function pickWarnings(ticket: Lbticket, world: World): Words[] {
  if (!isBehindLtm(ticket, world)) return [];
  const rules = [...world.lbrules()].filter(
    (rule) => rule.metadata.namespace === ticket.metadata.namespace && rule.spec.lbticket === ticket.metadata.name,
  );
  return (ticket.spec.listners ?? []).flatMap((listner, i) => {
    const sharing = [listner, ...rules.filter(({ spec }) => spec.listner === listner.name).map(({ spec }) => spec)];
    const field = `spec.listners[${i}]`;
    return sharing.some(isShared) ? warning({ en: field, zh: field }, listner) : [];
  });
}

/** For a rule that shares requests out between Services. */
export function rulePickWarnings(rule: Lbrule, world: World): Words[] {
  const ticket = ticketNamed(world, rule.metadata.namespace, rule.spec.lbticket);
  const listner = ticket?.spec.listners?.find(({ name }) => name === rule.spec.listner);
  if (!ticket || !listner || !isShared(rule.spec) || !isBehindLtm(ticket, world)) return [];
  const { name } = ticket.metadata;
  const where = { en: `listner ${listner.name} of Lbticket ${name}`, zh: `Lbticket ${name} 的监听器 ${listner.name}` };
  return warning(where, listner);
}

const isBehindLtm = ({ spec }: Lbticket, world: World): boolean =>
  loadbalancerNamed(world, spec.loadbalancer)?.spec.ltm.mode === 'as3';

const isShared = ({ services }: { services: readonly { weight: number }[] }): boolean =>
  services.filter(({ weight }) => weight > 0).length > 1;

function warning(where: Words, { protocal, stickiness, pickBy }: Listner): Words[] {
  if (stickiness !== 'source') return [];
  const other = isHttp(protocal)
    ? { en: 'use stickiness cookie or random', zh: '请将 stickiness 改为 cookie 或 random' }
    : { en: 'use stickiness random', zh: '请将 stickiness 改为 random' };
  const why =
    pickBy === 'client-address'
      ? {
          en: 'the VE sees the addresses of the LTM, not of clients, so stickiness source sends (nearly) all requests to one Service',
          zh: 'VE 看到的是 LTM 的地址而不是客户端的地址,stickiness 为 source 会把(几乎)所有请求发往同一个 Service',
        }
      : {
          en: 'the LTM passes connections through and sets no X-Forwarded-For, so pickBy goes by what a proxy before it set, and where there is none by what the client claims',
          zh: 'LTM 只转发连接,不设置 X-Forwarded-For,pickBy 依据的是其前方代理设置的值,没有代理时则是客户端自称的值',
        };
  return [
    {
      en: `${where.en}: with ltm.mode as3 ${why.en}: ${other.en}`,
      zh: `${where.zh}:ltm.mode 为 as3 时,${why.zh}:${other.zh}`,
    },
  ];
}
