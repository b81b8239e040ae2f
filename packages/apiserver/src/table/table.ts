// `meta.k8s.io/v1` tables: what the server answers when a client asks for rows instead of objects.
import { textOf, type KubeObject, type Tree } from '../object.ts';
import type { Call } from '../request.ts';
import type { Column, Columns } from '../resource.ts';
import { badRequest, ok, refuse, type Result } from '../status.ts';
import { customColumns } from './columns.ts';
import { age } from './duration.ts';
import { jsonPath } from './json-path.ts';

/** How much of each object a row carries. */
export type IncludeObject = 'None' | 'Metadata' | 'Object';

/** What a table is made with: the columns and the cells' moment, and what the client asked for. */
export interface TableOptions {
  columns: Columns;
  include: IncludeObject;
  /** Milliseconds since the epoch: ages are counted up to it. */
  now: number;
  apiVersion: string;
  metadata: Tree;
}

export const tableOf = (objects: KubeObject[], options: TableOptions): Tree => ({
  kind: 'Table',
  apiVersion: options.apiVersion,
  metadata: options.metadata,
  columnDefinitions: options.columns.columns,
  rows: objects.map((object) => rowOf(object, options)),
});

const rowOf = (object: KubeObject, { columns, include, now, apiVersion }: TableOptions): Tree => ({
  cells: columns.cells(object, now),
  object: include === 'None' ? null : include === 'Object' ? object : partial(object, apiVersion),
});

/** An object of any kind with its metadata alone. */
export const partial = (object: KubeObject, apiVersion: string): Tree => ({
  kind: 'PartialObjectMetadata',
  apiVersion,
  metadata: object.metadata,
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
  if (values.length > 0 && value === null && type === 'string') return '<no value>';
  if (value === undefined || value === null) return null;
  if (type === 'date') return age(value, now);
  if (type === 'integer') return typeof value === 'number' ? Math.trunc(value) : null;
  if (type === 'number' || type === 'boolean') return typeof value === type ? value : null;
  return textIn(value);
}

const textIn = (value: unknown): string => (typeof value === 'object' ? JSON.stringify(value) : String(value));

/** The form of an answer, and the version of its kind where that is one of meta.k8s.io's. */
export interface Wanted {
  form: 'object' | 'table' | 'metadata' | 'metadata-list';
  apiVersion: string;
}

const forms: Record<string, Wanted['form']> = {
  Table: 'table',
  PartialObjectMetadata: 'metadata',
  PartialObjectMetadataList: 'metadata-list',
};
const whole: Wanted = { form: 'object', apiVersion: 'meta.k8s.io/v1' };

/** What an `Accept` header asks for, by its first acceptable entry. */
export function wantedForm(accept: string): Wanted {
  for (const entry of accept.split(',')) {
    const [media = '', ...parameters] = entry.split(';').map((text) => text.trim());
    if (!['application/json', '*/*', 'application/*', 'application/yaml'].includes(media)) continue;
    const as = parameters.find((text) => text.startsWith('as='))?.slice(3);
    if (as === undefined) return whole;
    const version = ['v1', 'v1beta1'].find((one) => parameters.includes(`v=${one}`));
    const form = forms[as];
    if (form && version && parameters.includes('g=meta.k8s.io')) return { form, apiVersion: `meta.k8s.io/${version}` };
  }
  return whole;
}

const includes: string[] = ['None', 'Metadata', 'Object'] satisfies IncludeObject[];

export const includeOf = (query: URLSearchParams): IncludeObject => {
  const asked = textOf(query.get('includeObject'));
  return asked === 'None' || asked === 'Object' ? asked : 'Metadata';
};

/** Refuses a table whose rows are to carry something there is not. */
export function checkInclude({ request, query }: Call): Result<void> {
  const asked = query.get('includeObject') ?? '';
  if (asked === '' || includes.includes(asked)) return ok(undefined);
  if (wantedForm(request.headers.get('accept') ?? '').form !== 'table') return ok(undefined);
  const why = `includeObject: Invalid value: ${JSON.stringify(asked)}: must be 'Metadata', 'Object', 'None', or empty`;
  return refuse(badRequest(`Unable to convert to Table as requested: ${why}`));
}
