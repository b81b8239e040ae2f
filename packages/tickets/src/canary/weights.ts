// What a canary makes of the weights in a ticket and its rules: pure, so that `plan` and `explain` see the same.
import { isCanaryEnded, type Lbcanary, type WeightedService } from '@fairlead/api';
import { apportion } from '@fairlead/core';
import type { TicketQuestion } from '../model.ts';

/** The question with the weights that its canaries have set. What users wrote is not changed, only read differently. */
export function shifted({ canaries = [], ...question }: TicketQuestion): TicketQuestion {
  const { ticket, rules } = question;
  const atWork = canaries.filter(
    (one) =>
      one.spec.lbticket === ticket.metadata.name &&
      one.metadata.namespace === ticket.metadata.namespace &&
      one.status?.weight !== undefined &&
      !isCanaryEnded(one),
  );
  if (atWork.length === 0) return question;
  const on = (listner: string, rule?: string) =>
    atWork.find(({ spec }) => spec.listner === listner && spec.lbrule === rule);
  const listners = ticket.spec.listners?.map((listner) => ({
    ...listner,
    services: shiftedServices(listner.services, on(listner.name)),
  }));
  return {
    ...question,
    ticket: { ...ticket, spec: { ...ticket.spec, ...(listners ? { listners } : {}) } },
    rules: rules.map((rule) => ({
      ...rule,
      spec: {
        ...rule.spec,
        services: shiftedServices(rule.spec.services, on(rule.spec.listner, rule.metadata.name)),
      },
    })),
  };
}

/**
 * The canary gets its share of 100, the others the rest in their own proportion. The order stays: the first pool is the
 * virtual server's own, and must not change. Services without the canary, or with nothing else, stay as they are.
 */
export function shiftedServices(
  services: readonly WeightedService[],
  canary: Pick<Lbcanary, 'spec' | 'status'> | undefined,
): WeightedService[] {
  const share = canary?.status?.weight;
  const own = services.find(({ service, port }) => service === canary?.spec.service && port === canary.spec.port);
  const others = services.filter((one) => one !== own);
  if (share === undefined || !own || others.every(({ weight }) => weight === 0)) return [...services];
  const parts = apportion(
    others.map(({ weight }) => weight),
    100 - share,
  );
  return services.map((one) => ({ ...one, weight: one === own ? share : (parts[others.indexOf(one)] ?? 0) }));
}
