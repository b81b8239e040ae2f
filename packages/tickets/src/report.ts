// What the agent says of a ConfigMap in its status annotation, and what that means for one ticket.
import type { ConfigMap } from '@fairlead/kube';
import { readEntries } from './configmap.ts';
import { isRecord, parsedObject } from './json.ts';
import { annotations } from './names.ts';

/** The agent's report: of which revision it speaks, and what came of each application. */
export interface Report {
  revision: string;
  applications: Record<string, ApplicationReport>;
  /** The whole ConfigMap cannot be read. */
  problem?: { code: string; message: string } | undefined;
}

export type ApplicationReport = ({ ok: true } | ({ ok: false } & Said)) & {
  /** By Secret, what is wrong with the certificate from it. */
  certificates?: Record<string, Said> | undefined;
  /** By path, rules of the device that are not there. */
  rules?: Record<string, Said> | undefined;
};

export interface Said {
  code: string;
  message: string;
}

/** Undefined when there is none yet, or when somebody else wrote nonsense there. */
export function readReport(configMap: ConfigMap | undefined): Report | undefined {
  const { revision, applications, problem } = parsedObject(configMap?.metadata.annotations?.[annotations.status]);
  if (typeof revision !== 'string' || !isRecord(applications)) return undefined;
  const words = Object.entries(applications).flatMap(([name, said]) => (isRecord(said) ? [[name, wordOf(said)]] : []));
  return {
    revision,
    applications: Object.fromEntries(words),
    problem: isRecord(problem) ? saidOf(problem) : undefined,
  };
}

function wordOf(said: Record<string, unknown>): ApplicationReport {
  const word: ApplicationReport = said['ok'] === true ? { ok: true } : { ok: false, ...saidOf(said) };
  const [certificates, rules] = [saidIn(said['certificates']), saidIn(said['rules'])];
  return { ...word, ...(certificates && { certificates }), ...(rules && { rules }) };
}

function saidIn(value: unknown): Record<string, Said> | undefined {
  if (!isRecord(value)) return undefined;
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, one]) => (isRecord(one) ? [[name, saidOf(one)] as const] : [])),
  );
}

/** The code becomes the reason of a condition, which has to be one word. */
const saidOf = ({ code, message }: Record<string, unknown>): Said => ({
  code: typeof code === 'string' && /^[A-Za-z]\w{0,63}$/.test(code) ? code : 'invalid',
  message: typeof message === 'string' ? message : '',
});

const revisionOf = (configMap: ConfigMap | undefined): string | undefined =>
  configMap?.metadata.annotations?.[annotations.revision];

/** Is all of the ConfigMap on the device, and what is not in it gone from there? */
export function isDone(configMap: ConfigMap): boolean {
  const report = readReport(configMap);
  if (report === undefined || report.revision !== revisionOf(configMap) || report.problem) return false;
  // While an application is not ok, what was taken out of it may be there still.
  return Object.values(report.applications).every((said) => said.ok);
}

/** Does the report speak of what the ConfigMap says now? */
export const isReported = (configMap: ConfigMap | undefined): boolean =>
  configMap !== undefined && readReport(configMap)?.revision === revisionOf(configMap);

/** `pending`: the agent has not spoken of this ConfigMap yet. */
export type Outcome = 'pending' | 'programmed' | { code: string; message: string };

/** What came of the objects that `ticket` has in the ConfigMap. */
export function outcomeOf(configMap: ConfigMap, ticket: string): Outcome {
  const report = readReport(configMap);
  if (report === undefined || report.revision !== revisionOf(configMap)) return 'pending';
  if (report.problem) return report.problem;
  for (const application of Object.keys(readEntries(configMap)[ticket]?.items ?? {})) {
    const said = report.applications[application];
    if (said === undefined) return 'pending';
    if (!said.ok) return { code: said.code, message: `${application}: ${said.message}` };
  }
  return 'programmed';
}
