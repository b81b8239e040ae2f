import { expect, test } from 'vitest';
import { applicationName, checkName, poolName, ruleName, tenantName, virtualName } from './names.ts';

test.each([
  [applicationName('default', 'http'), 'default_http_app'],
  [applicationName('1st', 'tcp'), 'n1st_tcp_app'],
  [poolName('svc01', 8080), 'svc01_8080_pool'],
  [poolName('8svc', 80), 'n8svc_80_pool'],
  [virtualName('test', 80), 'test_80_vs'],
  [virtualName('80', 80), 'n80_80_vs'],
  [ruleName(virtualName('test', 80)), 'test_80_vs_irule'],
  [tenantName('acp-region01'), 'acp-region01'],
  [tenantName('2nd'), 'n2nd'],
])('%s', (name, want) => {
  expect(name).toBe(want);
  expect(checkName(name, 'name').ok).toBe(true);
});

test.each(['', 'a', '80_vs', '_a', 'a b', 'a-', 'a/b', 'ä1', 'a'.repeat(191)])('%j is no name in AS3', (name) => {
  expect(checkName(name, 'here')).toMatchObject({ ok: false, problem: { code: 'invalid', path: 'here' } });
});
