// JSON that somebody else may have written: read without trust.

export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Empty for what is no JSON object. */
export function parsedObject(text: string | undefined): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text ?? '{}');
    return isRecord(value) ? value : {};
  } catch (error) {
    // That it cannot be read is the answer; anything else would be a bug.
    if (error instanceof SyntaxError) return {};
    throw error;
  }
}

export const sortedKeys = <T, U = T>(object: Record<string, T>, of: (value: T) => U): Record<string, U> =>
  Object.fromEntries(
    Object.entries(object)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, value]) => [key, of(value)]),
  );
