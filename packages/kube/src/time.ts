// Moments as the API writes them.

/** RFC 3339 to the second, as in `creationTimestamp`. `at`: milliseconds since the epoch. */
export const seconds = (at: number): string => `${new Date(at).toISOString().slice(0, 19)}Z`;

/** RFC 3339 with microseconds, as in a Lease: the API refuses any other number of digits. */
export const micros = (at: number): string => new Date(at).toISOString().replace('Z', '000Z');
