// What a CIS of somebody else's will not do as the ticket has it, and tells nobody (spec/f5.md §1.3, §3.2). Which of F5's
// two it is, is known to nobody here: so it is said of which it holds.
import type { Service } from '@fairlead/kube';
import type { Part } from './part.ts';

/** The AS3 classes that CIS-C takes, of those that stand in an application. */
const classesOfCisC = new Set([
  ...['HTTP', 'HTTPS', 'TCP', 'UDP', 'L4', 'Address'].map((name) => `Service_${name}`),
  ...['HTTP', 'Multiplex', 'TCP', 'UDP', 'FTP', 'L4'].map((name) => `${name}_Profile`),
  'Pool',
  'Monitor',
  'iRule',
  'Persist',
  'SNAT_Pool',
  'TLS_Server',
  'TLS_Client',
  'Certificate',
  'CA_Bundle',
]);

/**
 *   in the part                          | said
 *   -------------------------------------+-----------------------------------------------------
 *   an object of a class CIS-C has not   | its name: a list of a rule, mostly
 *   a Service's port and target port,    | CIS-C compares the pool with the port of the pods,
 *   which are two numbers                | and finds none
 *   a Service that is not there, or has   | nothing: `ServicesFound` does
 *   not the port                         |
 *   a target port by name                | nothing: it is a number only where the pods are
 */
export function cisLimits(
  { foreigners, pools }: Pick<Part, 'pools'> & { foreigners: readonly Foreigner[] },
  serviceOf: (name: string) => Service | undefined,
): string[] {
  const lists = foreigners.map(
    ({ path, kind }) => `CIS-C has no ${kind}, so what uses ${path} fails there${kind === 'Data_Group' ? instead : ''}`,
  );
  const ports = Object.entries(pools).flatMap(([pool, { service, port }]) => {
    const { targetPort = port } = serviceOf(service)?.spec.ports?.find((one) => one.port === port) ?? {};
    if (typeof targetPort === 'string' || targetPort === port) return [];
    return [
      `with CIS-C pool ${pool} stays empty, for it goes by the port of the pods: give Service ${service} the port ${targetPort}, its targetPort, and use that`,
    ];
  });
  return [...lists, ...ports];
}

/** An object of a class that CIS-C has not. `path`: `<application>/<name>`. */
export interface Foreigner {
  path: string;
  kind: string;
}

export const unknownToCisC = (items: Part['items']): Foreigner[] =>
  Object.entries(items)
    .flatMap(([application, objects]) =>
      Object.entries(objects).map(([name, item]) => ({ path: `${application}/${name}`, kind: classOf(item) })),
    )
    .filter(({ kind }) => !classesOfCisC.has(kind));

const instead = ': let rules have no addresses, and at most 20 values in an entry, or use CIS';

const classOf = (item: unknown): string =>
  typeof item === 'object' && item !== null && 'class' in item ? String(item.class) : '';
