// The files made from our kinds: CRDs. `npm run gen` writes them, a test compares.
import { stringify } from 'yaml';
import { crds } from './crds.ts';

const header = '# Generated from packages/api by `npm run gen`; edit the kinds there.\n';

/** Text by path from the repository's root. */
export function crdFiles(): Record<string, string> {
  const files: Record<string, string> = {};
  for (const crd of crds()) files[`deploy/crds/${crd.spec.names.plural}.${crd.spec.group}.yaml`] = header + yaml(crd);
  return files;
}

// No aliases: kubectl expands them, but people who read the file should not have to.
const yaml = (object: unknown): string => stringify(object, { aliasDuplicateObjects: false, lineWidth: 120 });
