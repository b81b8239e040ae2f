// What of an object a copy keeps: who manages which field is half of many a small one, and seldom asked for.
import type { Lbticket } from '@fairlead/api';
import type { KubeObject, Service } from '@fairlead/kube';

// What is dropped is set to undefined, in the object itself, which was read for the copy alone: so all keep the one shape that
// the JSON gave them, where copies would each have a shape of their own, as large as what was saved.

export function withoutManagers<T extends KubeObject>(object: T): T {
  return dropped(object, object.metadata, ['managedFields']);
}

/** Who manages anything of it, and no more: labels are taken back only from what carries ours. */
export function withManagersNamed<T extends KubeObject>(object: T): T {
  const { metadata } = object as { metadata: { managedFields?: unknown } };
  if (Array.isArray(metadata.managedFields))
    metadata.managedFields = managersOf(metadata.managedFields as { manager?: string }[]);
  return object;
}

/** Lists of managers, by their names: there are few. */
const managerLists = new Map<string, { manager: string | undefined }[]>();
const mostLists = 256;

function managersOf(fields: readonly { manager?: string }[]): { manager: string | undefined }[] {
  const names = fields.map(({ manager }) => manager);
  const known = managerLists.get(names.join());
  if (known) return known;
  const list = names.map((manager) => ({ manager }));
  if (managerLists.size >= mostLists) managerLists.clear();
  managerLists.set(names.join(), list);
  return list;
}

function dropped<T extends object>(whole: T, part: object | undefined, fields: readonly string[]): T {
  const record = (part ?? {}) as Record<string, unknown>;
  for (const field of fields) if (record[field] !== undefined) record[field] = undefined;
  return whole;
}

/** A Service without its addresses, selector and policies: pools are filled from EndpointSlices, and matched by labels and ports. */
export function shortService(service: Service): Service {
  const { spec } = service;
  const unused = Object.keys(spec).filter((field) => field !== 'ports' && field !== 'type');
  return dropped(dropped(withManagersNamed(service), spec, unused), service, ['status']);
}

/** More than are in use: words of conditions, of histories and of filings, and moments. */
const mostWords = 8192;

/**
 * Lbtickets whose conditions and histories share their words: most say the same, and each would have its own copy of it
 * from the JSON.
 */
export function shortTickets(): (ticket: Lbticket) => Lbticket {
  const words = new Map<string, string>();
  const shared = (text: string): string => {
    const known = words.get(text);
    if (known !== undefined) return known;
    if (words.size >= mostWords) words.clear();
    words.set(text, text);
    return text;
  };
  return (ticket) => {
    const { conditions = [], history = [], filing = {} } = ticket.status ?? {};
    for (const record of [...conditions, ...history, filing] as unknown as Record<string, unknown>[])
      for (const [key, value] of Object.entries(record)) if (typeof value === 'string') record[key] = shared(value);
    return withoutManagers(ticket);
  };
}
