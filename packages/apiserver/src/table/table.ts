// `meta.k8s.io/v1` tables: what the server answers when a client asks for rows instead of objects.
import { textOf, type KubeObject, type Tree } from '../object.ts';
import type { Column, Columns } from '../resource.ts';
import { customColumns } from './columns.ts';
import { age } from './duration.ts';
import { jsonPath } from './json-path.ts';

/** How much of each object a row carries. */
export type IncludeObject = 'None' | 'Metadata' | 'Object';

export function tableRow(object: KubeObject, columns: Columns, include: IncludeObject, now: number): Tree {
  const row: Tree = { cells: columns.cells(object, now) };
  if (include === 'Object') row.object = object;
  if (include === 'Metadata') row.object = partial(object);
  return row;
}

/** An object of any kind with its metadata alone. */
export const partial = (object: KubeObject): Tree => ({
  kind: 'PartialObjectMetadata',
  apiVersion: 'meta.k8s.io/v1',
  metadata: object.metadata,
});

export const tableOf = (columns: Columns, rows: Tree[], metadata: Tree): Tree => ({
  kind: 'Table',
  apiVersion: 'meta.k8s.io/v1',
  metadata,
  columnDefinitions: columns.columns,
  rows,
});

interface PrinterColumn {
  name: string;
  type: string;
  format?: string;
  description?: string;
  priority?: number;
  jsonPath: string;
}

/** The columns of a custom kind: its name, then what its definition lists; without a list, name and age. */
export function printerColumns(listed: PrinterColumn[] | undefined): Columns {
  if (!listed || listed.length === 0) return customColumns;
  const readers = listed.map((column) => ({ column, read: jsonPath(column.jsonPath) }));
  const first: Column = { name: 'Name', type: 'string', format: 'name', description: 'Name', priority: 0 };
  return {
    columns: [
      first,
      ...listed.map(({ name, type, format, description, priority }) => ({
        name,
        type,
        format: format ?? '',
        description: description ?? '',
        priority: priority ?? 0,
      })),
    ],
    cells: (object, now) => [
      object.metadata.name,
      ...readers.map(({ column, read }) => cell(column.type, read?.(object) ?? [], now)),
    ],
  };
}

function cell(type: string, values: unknown[], now: number): unknown {
  const value = values[0];
  if (value === undefined || value === null) return null;
  if (type === 'date') return age(value, now);
  if (type === 'integer') return typeof value === 'number' ? Math.trunc(value) : null;
  if (type === 'number' || type === 'boolean') return typeof value === type ? value : null;
  if (values.length > 1) return values.map(textIn).join(',');
  return textIn(value);
}

const textIn = (value: unknown): string => (typeof value === 'object' ? JSON.stringify(value) : String(value));

/** What an `Accept` header asks for, by its first acceptable entry. */
export function wantedForm(accept: string): { form: 'object' | 'table' | 'metadata' | 'metadata-list' } | undefined {
  if (accept === '') return { form: 'object' };
  for (const entry of accept.split(',')) {
    const [media = '', ...parameters] = entry.split(';').map((text) => text.trim());
    if (!['application/json', '*/*', 'application/*', 'application/yaml'].includes(media)) continue;
    const as = parameters.find((text) => text.startsWith('as='))?.slice(3);
    if (as === undefined) return { form: 'object' };
    const isKnown = parameters.includes('g=meta.k8s.io') && parameters.includes('v=v1');
    if (!isKnown) continue;
    if (as === 'Table') return { form: 'table' };
    if (as === 'PartialObjectMetadata') return { form: 'metadata' };
    if (as === 'PartialObjectMetadataList') return { form: 'metadata-list' };
  }
  return undefined;
}

export const includeOf = (query: URLSearchParams): IncludeObject => {
  const asked = textOf(query.get('includeObject'));
  return asked === 'None' || asked === 'Object' ? asked : 'Metadata';
};
