// Pointers between AS3 objects: a name in the same application, a path, {use} or {bigip}.

import type { Kind } from '../configuration/object.ts';
import type { View } from '../configuration/store.ts';
import { isObject, type Json } from '../rest/body.ts';
import type { Item } from './declaration.ts';

/** The declaration and the device, in which pointers are looked up. */
export interface Scene {
  /** All tenants as they will be: those declared now over those declared before. */
  tenants: Json;
  device: View;
}

export type Pointed = { path: string; kind: 'declared' | 'bigip'; class?: string; json?: Json } | { problem: string };

/*
 *  written                        points at
 *  -----------------------------  ------------------------------------
 *  "name", {use: "name"}          name in the same application
 *  "/T/A/name", {use: "/T/A/.."}  the object declared there, any tenant
 *  "/@/A/name", "/@/@/name"       @ is the tenant or application it is in
 *  {bigip: "/Common/name"}        an object of the device itself
 */
export function follow(pointer: unknown, from: Item, scene: Scene): Pointed {
  if (isObject(pointer) && typeof pointer['bigip'] === 'string') return { path: pointer['bigip'], kind: 'bigip' };
  const written = isObject(pointer) ? pointer['use'] : pointer;
  if (typeof written !== 'string') return { problem: 'should be a pointer: a string, {use} or {bigip}' };
  const parts = written.startsWith('/') ? written.slice(1).split('/') : [from.tenant, from.application, written];
  const [tenant = '', application = '', name = '', ...more] = parts.map((part, i) =>
    part === '@' ? ([from.tenant, from.application][i] ?? part) : part,
  );
  if (more.length > 0 || name === '') return { problem: `contains path to non-existent object ${written}` };
  // AS3's own pattern for pointers wants two characters.
  if (name.length < 2)
    return { problem: `should match format "f5pointer" (a name of one letter cannot be pointed at): ${written}` };
  const home = scene.tenants[tenant];
  const app = isObject(home) ? home[application] : undefined;
  const found = isObject(app) && Object.hasOwn(app, name) ? app[name] : undefined;
  if (!isObject(found) || typeof found['class'] !== 'string')
    return { problem: `contains path to non-existent object ${written}` };
  return { path: `/${tenant}/${application}/${name}`, kind: 'declared', class: found['class'], json: found };
}

/** What is wrong with a pointer that must lead to one of these classes, or to this kind of object on the device. */
export function pointerProblem(
  pointed: Pointed,
  wanted: { classes: readonly string[]; kind: Kind },
  device: View,
): string | undefined {
  if ('problem' in pointed) return pointed.problem;
  if (pointed.kind === 'bigip')
    return device.get(wanted.kind, pointed.path)
      ? undefined
      : `Unable to find specified ${pointed.path} for ${wanted.kind}`;
  if (wanted.classes.includes(pointed.class ?? '')) return undefined;
  return `contains path to object of class ${pointed.class ?? 'none'}, not ${wanted.classes.join(' or ')}: ${pointed.path}`;
}
