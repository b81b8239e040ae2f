// Custom resource definitions: what is refused in one, and the resource a good one becomes.
import { compileProblem } from './cel/rules.ts';
import { duplicate, forbiddenField, invalidValue, required } from './field-error.ts';
import { metadataSchema } from './kinds/fields.ts';
import { isTree, listOf, textOf, treeOf, type KubeObject, type Tree } from './object.ts';
import { dns1035Problems, subdomainProblems } from './names.ts';
import { part, type Resource, type Rules, type ScalePaths, type Version } from './resource.ts';
import type { Schema, ValidationRule } from './schema/schema.ts';
import { structuralProblems } from './schema/structural.ts';
import type { Cause } from './status.ts';
import { printerColumns } from './table/table.ts';

const verbs = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'];
export const cleanup = 'customresourcecleanup.apiextensions.k8s.io';

/** The rules of CustomResourceDefinition itself. */
export const definitionRules: Rules = {
  nameProblems: subdomainProblems,
  hasGeneration: true,
  fill(object) {
    const names = treeOf(part(object, 'spec').names);
    const kind = textOf(names.kind);
    if (kind !== '') {
      names.singular ??= kind.toLowerCase();
      names.listKind ??= `${kind}List`;
    }
  },
  prepare(object, old) {
    // Instances outlive their definition unless something holds the definition until they are gone.
    if (!old) object.metadata.finalizers = [...new Set([...(object.metadata.finalizers ?? []), cleanup])];
  },
  validate(object, old) {
    const spec = part(object, 'spec');
    const causes = [...nameCauses(object, spec), ...versionCauses(spec)];
    if (old && part(old, 'spec').scope !== spec.scope)
      causes.push(invalidValue('spec.scope', spec.scope, 'field is immutable'));
    if (old && part(old, 'spec').group !== spec.group)
      causes.push(invalidValue('spec.group', spec.group, 'field is immutable'));
    return causes;
  },
};

function nameCauses(object: KubeObject, spec: Tree): Cause[] {
  const names = treeOf(spec.names);
  const causes: Cause[] = [];
  const group = textOf(spec.group);
  if (group === '') causes.push(required('spec.group'));
  else if (!group.includes('.'))
    causes.push(invalidValue('spec.group', group, 'should be a domain with at least one dot'));
  const plural = textOf(names.plural);
  if (plural === '') causes.push(required('spec.names.plural'));
  else causes.push(...dns1035Problems(plural).map((why) => invalidValue('spec.names.plural', plural, why)));
  if (!names.kind) causes.push(required('spec.names.kind'));
  for (const [i, name] of listOf(names.shortNames).entries())
    causes.push(...dns1035Problems(textOf(name)).map((why) => invalidValue(`spec.names.shortNames[${i}]`, name, why)));
  if (spec.scope !== 'Namespaced' && spec.scope !== 'Cluster') {
    causes.push(
      spec.scope === undefined
        ? required('spec.scope')
        : {
            reason: 'FieldValueNotSupported',
            message: `Unsupported value: ${JSON.stringify(spec.scope)}: supported values: "Cluster", "Namespaced"`,
            field: 'spec.scope',
          },
    );
  }
  if (plural !== '' && group !== '' && object.metadata.name !== `${plural}.${group}`) {
    causes.push(invalidValue('metadata.name', object.metadata.name, 'must be spec.names.plural+"."+spec.group'));
  }
  return causes;
}

function versionCauses(spec: Tree): Cause[] {
  const versions = listOf(spec.versions).map(treeOf);
  const causes: Cause[] = [];
  if (versions.length === 0)
    causes.push(required('spec.versions', 'must have exactly one version marked as storage version'));
  else if (versions.filter((version) => version.storage === true).length !== 1) {
    causes.push(
      invalidValue(
        'spec.versions',
        versions.map((version) => version.name),
        'must have exactly one version marked as storage version',
      ),
    );
  }
  const seen = new Set<unknown>();
  versions.forEach((version, i) => {
    const path = `spec.versions[${i}]`;
    if (seen.has(version.name)) causes.push(duplicate(`${path}.name`, version.name));
    seen.add(version.name);
    causes.push(...dns1035Problems(textOf(version.name)).map((why) => invalidValue(`${path}.name`, version.name, why)));
    const schema = treeOf(version.schema).openAPIV3Schema;
    if (!schema) causes.push(required(`${path}.schema.openAPIV3Schema`));
    else {
      // The schema of a single version is told where it was before there were several.
      const at = versions.length === 1 ? 'spec.validation.openAPIV3Schema' : `${path}.schema.openAPIV3Schema`;
      causes.push(...structuralProblems(schema as Schema, at), ...ruleCauses(schema as Schema, at));
    }
  });
  versions.forEach((version, i) => causes.push(...pathCauses(version, `spec.versions[${i}]`)));
  if (treeOf(spec.conversion).strategy === 'Webhook')
    causes.push(forbiddenField('spec.conversion.strategy', 'conversion webhooks are not served here'));
  return causes;
}

/** Paths that columns, scale and selectors read by: without them nothing can be read. */
function pathCauses(version: Tree, path: string): Cause[] {
  const lacking = (tree: Tree, fields: string[], at: string): Cause[] =>
    fields.filter((field) => textOf(tree[field]) === '').map((field) => required(`${at}.${field}`));
  const lists: [field: string, needs: string[]][] = [
    ['additionalPrinterColumns', ['name', 'type', 'jsonPath']],
    ['selectableFields', ['jsonPath']],
  ];
  const scale = treeOf(version.subresources).scale;
  const lone = isTree(scale)
    ? lacking(scale, ['specReplicasPath', 'statusReplicasPath'], `${path}.subresources.scale`)
    : [];
  const listed = lists.flatMap(([field, needs]) =>
    listOf(version[field]).flatMap((one, i) => lacking(treeOf(one), needs, `${path}.${field}[${i}]`)),
  );
  return [...lone, ...listed];
}

function ruleCauses(schema: Schema, path: string): Cause[] {
  const own = (schema['x-kubernetes-validations'] ?? []).flatMap((rule: ValidationRule, i) => {
    const problem = compileProblem(rule);
    return problem
      ? [invalidValue(`${path}.x-kubernetes-validations[${i}].rule`, rule.rule, `compilation failed: ${problem}`)]
      : [];
  });
  const fields = Object.entries(schema.properties ?? {}).flatMap(([name, child]) =>
    ruleCauses(child, `${path}.properties[${name}]`),
  );
  const items = schema.items ? ruleCauses(schema.items, `${path}.items`) : [];
  const values =
    typeof schema.additionalProperties === 'object'
      ? ruleCauses(schema.additionalProperties, `${path}.additionalProperties`)
      : [];
  return [...own, ...fields, ...items, ...values];
}

interface CrdVersion {
  name: string;
  served?: boolean;
  storage?: boolean;
  deprecated?: boolean;
  deprecationWarning?: string;
  schema?: { openAPIV3Schema?: Schema };
  subresources?: {
    status?: Tree;
    scale?: { specReplicasPath: string; statusReplicasPath: string; labelSelectorPath?: string };
  };
  additionalPrinterColumns?: {
    name: string;
    type: string;
    jsonPath: string;
    priority?: number;
    description?: string;
    format?: string;
  }[];
  selectableFields?: { jsonPath: string }[];
}

/** The resource a definition describes. */
export function resourceOf(definition: KubeObject): Resource {
  const spec = part(definition, 'spec');
  const names = treeOf(spec.names);
  const versions = (listOf(spec.versions) as CrdVersion[]).map((version) =>
    versionOf(textOf(spec.group), textOf(names.kind), version),
  );
  const storage = (listOf(spec.versions) as CrdVersion[]).find((version) => version.storage);
  const subresources = [
    versions.some((version) => version.hasStatus) ? 'status' : '',
    versions.some((version) => version.scale) ? 'scale' : '',
  ];
  return {
    group: textOf(spec.group),
    resource: textOf(names.plural),
    singular: textOf(names.singular),
    kind: textOf(names.kind),
    listKind: textOf(names.listKind),
    isNamespaced: spec.scope === 'Namespaced',
    isCustom: true,
    shortNames: listOf(names.shortNames).map(String),
    categories: listOf(names.categories).map(String),
    verbs,
    subresources: subresources.filter((name) => name !== ''),
    versions: versions.sort((a, b) => byPriority(a.name, b.name)),
    storageVersion: storage?.name ?? '',
    rules: { nameProblems: subdomainProblems },
  };
}

function versionOf(group: string, kind: string, version: CrdVersion): Version {
  const scale = version.subresources?.scale;
  const trimmed = (path: string) => path.replace(/^\./, '');
  const paths: ScalePaths | undefined = scale && {
    spec: trimmed(scale.specReplicasPath),
    status: trimmed(scale.statusReplicasPath),
    ...(scale.labelSelectorPath ? { selector: trimmed(scale.labelSelectorPath) } : {}),
  };
  return {
    name: version.name,
    schema: withMetadata(version.schema?.openAPIV3Schema ?? {}, { group, version: version.name, kind }),
    isServed: version.served === true,
    columns: printerColumns(version.additionalPrinterColumns),
    hasStatus: version.subresources?.status !== undefined,
    ...(paths ? { scale: paths } : {}),
    selectable: (version.selectableFields ?? []).map((field) => trimmed(field.jsonPath)),
    ...(version.deprecated
      ? { deprecation: version.deprecationWarning ?? `${group}/${version.name} ${kind} is deprecated` }
      : {}),
  };
}

function withMetadata(schema: Schema, gvk: { group: string; version: string; kind: string }): Schema {
  const own = schema.properties ?? {};
  return {
    ...schema,
    type: 'object',
    properties: {
      ...own,
      apiVersion: own.apiVersion ?? { type: 'string' },
      kind: own.kind ?? { type: 'string' },
      metadata: metadataSchema,
    },
    'x-kubernetes-group-version-kind': [gvk],
  };
}

/** Kubernetes' order of versions: v2, v1, v1beta2, v1beta1, v1alpha1, then others by name. */
export function byPriority(a: string, b: string): number {
  const [left, right] = [rank(a), rank(b)];
  for (const i of [0, 1, 2]) if (left[i] !== right[i]) return (right[i] ?? 0) - (left[i] ?? 0);
  return a < b ? -1 : 1;
}

function rank(version: string): number[] {
  const found = /^v(\d+)(?:(alpha|beta)(\d+))?$/.exec(version);
  if (!found) return [0, 0, 0];
  const stage = found[2] === undefined ? 3 : found[2] === 'beta' ? 2 : 1;
  return [stage, Number(found[1]), Number(found[3] ?? 0)];
}
