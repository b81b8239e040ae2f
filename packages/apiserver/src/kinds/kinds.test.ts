// What is refused in kinds whose mistakes would only show later: webhook configurations, ingresses, roles, budgets.
import { expect, test } from 'vitest';
import type { Tree } from '../object.ts';
import { testServer } from '../test-server.ts';

const hook = (more: Tree): Tree => ({
  webhooks: [
    {
      name: 'a.example.io',
      clientConfig: { url: 'https://a.example.io' },
      rules: [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods'] }],
      sideEffects: 'None',
      admissionReviewVersions: ['v1'],
      ...more,
    },
  ],
});
const path = (more: Tree): Tree => {
  const entry = { path: '/', pathType: 'Prefix', backend: { service: { name: 'a', port: { number: 80 } } }, ...more };
  return { spec: { rules: [{ host: 'a.example.io', http: { paths: [entry] } }] } };
};
const budget = (spec: Tree): Tree => ({ spec: { selector: {}, ...spec } });

const hooks = ['admissionregistration.k8s.io/v1', 'ValidatingWebhookConfiguration', 'validatingwebhookconfigurations'];
const ingresses = ['networking.k8s.io/v1', 'Ingress', 'namespaces/default/ingresses'];
const roles = ['rbac.authorization.k8s.io/v1', 'Role', 'namespaces/default/roles'];
const budgets = ['policy/v1', 'PodDisruptionBudget', 'namespaces/default/poddisruptionbudgets'];

test.each<[string[], Tree, string[]]>([
  [hooks, hook({}), []],
  [hooks, hook({ name: 'short' }), ['webhooks[0].name']],
  [
    hooks,
    hook({ sideEffects: undefined, timeoutSeconds: 31 }),
    ['webhooks[0].sideEffects', 'webhooks[0].timeoutSeconds'],
  ],
  [
    hooks,
    hook({ clientConfig: { url: 'http://a.example.io?x' } }),
    ['webhooks[0].clientConfig.url', 'webhooks[0].clientConfig.url'],
  ],
  [hooks, hook({ clientConfig: {} }), ['webhooks[0].clientConfig']],
  [
    hooks,
    hook({ rules: [{ operations: ['READ'], apiGroups: [], apiVersions: ['v1'], resources: ['pods'] }] }),
    ['webhooks[0].rules[0].operations[0]', 'webhooks[0].rules[0].apiGroups'],
  ],
  [
    hooks,
    hook({ matchConditions: [{ name: 'x', expression: 'object.' }] }),
    ['webhooks[0].matchConditions[0].expression'],
  ],
  [ingresses, path({}), []],
  [ingresses, path({ path: '/a/../b' }), ['spec.rules[0].http.paths[0].path']],
  [ingresses, path({ backend: { service: { name: 'a', port: {} } } }), ['spec.rules[0].http.paths[0].backend']],
  [ingresses, { spec: {} }, ['spec']],
  [roles, { rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }] }, []],
  [roles, { rules: [{ resources: ['pods'] }] }, ['rules[0].verbs', 'rules[0].apiGroups']],
  [roles, { rules: [{ nonResourceURLs: ['/x'], verbs: ['get'] }] }, ['rules[0].nonResourceURLs']],
  [budgets, budget({ minAvailable: '50%' }), []],
  [budgets, budget({ minAvailable: 'half' }), ['spec.minAvailable']],
  [budgets, budget({ minAvailable: 1, maxUnavailable: '101%' }), ['spec', 'spec.maxUnavailable']],
])('%s with %j is wrong in %j', async ([apiVersion = '', kind, where = ''], body, fields) => {
  const server = await testServer();
  const reply = await server.send('POST', `/apis/${apiVersion}/${where}`, {
    apiVersion,
    kind,
    metadata: { name: 'x' },
    ...body,
  });
  expect(reply.causes.map((cause) => cause.slice(0, cause.indexOf(': ')))).toEqual(fields);
  expect(reply.code).toBe(fields.length === 0 ? 201 : 422);
  await server.close();
});
