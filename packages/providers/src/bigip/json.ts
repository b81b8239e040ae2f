// JSON of unknown shape, as a device answers it.

export type Json = Record<string, unknown>;

export const isJson = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The objects in a list; anything else there is left out. */
export const listOf = (value: unknown): Json[] => (Array.isArray(value) ? value.filter(isJson) : []);

export const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);
