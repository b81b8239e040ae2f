// What a good custom resource definition becomes: a resource that is served.
import { metadataSchema } from './kinds/fields.ts';
import { listOf, textOf, treeOf, type KubeObject, type Tree } from './object.ts';
import { subdomainProblems } from './names.ts';
import { part, type ConversionHook, type Resource, type ScalePaths, type Version } from './resource.ts';
import type { Schema } from './schema/schema.ts';
import { printerColumns } from './table/table.ts';

const verbs = ['delete', 'deletecollection', 'get', 'list', 'patch', 'create', 'update', 'watch'];

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
  const conversion = conversionOf(treeOf(spec.conversion));
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
    definedBy: definedBy(definition),
    shortNames: listOf(names.shortNames).map(String),
    categories: listOf(names.categories).map(String),
    verbs,
    subresources: subresources.filter((name) => name !== ''),
    versions: versions.sort((a, b) => byPriority(a.name, b.name)),
    storageVersion: storage?.name ?? '',
    ...(conversion ? { conversion } : {}),
    rules: { nameProblems: subdomainProblems },
  };
}

/** Which state of which definition a resource comes of. */
export const definedBy = ({ metadata }: KubeObject): string => `${metadata.uid ?? ''}/${metadata.generation ?? 0}`;

function conversionOf({ strategy, webhook }: Tree): ConversionHook | undefined {
  if (strategy !== 'Webhook') return undefined;
  const { clientConfig, conversionReviewVersions } = treeOf(webhook);
  return { clientConfig: treeOf(clientConfig), reviewVersions: listOf(conversionReviewVersions).map(String) };
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
