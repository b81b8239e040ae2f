// The certificates of a ticket's https listners, as the agent reports on their Secrets.
import type { Lbticket } from '@fairlead/api';
import type { ConfigMap, Told } from '@fairlead/kube';
import { fails, holds } from './finding.ts';
import { ticketName } from './names.ts';
import { retold } from './news.ts';
import { readEntries } from './configmap.ts';
import { isReported, readReport, type Said } from './report.ts';
import { conditionOf, type Fact } from './status.ts';

/** What is wrong with certificates of `ticket`, in the order of its listners. */
export function certificateProblems(ticket: Lbticket, configMap: ConfigMap): Said[] {
  const { applications = {} } = readReport(configMap) ?? {};
  const own = Object.keys(readEntries(configMap)[ticketName(ticket)]?.items ?? {});
  const problems = Object.assign({}, ...own.map((name) => applications[name]?.certificates)) as Record<string, Said>;
  return (ticket.spec.listners ?? []).flatMap(({ name, tls }) => {
    const secrets = tls ? new Set([tls.secretName, ...(tls.sni ?? []).map(({ secretName }) => secretName)]) : [];
    return [...secrets].flatMap((secret) => {
      const said = problems[secret];
      return said ? [{ code: said.code, message: `listner ${name}: ${said.message}` }] : [];
    });
  });
}

/** Rules of the device that listners of `ticket` name, and that are not there. */
export function ruleProblems(ticket: Lbticket, configMap: ConfigMap): Said[] {
  const { applications = {} } = readReport(configMap) ?? {};
  const own = Object.keys(readEntries(configMap)[ticketName(ticket)]?.items ?? {});
  const problems = Object.assign({}, ...own.map((name) => applications[name]?.rules)) as Record<string, Said>;
  return (ticket.spec.listners ?? []).flatMap(({ name, irules = [] }) =>
    irules.flatMap((rule) => {
      const said = problems[rule];
      return said ? [{ code: said.code, message: `listner ${name}: ${said.message}` }] : [];
    }),
  );
}

/** The condition `CertificatesValid`; undefined leaves it as it is, or absent where there never was an https listner. */
export function certificatesValid(ticket: Lbticket, configMap: ConfigMap | undefined): Fact | undefined {
  const isHttps = (ticket.spec.listners ?? []).some(({ tls }) => tls !== undefined);
  if (!isHttps)
    return conditionOf(ticket, 'CertificatesValid') ? holds('NoCertificates', 'no listner is https') : undefined;
  if (!configMap || !isReported(configMap)) return undefined;
  const problems = certificateProblems(ticket, configMap);
  const [first] = problems;
  return first ? fails(first.code, problems.map(({ message }) => message).join('; ')) : holds('Valid');
}

/** An Event when a certificate cannot be used or its time is over, and one when all are well again. */
export function certificateNews(before: Lbticket, after: Lbticket): Told[] {
  const news = retold('CertificatesValid', before, after);
  if (!news || (!news.was && news.is.status === 'True')) return [];
  const { is } = news;
  const { reason, message } = is;
  return is.status === 'True'
    ? [{ type: 'Normal', reason: 'CertificatesValid', message: 'all certificates are there and in date' }]
    : [{ type: 'Warning', reason: `Certificate${reason.charAt(0).toUpperCase()}${reason.slice(1)}`, message }];
}
