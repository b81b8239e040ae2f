// A canary as people read it. Pure.
import type { Lbcanary } from '@fairlead/api';

const shareOf = (canary: Lbcanary): string => {
  const { phase = 'pending', weight } = canary.status ?? {};
  return weight === undefined ? phase : `${phase} ${weight} %`;
};

export const nameOf = ({ metadata }: Lbcanary): string => `${metadata.namespace ?? 'default'}/${metadata.name}`;

/** One line each, with a head. */
export function table(canaries: readonly Lbcanary[]): string[] {
  const rows = canaries.map((one) => [
    nameOf(one),
    `${one.spec.lbticket}/${one.spec.listner}${one.spec.lbrule === undefined ? '' : ` rule ${one.spec.lbrule}`}`,
    `${one.spec.service}:${one.spec.port}`,
    shareOf(one),
    conditionOf(one, 'Healthy')?.status ?? '',
  ]);
  const all = [['NAME', 'LISTNER', 'CANARY', 'PHASE', 'HEALTHY'], ...rows];
  const widths = all[0]?.map((_, i) => Math.max(...all.map((row) => row[i]?.length ?? 0))) ?? [];
  return all.map((row) =>
    row
      .map((cell, i) => cell.padEnd(widths[i] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}

/** All there is to say of one. `now`: milliseconds since the epoch. */
export function lines(canary: Lbcanary, now: number): string[] {
  const { spec, status = {} } = canary;
  const where =
    spec.lbrule === undefined ? `listner ${spec.listner}` : `rule ${spec.lbrule} on listner ${spec.listner}`;
  return [
    `canary   ${nameOf(canary)}: ${where} of ticket ${spec.lbticket}, to Service ${spec.service} port ${spec.port}`,
    `phase    ${shareOf(canary)}${timeOf(canary, now)}${spec.state === 'paused' ? ', paused' : ''}`,
    `steps    ${steps(canary)}${spec.mode === 'manual' ? ', by hand' : `, ${spec.pause} each`}`,
    ...(status.measured
      ? [
          `counted  ${status.measured.canaryRequests} requests to the canary, ${status.measured.requests} in all, ${status.measured.errors} failed`,
        ]
      : []),
    ...['Accepted', 'Programmed', 'Measured', 'Healthy'].flatMap((type) => condition(canary, type)),
    ...(status.history ?? []).map(historyLine),
  ];
}

/** What happened since `before`, for those who watch. */
export function news(before: Lbcanary | undefined, after: Lbcanary): string[] {
  const seen = before?.status?.history ?? [];
  const last = seen.at(-1);
  const all = after.status?.history ?? [];
  const from = last ? all.findLastIndex((one) => one.when === last.when && one.to === last.to) + 1 : 0;
  const told = all.slice(from).map(historyLine);
  const waiting = ['Accepted', 'Measured', 'Healthy'].flatMap((type) => {
    const now = conditionOf(after, type);
    const was = before && conditionOf(before, type);
    const isNew = now?.status !== was?.status || now?.reason !== was?.reason;
    return now && now.status !== 'True' && now.reason !== 'pending' && now.reason !== 'ended' && isNew
      ? condition(after, type)
      : [];
  });
  return [...told, ...waiting];
}

const historyLine = ({ when, to, why }: NonNullable<NonNullable<Lbcanary['status']>['history']>[number]): string =>
  `${when}  ${to.padEnd(14)}  ${why}`;

function steps({ spec, status }: Lbcanary): string {
  const at = status?.phase === 'shifting' ? (status.step ?? 0) : 0;
  return spec.steps.map((share, i) => (i + 1 === at ? `[${share} %]` : `${share} %`)).join(' ');
}

function timeOf({ status, spec }: Lbcanary, now: number): string {
  if (status?.since === undefined || (status.phase !== 'shifting' && status.phase !== 'baseline')) return '';
  const seconds = Math.max(0, Math.round((now - Date.parse(status.since)) / 1000));
  return `, for ${seconds} s of ${spec.pause}`;
}

const conditionOf = ({ status }: Lbcanary, type: string) => status?.conditions?.find((one) => one.type === type);

function condition(canary: Lbcanary, type: string): string[] {
  const found = conditionOf(canary, type);
  if (!found || (found.status === 'True' && found.message === '')) return [];
  const text = found.status === 'True' ? found.message : `${found.reason}: ${found.message}`;
  return [`${type.toLowerCase().slice(0, 8).padEnd(8)} ${text}`];
}
