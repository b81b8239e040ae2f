// Pods from templates, and which template a pod came from.
import type { Kind } from '../kube/kinds.ts';
import type { Draft, KubeObject, Labels, Pod, PodTemplate } from '../kube/objects.ts';
import { ownerReference } from './owners.ts';

export interface PodOrigin {
  ownerKind: Kind;
  owner: KubeObject;
  template: PodTemplate;
  labels?: Labels;
}

/** A pod of `template`; the server completes the name from `<owner>-`. */
export function podOf({ ownerKind, owner, template, labels }: PodOrigin): Draft<Pod> {
  const meta = template.metadata ?? {};
  return {
    metadata: {
      generateName: `${owner.metadata.name}-`,
      namespace: owner.metadata.namespace,
      labels: { ...meta.labels, ...labels },
      ...(meta.annotations && { annotations: meta.annotations }),
      ...(meta.finalizers && { finalizers: meta.finalizers }),
      ownerReferences: [ownerReference(ownerKind, owner)],
    },
    spec: structuredClone(template.spec),
  };
}

// Without vowels and look-alikes, so that no word can appear in a name.
const letters = 'bcdfghjklmnpqrstvwxz2456789';

/** A short name for a template: FNV-1a of its canonical JSON, and of `collisions` when that name was taken. */
export function templateHash(template: PodTemplate, collisions = 0): string {
  let hash = 0x811c9dc5;
  for (const byte of Buffer.from(canonical(template) + (collisions > 0 ? `#${collisions}` : ''))) {
    hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  }
  return [...String(hash)].map((digit) => letters[digit.charCodeAt(0) % letters.length]).join('');
}

/** True when two templates make the same pods; `ignored` labels, which controllers add, do not count. */
export function isSameTemplate(a: PodTemplate, b: PodTemplate, ignored: string): boolean {
  return canonical(without(a, ignored)) === canonical(without(b, ignored));
}

export function without(template: PodTemplate, label: string): PodTemplate {
  const { [label]: _, ...labels } = template.metadata?.labels ?? {};
  return { ...template, metadata: { ...template.metadata, labels } };
}

/** JSON with sorted keys and nothing empty: the same text for the same content, however a server orders or prunes it. */
export function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) => {
    if (inner === null) return undefined;
    if (typeof inner !== 'object' || Array.isArray(inner)) return inner;
    const entries = Object.entries(inner).filter(([, v]) => v !== null && v !== undefined);
    return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
  });
}
