// What is read from an object, kept for the objects that are being worked on and not for all there are.

/** More than turns at once have in their hands. */
const most = 16;

/**
 * `read` of an object, read once while few others are asked for. Where every object kept what was read from it, that would
 * be as much again as the objects, and each full collection of garbage would walk through it.
 */
export function recent<T extends object, R>(read: (object: T) => R): (object: T) => R {
  const known = new Map<T, R>();
  return (object) => {
    const present = known.get(object);
    if (present !== undefined) return present;
    const made = read(object);
    const [oldest] = known.size >= most ? known.keys() : [];
    if (oldest) known.delete(oldest);
    known.set(object, made);
    return made;
  };
}
