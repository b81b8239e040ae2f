import { expect, test } from 'vitest';
import { makeListner, makeLoadbalancer, makeRule, makeTicket, makeWorld } from '../make.ts';
import { admission } from '../admission.ts';
import { pickWarnings, rulePickWarnings } from './pick.ts';

const device = makeLoadbalancer().spec.ltm;
const behind = makeLoadbalancer('demo', { ltm: { ...device, mode: 'as3' } });
const one = [{ service: 'svc01', port: 8080, weight: 1 }];
const noted = (listner: Parameters<typeof makeListner>[0], rules = [] as ReturnType<typeof makeRule>[]) => {
  const ticket = makeTicket({ listners: [makeListner(listner)] });
  return pickWarnings(ticket, makeWorld({ loadbalancers: [behind], lbrules: rules })).map(({ en }) => en);
};
const rule = makeRule({ services: [...one, { service: 'svc09', port: 80, weight: 5 }] });

test.each([
  ['two Services', {}, [], 1],
  ['two Services, one of weight 0', { services: [...one, { service: 'svc02', port: 80, weight: 0 }] }, [], 0],
  ['one Service', { services: one }, [], 0],
  ['one Service, and a rule with two', { services: one }, [rule], 1],
  ['kept by cookie', { stickiness: 'cookie' }, [], 0],
  ['at random', { stickiness: 'random' }, [], 0],
  ['by forwarded address, which our LTM does not set', { pickBy: 'x-forwarded-for' }, [], 1],
] as const)('behind our LTM, a listner with %s', (_, listner, rules, count) => {
  expect(
    noted({ ...listner, services: 'services' in listner ? [...listner.services] : makeListner().services }, [...rules]),
  ).toHaveLength(count);
});

test('the warning names the field, and what can be used instead', () => {
  expect(noted({})[0]).toMatch(/^spec\.listners\[0\]: with ltm\.mode as3 .*: use stickiness cookie or random$/);
  expect(noted({ protocal: 'tcp', session: 'none' })[0]).toMatch(/: use stickiness random$/);
});

test('where the LTM is not ours, nothing is said', () => {
  expect(pickWarnings(makeTicket(), makeWorld({ loadbalancers: [makeLoadbalancer()] }))).toEqual([]);
});

test('a rule is told of its listner', async () => {
  const world = makeWorld({ loadbalancers: [behind], lbtickets: [makeTicket()] });
  expect(rulePickWarnings(rule, world)).toHaveLength(1);
  expect(rulePickWarnings(makeRule({ services: one }), world)).toEqual([]);
  const random = makeWorld({
    loadbalancers: [behind],
    lbtickets: [makeTicket({ listners: [makeListner({ stickiness: 'random' })] })],
  });
  expect(rulePickWarnings(rule, random)).toEqual([]);
  const resource = { group: 'ebcpaas.lb', version: 'v1', resource: 'lbrules' };
  expect(await admission(world)({ operation: 'CREATE', resource, object: rule })).toMatchObject({
    allowed: true,
    warnings: [expect.stringMatching(/^listner lsnr1 of Lbticket test: /)],
  });
});
