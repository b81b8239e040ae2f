// Listeners that name rules of the device: what is looked for, and what becomes of them without.
import { expect, test } from 'vitest';
import type { Application } from './application.ts';
import { complete, deviceRulesOf } from './complete.ts';

const service = (...rules: (string | { bigip: string })[]) => ({ class: 'Service_HTTP', iRules: rules });
const rule = (bigip: string) => ({ bigip });
const form = (objects: Record<string, object>) => ({ class: 'Application', ...objects }) as Application;

test('only what the place does not name already is looked for, each once', () => {
  const wanted = form({
    a_vs: service(rule('/Common/audit'), rule('/Common/new'), 'a_vs_irule'),
    b_vs: service(rule('/Common/new')),
  });
  expect(deviceRulesOf(wanted, form({ a_vs: service(rule('/Common/audit'), 'a_vs_irule') }))).toEqual(['/Common/new']);
  expect(deviceRulesOf(form({ a_vs: service('a_vs_irule') }), undefined)).toEqual([]);
});

test('a new listener whose rule is not there is left out, and its neighbours stay', () => {
  const wanted = form({ a_vs: service(rule('/Common/none'), 'a_vs_irule'), b_vs: service('b_vs_irule') });
  const { form: left, absent } = complete(wanted, undefined, new Set(['/Common/none']));
  expect(Object.keys(left)).toEqual(['class', 'b_vs']);
  expect(absent).toEqual([{ rule: '/Common/none', kept: false }]);
});

test('one that is there stays with the rules it had, and gets the rest of its edit', () => {
  const found = form({ a_vs: { ...service('a_vs_irule'), virtualPort: 80 } });
  const wanted = form({ a_vs: { ...service(rule('/Common/none'), 'a_vs_irule'), virtualPort: 80, pool: 'p' } });
  const { form: left, absent } = complete(wanted, found, new Set(['/Common/none']));
  expect(left['a_vs']).toEqual({ ...service('a_vs_irule'), virtualPort: 80, pool: 'p' });
  expect(absent).toEqual([{ rule: '/Common/none', kept: true }]);
});
