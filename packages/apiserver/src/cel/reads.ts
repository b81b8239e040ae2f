// What an expression reads of a variable. A rule mostly reads few fields of a large value, and only those are put into CEL's form.
import type { ASTNode } from '@marcbachmann/cel-js';

/** All of a value, or the fields named (as rules write them), and of each no more than is read of it. */
export type Reads = 'all' | ReadonlyMap<string, Reads>;

export const nothing: Reads = new Map();
export const isNothing = (reads: Reads): boolean => reads !== 'all' && reads.size === 0;

/*
   expression              | reads of self
   ------------------------+----------------
   self.spec.port > 0      | spec.port
   has(self.spec.tls)      | spec.tls
   size(self.spec)         | spec
   self.all(x, …), self[k] | all
*/
export function readsOf(node: ASTNode, variable: string): Reads {
  const path = pathOf(node, variable);
  if (path) return path.reduceRight<Reads>((below, name) => new Map([[name, below]]), 'all');
  return partsOf(node).reduce<Reads>((reads, part) => together(reads, readsOf(part, variable)), nothing);
}

/** What either reads. */
export function together(a: Reads, b: Reads): Reads {
  if (a === 'all' || b === 'all') return 'all';
  const out = new Map(a);
  for (const [name, reads] of b) out.set(name, together(out.get(name) ?? nothing, reads));
  return out;
}

/** The names of `variable.a.b`; undefined of anything else. */
function pathOf(node: ASTNode, variable: string): string[] | undefined {
  if (node.op === 'id') return node.args === variable ? [] : undefined;
  if (node.op !== '.') return undefined;
  const [owner, name] = node.args;
  const path = pathOf(owner, variable);
  return path && [...path, name];
}

/** The nodes right below one. */
export function partsOf(node: ASTNode): ASTNode[] {
  const out: ASTNode[] = [];
  const visit = (value: unknown): void => {
    if (Array.isArray(value)) value.forEach(visit);
    else if (typeof value === 'object' && value !== null && 'op' in value && 'args' in value)
      out.push(value as ASTNode);
  };
  visit(node.args);
  return out;
}
