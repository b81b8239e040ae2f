// Field selectors, and label selectors as objects: parsed once per request, then asked about many objects.
import { parseLabelSelector, type LabelSelector } from './label-selector.ts';
import { badRequest, ok, refuse, type Result } from './status.ts';

export { parseLabelSelector, type LabelSelector };

/** A requirement `path = value` or `path != value`. */
export interface FieldRequirement {
  path: string;
  isEqual: boolean;
  value: string;
}

/** Field requirements, in the order written; a backslash escapes a comma, an equals sign or itself in a value. */
export function parseFieldSelector(text: string): Result<FieldRequirement[]> {
  const out: FieldRequirement[] = [];
  for (const part of text.split(/(?<!\\),/)) {
    if (part.trim() === '') continue;
    const found = /^([^=!]+?)\s*(!=|==|=)(.*)$/s.exec(part.trim());
    if (!found) return refuse(badRequest(`invalid selector: '${part}'; can't understand '${part}'`));
    out.push({
      path: found[1] ?? '',
      isEqual: found[2] !== '!=',
      value: (found[3] ?? '').replace(/\\([,=\\])/g, '$1'),
    });
  }
  return ok(out);
}

/** Whether labels fit a `metav1.LabelSelector`; an empty one fits all, one that cannot be read none. */
export function matchesSelector(selector: Parameters<typeof selectorText>[0], labels: Record<string, string>): boolean {
  const parsed = parseLabelSelector(selectorText(selector));
  return parsed.ok && parsed.value(labels);
}

/** A `metav1.LabelSelector` (matchLabels, matchExpressions) as text, so there is one evaluator. */
export function selectorText(selector: {
  matchLabels?: Record<string, string>;
  matchExpressions?: { key: string; operator: string; values?: string[] }[];
}): string {
  const equal = Object.entries(selector.matchLabels ?? {}).map(([key, value]) => `${key}=${value}`);
  const rest = (selector.matchExpressions ?? []).map(({ key, operator, values = [] }) => {
    if (operator === 'Exists') return key;
    if (operator === 'DoesNotExist') return `!${key}`;
    return `${key} ${operator === 'In' ? 'in' : 'notin'} (${values.join(',')})`;
  });
  return [...equal, ...rest].join(',');
}
