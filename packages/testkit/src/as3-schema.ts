// F5's AS3 schema as a check of declarations, where its file lies beside the repository.
import { existsSync, readFileSync } from 'node:fs';
import { parseAddressRange } from '@fairlead/core';
import { Ajv } from 'ajv';
import addFormats from 'ajv-formats';

/** What the schema says of a body of class AS3; empty when it is valid. */
export type As3Check = (body: unknown) => string[];

/** Why tests that need the schema are left out when it is not there. */
export const noAs3Schema = "F5's schema is not beside this repository: declarations meet our own check only";

const file = new URL('../../../../shared/data/as3-schema.json', import.meta.url);
let compiled: As3Check | undefined;

/** Undefined where the file is absent. Compiled once: it takes a third of a second. */
export function as3Schema(): As3Check | undefined {
  if (!existsSync(file)) return undefined;
  return (compiled ??= compileSchema());
}

/** For the `validate` of a simulated device, which is given the ADC alone: whatever a test declares has to be valid. */
export function as3Validation(): { validate?: (adc: unknown) => string[] } {
  const check = as3Schema();
  return check ? { validate: (adc) => check({ class: 'AS3', declaration: adc }) } : {};
}

function compileSchema(): As3Check {
  const ajv = new Ajv({ strict: false, allErrors: false, logger: false });
  addFormats.default(ajv);
  ajv.addFormat('f5ip', (text) => text === '' || parseAddressRange(text).ok);
  const validate = ajv.compile(JSON.parse(readFileSync(file, 'utf8')) as object);
  return (body) =>
    validate(body) ? [] : (validate.errors ?? []).map((error) => `${error.instancePath}: ${error.message}`);
}
