// Makes src/kinds/gen/enums.ts from the OpenAPI v3 documents of a running server, since those of the source tree have no
// enums: node gen-enums.mjs <folder of documents>, each as `kubectl get --raw /openapi/v3/apis/apps/v1` prints it.
// Built-in kinds have rules of their own for these fields; the lists are only published, for `kubectl explain`.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const folder = process.argv[2];
if (!folder) throw new Error('usage: node gen-enums.mjs <folder of OpenAPI v3 documents>');
const gen = new URL('./src/kinds/gen/', import.meta.url);
const ours = readFileSync(new URL('schemas.ts', gen), 'utf8');
const found = new Map();
for (const file of readdirSync(folder)) {
  const { components } = JSON.parse(readFileSync(join(folder, file), 'utf8'));
  for (const [name, { properties = {} }] of Object.entries(components?.schemas ?? {})) {
    const enums = Object.entries(properties).flatMap(([field, schema]) => {
      const values = schema.enum ?? schema.items?.enum;
      return values ? [[field, values]] : [];
    });
    if (enums.length > 0 && ours.includes(`  ${JSON.stringify(name)}: `)) found.set(name, Object.fromEntries(enums));
  }
}
const lines = [...found.keys()].sort().map((name) => `  ${JSON.stringify(name)}: ${JSON.stringify(found.get(name))},`);
writeFileSync(
  new URL('enums.ts', gen),
  `// Made by gen-enums.mjs from the OpenAPI v3 documents of a running server (v1.34.4); do not edit.\n/** The values of fields, or of a list's items, by definition and field. */\nexport const enums: Record<string, Record<string, string[]>> = {\n${lines.join('\n')}\n};\n`,
);
console.log(`${lines.length} definitions with enums`);
