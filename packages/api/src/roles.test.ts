import { expect, test } from 'vitest';
import { programRoles } from './program-roles.ts';
import { clusterRoles } from './roles.ts';

const may = (name: string, verb: string, resource: string): boolean =>
  clusterRoles()
    .filter(({ metadata }) => metadata.name === `fairlead-${name}`)
    .some(({ rules }) => rules.some((rule) => rule.resources.includes(resource) && rule.verbs.includes(verb)));

test.each([
  ['platform-admin', 'create', 'loadbalancers', true],
  ['platform-admin', 'patch', 'lbtickets/status', false],
  ['network-approver', 'patch', 'lbtickets/status', true],
  ['network-approver', 'patch', 'lbtickets', false],
  ['network-approver', 'get', 'loadbalancers', false],
  ['project-user', 'create', 'lbtickets', true],
  ['project-user', 'delete', 'lbrules', true],
  ['project-user', 'patch', 'lbtickets/status', false],
  ['project-user', 'list', 'loadbalancers', false],
  ['project-user', 'create', 'lbcanaries', true],
  ['release-manager', 'patch', 'lbcanaries', true],
  ['release-manager', 'patch', 'lbcanaries/status', false],
  ['release-manager', 'patch', 'lbtickets', false],
  ['viewer', 'patch', 'lbcanaries', false],
  ['viewer', 'watch', 'lbtickets', true],
  ['viewer', 'patch', 'lbrules', false],
  ['viewer', 'get', 'loadbalancers', false],
  ['loadbalancer-viewer', 'list', 'loadbalancers', true],
  ['loadbalancer-viewer', 'list', 'lbtickets', false],
])('%s may %s %s: %s', (role, verb, resource, want) => {
  expect(may(role, verb, resource)).toBe(want);
});

test('nobody is given secrets, or everything', () => {
  const rules = clusterRoles().flatMap((role) => role.rules);
  expect(
    rules.filter((rule) =>
      [...rule.resources, ...rule.verbs, ...rule.apiGroups].some((word) => word === '*' || word === 'secrets'),
    ),
  ).toEqual([]);
});

test('the right that controllers are known by (docs/adr/0021) is in no role for people, and in theirs', () => {
  const status = 'loadbalancers/status';
  expect(clusterRoles().filter(({ rules }) => rules.some(({ resources }) => resources.includes(status)))).toEqual([]);
  const holders = programRoles().filter(({ rules }) =>
    rules.some(({ resources, verbs }) => resources.includes(status) && verbs.includes('patch')),
  );
  expect(holders.map(({ metadata }) => metadata.name)).toEqual(['fairlead-controller']);
});

test('our programs are given nothing by a star, and Secrets only in their own namespace and where certificates are', () => {
  const roles = programRoles();
  const words = roles.flatMap(({ rules }) =>
    rules.flatMap((one) => [...one.resources, ...one.verbs, ...one.apiGroups]),
  );
  expect(words).not.toContain('*');
  const withSecrets = roles.filter(({ rules }) => rules.some(({ resources }) => resources.includes('secrets')));
  expect(withSecrets.map(({ kind, metadata }) => `${kind} ${metadata.name}`)).toEqual([
    'Role fairlead-controller-own',
    'ClusterRole fairlead-target-certificates',
  ]);
});
