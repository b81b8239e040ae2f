// The files made from our kinds: definitions, roles, reference. `npm run gen` writes them, a test compares.
import { stringify } from 'yaml';
import { crds } from './crds.ts';
import { fieldTables } from './field-table.ts';
import { adminRoles, programRoles } from './program-roles.ts';
import { clusterRoles } from './roles.ts';

const source = 'Generated from packages/api by `npm run gen`; edit the kinds there.';

/** Text by path from the repository's root. */
export function crdFiles(): Record<string, string> {
  const files: Record<string, string> = {};
  for (const crd of crds()) files[`deploy/crds/${crd.spec.names.plural}.${crd.spec.group}.yaml`] = yaml(crd);
  for (const role of [...clusterRoles(), ...programRoles(), ...adminRoles()])
    files[`deploy/rbac/${role.metadata.name.replace('fairlead-', '')}.yaml`] = yaml(role);
  files['docs/kinds.md'] = `<!-- ${source} -->\n${fieldTables()}`;
  return files;
}

// No aliases: kubectl expands them, but people who read the file should not have to.
const yaml = (object: unknown): string =>
  `# ${source}\n${stringify(object, { aliasDuplicateObjects: false, lineWidth: 120 })}`;
