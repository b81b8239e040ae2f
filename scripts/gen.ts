// Writes the generated files: CRDs, roles and field tables from packages/api.
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { crdFiles } from '@fairlead/api';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
for (const [path, text] of Object.entries(crdFiles())) {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
  process.stdout.write(`${path}\n`);
}
