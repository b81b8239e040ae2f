// Texts in Secrets, which keep them in base64.
import type { Secret } from '@fairlead/kube';

/** Undefined where there is no such Secret, or no such key. */
export function secretText(secret: Secret | undefined, key: string): string | undefined {
  const text = secret?.data?.[key];
  return text === undefined ? undefined : Buffer.from(text, 'base64').toString('utf8');
}

/** The `data` of a Secret that holds these texts. */
export const secretData = (texts: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(texts).map(([key, text]) => [key, Buffer.from(text, 'utf8').toString('base64')]));
