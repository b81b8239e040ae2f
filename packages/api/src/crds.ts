// Our kinds as CustomResourceDefinitions.
import { lbcanary } from './lbcanary.ts';
import { lbrule } from './lbrule.ts';
import { lbticket } from './lbticket.ts';
import { loadbalancer } from './loadbalancer.ts';
import type { Column, Definition } from './kind.ts';
import type { Rule } from './schema.ts';
import { type CelRule, type Structural, celRule, structural } from './structural.ts';

/** All our kinds, in the order in which they are applied and shown. */
export const definitions = [loadbalancer, lbticket, lbrule, lbcanary] as const;

/** An apiextensions.k8s.io/v1 CustomResourceDefinition, as far as ours use it. */
export interface Crd {
  apiVersion: 'apiextensions.k8s.io/v1';
  kind: 'CustomResourceDefinition';
  metadata: { name: string; labels: Record<string, string> };
  spec: {
    group: string;
    names: {
      kind: string;
      listKind: string;
      plural: string;
      singular: string;
      shortNames: string[];
      categories: string[];
    };
    scope: 'Namespaced' | 'Cluster';
    versions: CrdVersion[];
  };
}

export interface CrdVersion {
  name: string;
  served: true;
  storage: true;
  subresources: { status: Record<string, never> };
  additionalPrinterColumns: (Omit<Column, 'wide'> & { priority: number })[];
  schema: { openAPIV3Schema: RootSchema };
}

/** The schema of a whole object. `metadata` is described by Kubernetes itself. */
export interface RootSchema {
  type: 'object';
  description: string;
  required: ['spec'];
  properties: {
    apiVersion: { type: 'string' };
    kind: { type: 'string' };
    metadata: { type: 'object' };
    spec: Structural;
    status: Structural;
  };
  'x-kubernetes-validations'?: CelRule[];
}

/** The definitions of all our kinds, new on each call. */
export const crds = (): Crd[] => definitions.map((definition) => crd(definition));

function crd(definition: Definition): Crd {
  const { group, version, kind, plural, namespaced } = definition.kind;
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}`, labels: { 'app.kubernetes.io/part-of': 'fairlead' } },
    spec: {
      group,
      names: {
        kind,
        listKind: `${kind}List`,
        plural,
        singular: kind.toLowerCase(),
        shortNames: [definition.shortName],
        categories: ['fairlead'],
      },
      scope: namespaced ? 'Namespaced' : 'Cluster',
      versions: [
        {
          name: version,
          served: true,
          storage: true,
          subresources: { status: {} },
          additionalPrinterColumns: definition.columns.map(({ wide, ...column }) => ({
            ...column,
            priority: wide ? 1 : 0,
          })),
          schema: { openAPIV3Schema: root(definition) },
        },
      ],
    },
  };
}

function root(definition: Definition): RootSchema {
  const rules = definition.rules as Rule[];
  return structuredClone({
    type: 'object',
    description: definition.description,
    required: ['spec'],
    properties: {
      apiVersion: { type: 'string' },
      kind: { type: 'string' },
      metadata: { type: 'object' },
      spec: structural(definition.spec),
      status: structural(definition.status),
    },
    ...(rules.length > 0 ? { 'x-kubernetes-validations': rules.map(celRule) } : {}),
  });
}
