// Masks what differs between two runs of the same case, so that everything else can be compared to the letter.
import type { Json, Tree } from './case.ts';
import { isTree } from './part.ts';

/*
   in an answer                         | becomes
   -------------------------------------+----------------------------------------------------
   the case's namespace, its API group  | <ns>, <group>
   a UUID                               | <uid 1>, <uid 2>: alike when they were alike
   an object's resourceVersion          | <version 1>, <version 2>: alike when they were alike
   a list's resourceVersion             | <list version>: a later write may have moved it
   a moment of this century's later part| <time>, <micro time>
   the end of a generated name          | <suffix>
   a service's address, a node port     | <cluster ip 1>, <node port 1>
   a continue token, a signed token     | <continue>, <token>
   how old something is, in a table     | <age>
   what a table's column says of itself | <description>: prose of theirs, and no part of the contract
   what is wrong with a rule's syntax   | <what its parser says>: ANTLR's words, which name its grammar's own rules and tokens
   what is wrong with a text of YAML    | <parser>: each parser has its own words

   What the case itself says is never masked: an address or a port it asks for must come back as asked.
*/
export interface Mask {
  /** `body` with the masks on; managedFields are left out unless `hasManagers`. */
  body(body: Json, hasManagers: boolean): Json;
  /** The same for a text, such as a header. */
  text(text: string): string;
}

export interface MaskOptions {
  /** Texts of this run with the words that stand for them. */
  words: ReadonlyMap<string, string>;
  /** Everything the case says, in one text. */
  said: string;
}

const uuid = /\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g;
const microTime = /\b20[2-9]\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z/g;
const time = /\b20[2-9]\d-\d\d-\d\dT\d\d:\d\d:\d\dZ/g;
const clusterAddress = /\b10\.96\.\d{1,3}\.\d{1,3}\b/g;
const signed = /\beyJ[\w-]+\.[\w-]+\.[\w-]+/g;
const age = /^(\d+(ms|[smhdy])){1,2}$/;

const yamlProblem = /(error converting YAML to JSON: yaml: ).*/g;

export function mask(options: MaskOptions): Mask {
  const texts = textMask(options);
  const { text, numbered, unlessSaid } = texts;

  const field = (key: string, value: Json, owner: Tree, hasManagers: boolean): Json => {
    const isList = 'items' in owner || 'rows' in owner || 'groups' in owner;
    if (key === 'metadata' && isList && isTree(value)) return listMetadata(value);
    if (key === 'resourceVersion' && typeof value === 'string' && value !== '' && value !== '0')
      return unlessSaid(`"${value}"`, () => numbered('version', value)).replaceAll('"', '');
    if ((key === 'nodePort' || key === 'healthCheckNodePort') && typeof value === 'number' && value !== 0)
      return options.said.includes(String(value)) ? value : numbered('node port', String(value));
    if (key === 'cells' && Array.isArray(value)) return value.map(cell);
    if (key === 'columnDefinitions' && Array.isArray(value)) return value.map(column);
    return walk(value, hasManagers);
  };
  const listMetadata = (metadata: Tree): Json => ({
    ...(walk(metadata, false) as Tree),
    ...(metadata['resourceVersion'] === undefined ? {} : { resourceVersion: '<list version>' }),
    ...(metadata['continue'] ? { continue: '<continue>' } : {}),
  });
  const cell = (value: Json): Json => (typeof value === 'string' && age.test(value) ? '<age>' : walk(value, false));

  const column = (value: Json): Json => {
    const masked = walk(value, false);
    return isTree(masked) && 'description' in masked ? { ...masked, description: '<description>' } : masked;
  };

  const walk = (value: Json, hasManagers: boolean): Json => {
    if (typeof value === 'string') return text(value);
    if (Array.isArray(value)) return value.map((element) => walk(element, hasManagers));
    if (!isTree(value)) return value;
    const fields = Object.entries(value).filter(([key]) => hasManagers || key !== 'managedFields');
    return Object.fromEntries(fields.map(([key, inner]) => [text(key), field(key, inner, value, hasManagers)]));
  };
  return { text, body: walk };
}

interface TextMask {
  text(given: string): string;
  /** `<sort 1>` for the first thing found of its sort, the same for the same. */
  numbered(sort: string, found: string): string;
  unlessSaid(found: string, masked: () => string): string;
}

function textMask({ words, said }: MaskOptions): TextMask {
  const seen = new Map<string, string>();
  // Also of names that were refused, which no object bears.
  const prefixes = [...said.matchAll(/"generateName":"([^"]+)"/g)].map(([, prefix = '']) => prefix);

  const numbered = (sort: string, found: string): string => {
    const key = `${sort} ${found}`;
    const known = seen.get(key);
    if (known !== undefined) return known;
    const count = [...seen.keys()].filter((one) => one.startsWith(`${sort} `)).length;
    seen.set(key, `<${sort} ${count + 1}>`);
    return `<${sort} ${count + 1}>`;
  };
  const unlessSaid = (found: string, masked: () => string): string => (said.includes(found) ? found : masked());

  const text = (given: string): string => {
    let masked = given;
    for (const prefix of prefixes) masked = masked.replaceAll(suffixed(prefix), `${prefix}<suffix>`);
    for (const [word, value] of words) masked = masked.replaceAll(value, `<${word}>`);
    return masked
      .replace(yamlProblem, '$1<parser>')
      .replace(signed, '<token>')
      .replace(uuid, (found) => unlessSaid(found, () => numbered('uid', found)))
      .replace(microTime, (found) => unlessSaid(found, () => '<micro time>'))
      .replace(time, (found) => unlessSaid(found, () => '<time>'))
      .replace(clusterAddress, (found) => unlessSaid(found, () => numbered('cluster ip', found)))
      .replace(/(resource version: \d+ )\(\d+\)/, '$1(<floor>)')
      .replace(/(resourceVersion\\*":\\*")\d+/g, '$1<version>')
      .replace(/(ERROR: <input>:\d+:\d+: Syntax error: )[^\n]*/g, '$1<what its parser says>')
      .replace(/(current: )\d+/, '$1<now>')
      .replace(/(ResourceVersion in record \()\d+/, '$1<version>');
  };
  return { text, numbered, unlessSaid };
}

/** `prefix` with what a server puts after it. */
const suffixed = (prefix: string): RegExp =>
  new RegExp(`${prefix.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}[bcdfghjklmnpqrstvwxz2456789]{5}\\b`, 'g');
