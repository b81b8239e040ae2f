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
