// Whether an Lbcanary may be written or removed, and what its target may not lose meanwhile.
import { type Refusal, type Words, refusal } from '@fairlead/core';
import { type Lbcanary, canaryTarget, isCanaryEnded, lbcanary as definition } from '../lbcanary.ts';
import { forceAnnotation } from '../lbticket.ts';
import type { WeightedService } from '../services.ts';
import { checkStructure, isUntouched } from './structure.ts';
import { type World, isSame, nameOf, ticketNamed } from './world.ts';

/** Problems of writing `object`; `old` is what is there before, if anything. */
export function checkLbcanary(object: Lbcanary, old: Lbcanary | undefined, world: World): Refusal[] {
  if (isUntouched(object, old)) return [];
  const wrong = checkStructure(definition, object, old);
  if (wrong.length > 0) return wrong;
  // What is shifted cannot change, so an edit is about pace and outcome only, and has to work whatever became of the target.
  if (old) return [];
  const problem = canaryProblem(object, world);
  return problem ? [problem] : checkAlone(object, world);
}

/** What of its target is missing, or does not fit. */
export function canaryProblem(canary: Lbcanary, world: Pick<World, 'lbtickets' | 'lbrules'>): Refusal | undefined {
  const services = canaryServices(canary, world);
  return 'problem' in services ? services.problem : problemOfServices(canary, services);
}

/**
 * Problems of removing the object: what it gave the canary goes back at once, which for a promoted one is an outage
 * nobody asked for.
 */
export function checkLbcanaryRemoval(object: Lbcanary, world: World): Refusal[] {
  if (object.status?.phase !== 'promoted' || object.metadata.annotations?.[forceAnnotation] === 'true') return [];
  const services = canaryServices(object, world);
  if ('problem' in services) return [];
  const others = services.filter((one) => !isCanary(object, one) && one.weight > 0);
  if (others.length === 0) return [];
  const [names, where] = [others.map(({ service }) => service).join(', '), whereOf(object)];
  const words = {
    en: `removing it gives requests back to ${names}: give ${object.spec.service} all the weight in ${where.en} first (fairlead canary finish does both), roll it back, or annotate ${forceAnnotation}="true"`,
    zh: `移除后请求将重新分给 ${names}:请先在 ${where.zh} 中把全部权重给 ${object.spec.service}(fairlead canary finish 可一并完成),或回滚,或添加注解 ${forceAnnotation}="true"`,
  };
  return [refusal('denied', words, 'metadata.name')];
}

/** The Services that the canary is one of, with the weights in the ticket or rule. */
export function canaryServices(
  { metadata, spec }: Lbcanary,
  world: Pick<World, 'lbtickets' | 'lbrules'>,
): WeightedService[] | { problem: Refusal } {
  const ticket = ticketNamed(world, metadata.namespace, spec.lbticket);
  if (!ticket) {
    return missing('spec.lbticket', {
      en: `there is no Lbticket ${spec.lbticket}: file it first, or correct the name`,
      zh: `没有 Lbticket ${spec.lbticket}:请先申请该工单,或更正名称`,
    });
  }
  const listner = ticket.spec.listners?.find(({ name }) => name === spec.listner);
  if (!listner) {
    const names = (ticket.spec.listners ?? []).map(({ name }) => name).join(', ');
    const known = names === '' ? { en: 'none', zh: '无' } : { en: names, zh: names };
    return missing('spec.listner', {
      en: `Lbticket ${spec.lbticket} has no listner ${spec.listner}; it has ${known.en}`,
      zh: `Lbticket ${spec.lbticket} 没有监听器 ${spec.listner};现有监听器:${known.zh}`,
    });
  }
  if (spec.lbrule === undefined) return listner.services;
  for (const rule of world.lbrules()) {
    if (rule.metadata.name !== spec.lbrule || rule.metadata.namespace !== metadata.namespace) continue;
    if (rule.spec.lbticket === spec.lbticket && rule.spec.listner === spec.listner) return rule.spec.services;
    const on = listnerWords(rule.spec);
    return missing('spec.lbrule', {
      en: `Lbrule ${spec.lbrule} is on ${on.en}: name these, or another rule`,
      zh: `Lbrule ${spec.lbrule} 属于 ${on.zh}:请填写它们,或选择其他规则`,
    });
  }
  return missing('spec.lbrule', {
    en: `there is no Lbrule ${spec.lbrule}: make it first, or correct the name`,
    zh: `没有 Lbrule ${spec.lbrule}:请先创建,或更正名称`,
  });
}

/** What of canaries that have not ended would no longer fit, were the world as given. */
export function droppedByCanary(
  world: Pick<World, 'lbtickets' | 'lbrules' | 'lbcanaries'>,
  concerns: (canary: Lbcanary) => boolean,
): Refusal[] {
  return [...(world.lbcanaries?.() ?? [])]
    .filter((canary) => !isCanaryEnded(canary) && concerns(canary))
    .flatMap((canary): Refusal[] => {
      const problem = canaryProblem(canary, world);
      if (!problem || isFinished(canary, canaryServices(canary, world))) return [];
      const words = {
        en: `Lbcanary ${nameOf(canary)} shifts requests to Service ${canary.spec.service} there, and then ${problem.message}; roll it back or delete it first`,
        zh: `Lbcanary ${nameOf(canary)} 正在此处把请求转移到 Service ${canary.spec.service},修改后${problem.zh};请先将其回滚或删除`,
      };
      return [refusal('denied', words, 'spec.services')];
    });
}

/** Once promoted, the others may go. */
const isFinished = (canary: Lbcanary, services: WeightedService[] | { problem: Refusal }): boolean =>
  canary.status?.phase === 'promoted' &&
  !('problem' in services) &&
  services.some((one) => isCanary(canary, one) && one.weight > 0);

const isCanary = ({ spec }: Lbcanary, { service, port }: WeightedService): boolean =>
  service === spec.service && port === spec.port;

const whereOf = ({ spec }: Lbcanary): Words =>
  spec.lbrule === undefined ? listnerWords(spec) : { en: `Lbrule ${spec.lbrule}`, zh: `规则 ${spec.lbrule}` };

const listnerWords = ({ listner, lbticket }: { listner: string; lbticket: string }): Words => ({
  en: `listner ${listner} of Lbticket ${lbticket}`,
  zh: `Lbticket ${lbticket} 的监听器 ${listner}`,
});

function problemOfServices(canary: Lbcanary, services: readonly WeightedService[]): Refusal | undefined {
  const { service, port } = canary.spec;
  const where = whereOf(canary);
  if (!services.some((one) => isCanary(canary, one))) {
    const known = services.map((one) => `${one.service}:${one.port}`).join(', ');
    return missing('spec.service', {
      en: `${where.en} has no Service ${service} with port ${port}, only ${known}: add it there with weight 0`,
      zh: `${where.zh} 中没有端口为 ${port} 的 Service ${service},只有 ${known}:请以权重 0 将其加入`,
    }).problem;
  }
  if (services.some((one) => !isCanary(canary, one) && one.weight > 0)) return undefined;
  const words = {
    en: `all requests of ${where.en} go to ${service} already: there is nothing to shift, and nothing to compare with`,
    zh: `${where.zh} 的全部请求已经发往 ${service}:没有可转移的请求,也没有可比较的对象`,
  };
  return refusal('invalid', words, 'spec.service');
}

function checkAlone(object: Lbcanary, world: World): Refusal[] {
  for (const other of world.lbcanaries?.() ?? []) {
    if (isSame(other, object) || isCanaryEnded(other) || canaryTarget(other) !== canaryTarget(object)) continue;
    const [where, phase] = [whereOf(object), other.status?.phase ?? 'new'];
    const words = {
      en: `Lbcanary ${nameOf(other)} is at work on ${where.en} (${phase}): wait for it, roll it back, or finish it`,
      zh: `Lbcanary ${nameOf(other)} 正在处理 ${where.zh}(${phase}):请等待其结束,或将其回滚或完成`,
    };
    return [refusal('taken', words, 'spec.listner')];
  }
  return [];
}

const missing = (path: string, words: Words): { problem: Refusal } => ({ problem: refusal('missing', words, path) });
