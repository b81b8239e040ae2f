// The reference of our kinds for people: tables of fields, rules and columns, as Markdown.
import { definitions } from './crds.ts';
import type { Definition } from './kind.ts';
import type { Rule } from './schema.ts';
import { type Structural, rulesOf, structural } from './structural.ts';

/** The text of docs/kinds.md. */
export function fieldTables(): string {
  const parts = definitions.map(chapter);
  const contents = definitions.map(({ kind }) => `[${kind.kind}](#${kind.kind.toLowerCase()})`).join(' · ');
  const head = `# Kinds\n\nEvery field of our kinds, made from their schemas: ${contents}. How they work together is in \`docs/concepts.md\`.\n`;
  return `${head}\n${parts.join('\n')}`;
}

function chapter(definition: Definition): string {
  const { group, version, kind, plural, namespaced } = definition.kind;
  const where = namespaced ? 'in a namespace' : 'for the whole cluster';
  const rules = allRules(definition);
  return [
    `## ${kind}`,
    '',
    `${definition.description} \`${group}/${version}\`, ${where}; \`kubectl get ${plural}\`, short \`${definition.shortName}\`.`,
    '',
    table(['Field', 'Type', 'Given', 'Meaning'], rows(structural(definition.spec), 'spec')),
    ...(rules.length === 0 ? [] : ['Beside types and bounds:', '', ...rules.map(bullet), '']),
    `What the controller writes under \`status\`:`,
    '',
    table(['Field', 'Type', 'Given', 'Meaning'], rows(structural(definition.status), 'status')),
    `Columns of \`kubectl get\` (*wide*: with \`-o wide\`):`,
    '',
    table(
      ['Column', 'From', 'Meaning'],
      definition.columns.map((c) => [c.wide ? `*${c.name}*` : c.name, code(c.jsonPath), c.description]),
    ),
  ].join('\n');
}

/** One row for each field below `schema`, parents before children. */
function rows(schema: Structural, path: string): string[][] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, field]) => {
    const at = `${path}.${name}`;
    const required = schema.required?.includes(name) ?? false;
    const own = [code(at), typeOf(field), presence(field, required), field.description ?? ''];
    return [own, ...rows(field, at), ...(field.items?.properties ? rows(field.items, `${at}[]`) : [])];
  });
}

function presence(field: Structural, required: boolean): string {
  if (required) return 'required';
  if (field.default === undefined) return field.nullable ? 'optional, may be empty' : 'optional';
  const text = typeof field.default === 'string' ? field.default : JSON.stringify(field.default);
  return `${code(text)} when absent`;
}

function typeOf(field: Structural): string {
  if (field.enum) return field.enum.map(code).join(', ');
  if (field.type === 'array') return `list of ${field.items?.type ?? 'anything'}${sizes(field)}`;
  if (field.additionalProperties) return `map of ${field.additionalProperties.type}`;
  if (field.minimum !== undefined && field.maximum !== undefined)
    return `${field.type}, ${field.minimum} to ${field.maximum}`;
  return field.format && field.type === 'string' ? `${field.type} (${field.format})` : field.type;
}

function sizes({ minItems = 0, maxItems }: Structural): string {
  if (maxItems === undefined) return '';
  return minItems > 0 ? `, ${minItems} to ${maxItems}` : `, at most ${maxItems}`;
}

/** Rules with the field they speak of, in the order of the fields. */
function allRules(definition: Definition): { at: string; rule: Rule }[] {
  const below = (schema: object, path: string): { at: string; rule: Rule }[] => {
    const { properties = {}, items } = schema as { properties?: Record<string, object>; items?: object };
    return [
      ...rulesOf(schema).map((rule) => ({ at: `${path}${rule.field ?? ''}`, rule })),
      ...Object.entries(properties).flatMap(([name, field]) => below(field, `${path}.${name}`)),
      ...(items ? below(items, `${path}[]`) : []),
    ];
  };
  const whole = (definition.rules as Rule[]).map((rule) => ({ at: (rule.field ?? '').slice(1), rule }));
  return [...whole, ...below(definition.spec, 'spec')];
}

const bullet = ({ at, rule }: { at: string; rule: Rule }): string => `- ${code(at)}: ${rule.message}`;

const code = (text: string): string => `\`${text}\``;

function table(head: string[], body: string[][]): string {
  const line = (cells: string[]) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return `${[line(head), line(head.map(() => '---')), ...body.map(line)].join('\n')}\n`;
}
