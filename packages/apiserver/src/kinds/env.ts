// Where a container's environment comes from: values, fields of its pod, config maps and secrets.
import { invalidValue, required, unsupported } from '../field-error.ts';
import { qualifiedProblems } from '../names.ts';
import { isTree, textOf, treeOf, type Tree } from '../object.ts';
import type { Cause } from '../status.ts';

const sources = ['fieldRef', 'resourceFieldRef', 'configMapKeyRef', 'secretKeyRef'];
const nameHint = "a valid environment variable name must consist only of printable ASCII characters other than '='";

export function envCauses(env: unknown[], path: string): Cause[] {
  return env.flatMap((item, i) => {
    const one = treeOf(item);
    const name = textOf(one.name);
    const at = `${path}[${i}]`;
    const causes: Cause[] = [];
    if (name === '') causes.push(required(`${at}.name`));
    else if (!/^[ -<>-~]+$/.test(name)) causes.push(invalidValue(`${at}.name`, name, nameHint));
    if (isTree(one.valueFrom)) causes.push(...valueCauses(one, one.valueFrom, `${at}.valueFrom`));
    return causes;
  });
}

function valueCauses(one: Tree, from: Tree, path: string): Cause[] {
  const found = sources.filter((source) => isTree(from[source]));
  const causes = found.flatMap((source) => sourceCauses(source, treeOf(from[source]), `${path}.${source}`));
  const options = '`fieldRef`, `resourceFieldRef`, `configMapKeyRef` or `secretKeyRef`';
  if (found.length === 0) causes.push(invalidValue(path, '', `must specify one of: ${options}`));
  if (one.value && found.length > 0)
    causes.push(invalidValue(path, '', 'may not be specified when `value` is not empty'));
  else if (found.length > 1)
    causes.push(invalidValue(path, '', 'may not have more than one field specified at a time'));
  return causes;
}

function sourceCauses(source: string, from: Tree, path: string): Cause[] {
  if (source === 'fieldRef') return fieldCauses(from, path);
  if (source === 'resourceFieldRef') return from.resource ? [] : [required(`${path}.resource`)];
  return [...(from.name ? [] : [required(`${path}.name`)]), ...(from.key ? [] : [required(`${path}.key`)])];
}

/** Fields of a pod that a container can be told, in the real server's order. */
const told = [
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
  'spec.nodeName',
  'spec.serviceAccountName',
  'status.hostIP',
  'status.hostIPs',
  'status.podIP',
  'status.podIPs',
];
/** Fields that can be named, though a container is not told them here. */
const named = ['metadata.annotations', 'metadata.labels', 'spec.restartPolicy', 'spec.schedulerName', 'status.phase'];

function fieldCauses({ apiVersion, fieldPath }: Tree, path: string): Cause[] {
  const field = textOf(fieldPath);
  const at = `${path}.fieldPath`;
  if (!apiVersion) return [required(`${path}.apiVersion`)];
  if (field === '') return [required(at)];
  const why = (problem: string): Cause => invalidValue(at, field, `error converting fieldPath: ${problem}`);
  if (apiVersion !== 'v1') return [why(`unsupported pod version: ${textOf(apiVersion)}`)];
  const entry = /^(.+)\['(.*)'\]$/s.exec(field);
  if (entry) {
    const [, owner = '', key = ''] = entry;
    if (owner !== 'metadata.annotations' && owner !== 'metadata.labels')
      return [why(`field label does not support subscript: ${field}`)];
    const name = owner === 'metadata.annotations' ? key.toLowerCase() : key;
    return qualifiedProblems(name).map((problem) => invalidValue(path, key, problem));
  }
  const meant = field === 'spec.host' ? 'spec.nodeName' : field;
  if (told.includes(meant)) return [];
  return named.includes(meant) ? [unsupported(at, meant, told)] : [why(`field label not supported: ${field}`)];
}

export function envFromCauses(sets: unknown[], path: string): Cause[] {
  return sets.flatMap((item, i) => {
    const one = treeOf(item);
    const at = `${path}[${i}]`;
    const found = ['configMapRef', 'secretRef'].filter((source) => isTree(one[source]));
    const causes = found.flatMap((source) => (treeOf(one[source]).name ? [] : [required(`${at}.${source}.name`)]));
    if (found.length === 0) causes.push(invalidValue(path, '', 'must specify one of: `configMapRef` or `secretRef`'));
    if (found.length > 1) causes.push(invalidValue(path, '', 'may not have more than one field specified at a time'));
    return causes;
  });
}
