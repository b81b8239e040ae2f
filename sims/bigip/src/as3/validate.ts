// What AS3 itself refuses before it looks at the device: shapes, names, ranges and pointers. Errors are "path: why".

import { isObject, type Json } from '../rest/body.ts';
import { classed, itemsOf } from './declaration.ts';
import { Errors } from './errors.ts';
import { validateItem } from './validate-item.ts';
import type { Scene } from './pointers.ts';
import { isKnown, itemClasses, templates } from './words.ts';

const namePattern = /^[A-Za-z]([0-9A-Za-z_.-]{0,188}[0-9A-Za-z_.])?$/;
const versions = /^3\.(\d|[1-4]\d|5[0-6])(\.\d+)?$/;

/** Everything wrong with a declaration; empty when there is nothing. */
export function validate(adc: Json, scene: Scene): string[] {
  const errors = new Errors();
  validateAdc(adc, errors);
  for (const [name, tenant] of tenantsOf(adc)) validateTenant(name, tenant, errors);
  if (errors.list.length > 0) return errors.list;
  for (const [name, tenant] of tenantsOf(adc)) {
    for (const item of itemsOf(name, tenant)) validateItem(item, scene, errors);
  }
  return errors.list;
}

/** Members of the ADC that are no words of its own. */
export function tenantsOf(adc: Json): [string, Json][] {
  return classed(adc, 'Tenant');
}

function validateAdc(adc: Json, errors: Errors): void {
  if (adc['class'] !== 'ADC') errors.add('/class', 'should be equal to constant "ADC"');
  const version = adc['schemaVersion'];
  if (typeof version !== 'string') errors.add('', "should have required property 'schemaVersion'");
  else if (!versions.test(version))
    errors.add('/schemaVersion', `should be a version that this device knows (3.0 to 3.56), not ${version}`);
  errors.remarks(adc, '');
  errors.word(adc, '', 'updateMode', ['selective', 'complete']);
  const id = adc['id'];
  if (id !== undefined && (typeof id !== 'string' || id.length > 255 || /[\s"'<>\\^`|]/.test(id)))
    errors.add('/id', 'should match pattern');
  for (const [name, child] of Object.entries(adc)) {
    if (isKnown('ADC', name)) continue;
    if (!isObject(child) || child['class'] !== 'Tenant') errors.add(`/${name}`, 'should be an object of class Tenant');
    else if (!namePattern.test(name)) errors.add(`/${name}`, `should match pattern "${namePattern.source}"`);
  }
  if (isObject(adc['controls'])) errors.known(adc['controls'], '/controls', 'Controls');
}

function validateTenant(name: string, tenant: Json, errors: Errors): void {
  const path = `/${name}`;
  errors.remarks(tenant, path);
  errors.boolean(tenant, path, 'enable');
  for (const [key, child] of Object.entries(tenant)) {
    if (key !== 'Shared' && isKnown('Tenant', key)) continue;
    if (!isObject(child) || child['class'] !== 'Application')
      errors.add(`${path}/${key}`, 'should be an object of class Application');
    else if (!namePattern.test(key)) errors.add(`${path}/${key}`, `should match pattern "${namePattern.source}"`);
    else validateApplication(`${path}/${key}`, child, errors);
    if (name === 'Common' && key !== 'Shared')
      errors.add(`${path}/${key}`, 'the tenant Common has the application Shared only');
  }
}

function validateApplication(path: string, application: Json, errors: Errors): void {
  errors.remarks(application, path);
  errors.boolean(application, path, 'enable');
  const template = application['template'] ?? 'generic';
  if (typeof template !== 'string' || !(template in templates))
    errors.add(
      `${path}/template`,
      `should be equal to one of the allowed values (${Object.keys(templates).join(', ')})`,
    );
  else validateTemplate(path, application, { template, errors });
  for (const [key, child] of Object.entries(application)) {
    if (isKnown('Application', key)) continue;
    if (!isObject(child) || typeof child['class'] !== 'string')
      errors.add(`${path}/${key}`, "should have required property 'class'");
    else if (!itemClasses.includes(child['class']))
      errors.add(
        `${path}/${key}/class`,
        `should be equal to one of the allowed values; this simulator carries ${itemClasses.join(', ')}, not ${child['class']}`,
      );
    else if (!namePattern.test(key)) errors.add(`${path}/${key}`, `should match pattern "${namePattern.source}"`);
    else if (`${path}/${key}`.length > 195)
      errors.add(`${path}/${key}`, 'path should NOT be longer than 195 characters');
    else if (child['class'] !== 'Constants') errors.known(child, `${path}/${key}`, child['class']);
  }
}

function validateTemplate(
  path: string,
  application: Json,
  { template, errors }: { template: string; errors: Errors },
): void {
  const wanted = templates[template];
  if (wanted === undefined) return;
  const main = application['serviceMain'];
  if (!isObject(main)) errors.add(path, "should have required property 'serviceMain'");
  else if (main['class'] !== wanted) errors.add(`${path}/serviceMain/class`, `should be equal to constant "${wanted}"`);
}
