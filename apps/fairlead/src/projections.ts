// What of an object a copy keeps: who manages which field is half of many a small one, and seldom asked for.
import type { Lbticket } from '@fairlead/api';
import type { KubeObject, Service } from '@fairlead/kube';

export function withoutManagers<T extends KubeObject>(object: T): T {
  const { managedFields: _, ...metadata } = object.metadata;
  return { ...object, metadata };
}

/** Who manages anything of it, and no more: labels are taken back only from what carries ours. */
export function withManagersNamed<T extends KubeObject>(object: T): T {
  const { managedFields, ...metadata } = object.metadata;
  if (!Array.isArray(managedFields)) return object;
  const named = (managedFields as { manager?: string }[]).map(({ manager }) => ({ manager }));
  return { ...object, metadata: { ...metadata, managedFields: named } };
}

/** A Service without its addresses and policies: pools are filled from EndpointSlices, and matched by labels and ports. */
export function shortService(service: Service): Service {
  const { apiVersion, kind, metadata, spec } = withManagersNamed(service);
  const { ports, selector, type } = spec;
  return {
    apiVersion,
    kind,
    metadata,
    spec: { ...(ports && { ports }), ...(selector && { selector }), ...(type && { type }) },
  };
}

/** More than are in use: words of conditions and of histories, and moments. */
const mostWords = 4096;

/**
 * Lbtickets whose conditions and histories share their words: most say the same, and each would have its own copy of it
 * from the JSON. Changes the object that it is given, which was read for the copy alone.
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
    const { conditions = [], history = [] } = ticket.status ?? {};
    for (const record of [...conditions, ...history] as unknown as Record<string, unknown>[])
      for (const [key, value] of Object.entries(record)) if (typeof value === 'string') record[key] = shared(value);
    return withoutManagers(ticket);
  };
}
