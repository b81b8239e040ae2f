import { expect, test } from 'vitest';
import { decode } from './decode.ts';

const adc = {
  class: 'ADC',
  schemaVersion: '3.17.0',
  t1: {
    class: 'Tenant',
    defaultRouteDomain: 2,
    label: 'x',
    shop: {
      class: 'Application',
      template: 'generic',
      web_pool: { class: 'Pool', members: [{ servicePort: 8080, serverAddresses: [] }] },
      cert: { class: 'Certificate', certificate: 'secret:shop-tls/tls.crt', privateKey: 'secret:shop-tls/tls.key' },
    },
  },
};

test.each([
  ['wrapped in AS3', { class: 'AS3', action: 'deploy', declaration: adc }, 'declaration.'],
  ['bare', adc, ''],
])('a template %s gives tenants, applications and the pools that want members', (_, body, path) => {
  expect(decode(JSON.stringify(body))).toEqual({
    ok: true,
    value: {
      tenants: { t1: { shop: adc.t1.shop } },
      pools: [
        {
          tenant: 't1',
          application: 'shop',
          pool: 'web_pool',
          servicePort: 8080,
          template: { servicePort: 8080, serverAddresses: [] },
        },
      ],
      secrets: [{ tenant: 't1', application: 'shop', secret: 'shop-tls' }],
      ignored: [`${path}t1.defaultRouteDomain`, `${path}t1.label`],
    },
  });
});

test.each([
  ['{ // comment', 'not JSON', undefined],
  ['[]', 'object of class AS3 or ADC', 'class'],
  ['{"class":"Tenant"}', 'of class Tenant', 'class'],
  ['{"class":"AS3","action":"remove","declaration":{"class":"ADC"}}', 'only deploy', 'action'],
  ['{"class":"AS3","declaration":{}}', 'class ADC', 'declaration.class'],
  ['{"class":"ADC"}', 'no object of class Tenant', 'class'],
  ['{"class":"ADC","t1":{"class":"Tenant","a":{"class":"Pool"}}}', 'a is not of class Application', 't1.a.class'],
])('%s is refused: %s', (text, message, path) => {
  const found = decode(text);
  expect(found).toMatchObject({
    ok: false,
    problem: { code: 'invalid', message: expect.stringContaining(message) as unknown },
  });
  expect(found.ok ? undefined : found.problem.path).toBe(path);
});
