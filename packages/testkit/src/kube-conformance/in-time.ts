// Waiting for a server, but not for ever: one that never answers is a finding, not a reason to stand still.
import type { Place } from './place.ts';

/** How long a server may let us wait for what is due. */
const patience = 8_000;
const looks = 200;

/** What `reading` comes to; undefined when it does not come in time. */
export async function inTime<T>(reading: Promise<T>, place: Place): Promise<T | undefined> {
  const over = new AbortController();
  const { signal } = over;
  const read = reading.finally(() => over.abort());
  // First without letting time pass: on a clock that moves only when told, what is ready is to be read now.
  for (let look = 0; look < looks && !signal.aborted; look++) await place.pass(0);
  if (signal.aborted) return read;
  const passing = place.pass(patience, signal).then(() => undefined);
  const first = await Promise.race([read, passing]);
  over.abort();
  await passing;
  return first;
}
