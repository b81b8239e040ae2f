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

/** More than are in use: conditions, lines of histories and filings, ports of Services, namespaces and moments. */
const mostKept = 8192;

/** Gives each value back as it was first given under its key, so that of many that say the same one is kept. */
function sharing<T>(): (key: string, value: T) => T {
  const known = new Map<string, T>();
  return (key, value) => {
    const present = known.get(key);
    if (present !== undefined) return present;
    if (known.size >= mostKept) known.clear();
    known.set(key, value);
    return value;
  };
}

/** What of every object is the same in many. */
function sharedWords(): (object: KubeObject) => void {
  const shared = sharing<string>();
  const word = (text: string): string => shared(text, text);
  return (object) => {
    const { metadata } = object;
    object.apiVersion = word(object.apiVersion);
    if (metadata.namespace) metadata.namespace = word(metadata.namespace);
    if (metadata.creationTimestamp) metadata.creationTimestamp = word(metadata.creationTimestamp);
    if (metadata.finalizers) metadata.finalizers = metadata.finalizers.map(word);
  };
}

/** Services without their addresses, selector and policies: pools are filled from EndpointSlices, and matched by labels and ports. */
export function shortServices(): (service: Service) => Service {
  const words = sharedWords();
  const specs = sharing<Service['spec']>();
  return (service) => {
    const { ports, type } = service.spec;
    const spec = { ...(ports && { ports }), ...(type && { type }) };
    words(service);
    service.spec = specs(JSON.stringify(spec), spec);
    return dropped(withManagersNamed(service), service, ['status']);
  };
}

/**
 * Lbtickets that share their conditions and lines of history: many say the same at the same second, and each would have
 * its own from the JSON.
 */
export function shortTickets(): (ticket: Lbticket) => Lbticket {
  const words = sharedWords();
  const records = sharing<object>();
  const texts = sharing<string>();
  const shared = <T extends object>(record: T): T => {
    for (const [key, value] of Object.entries(record))
      if (typeof value === 'string') (record as Record<string, unknown>)[key] = texts(value, value);
    return records(JSON.stringify(record), record) as T;
  };
  return (ticket) => {
    const { status } = ticket;
    words(ticket);
    if (status?.conditions) status.conditions = status.conditions.map(shared);
    if (status?.history) status.history = status.history.map(shared);
    if (status?.filing) status.filing = shared(status.filing);
    return withoutManagers(ticket);
  };
}
