import type { Member } from '@fairlead/core';
import { expect, test } from 'vitest';
import type { Application } from './application.ts';
import { secretsOf } from './certificates.ts';
import { discoverablePools, fill, strip } from './members.ts';
import { marked, markOf, unmarked } from './mark.ts';

const application = (): Application => ({
  class: 'Application',
  web_pool: {
    class: 'Pool',
    members: [{ servicePort: 8080, serverAddresses: [], shareNodes: true, priorityGroup: 5 }],
  },
  port_pool: { class: 'Pool', members: [{ serverAddresses: [] }] },
  fixed_pool: { class: 'Pool', members: [{ servicePort: 80, serverAddresses: ['192.0.2.1'] }] },
  bare_pool: { class: 'Pool' },
  cert: { class: 'Certificate', certificate: 'secret:shop-tls/tls.crt', privateKey: 'secret:shop-tls/tls.key' },
});
const member = (address: string, port: number, over: Partial<Member> = {}): Member => ({
  address,
  port,
  state: 'enabled',
  ...over,
});
const pem = { certificate: 'CRT', privateKey: 'KEY' };

test('a pool wants members when its first entry has addresses, and none yet; port 80 when none is said', () => {
  expect(discoverablePools(application())).toEqual([
    { pool: 'port_pool', servicePort: 80, template: { servicePort: 80, serverAddresses: [] } },
    {
      pool: 'web_pool',
      servicePort: 8080,
      template: { servicePort: 8080, serverAddresses: [], shareNodes: true, priorityGroup: 5 },
    },
  ]);
});

test('members stand one per address, sorted, with the attributes of the template', () => {
  const members = [
    member('10.0.0.2', 8080),
    member('10.0.0.1', 9090, { state: 'draining' }),
    member('10.0.0.1', 8080, { ratio: 7 }),
  ];
  const filled = fill(application(), new Map([['web_pool', members]]));
  const rest = { shareNodes: true, priorityGroup: 5 };
  expect(filled['web_pool']).toEqual({
    class: 'Pool',
    members: [
      { servicePort: 8080, serverAddresses: ['10.0.0.1'], ratio: 7, ...rest },
      { servicePort: 9090, serverAddresses: ['10.0.0.1'], adminState: 'disable', ...rest },
      { servicePort: 8080, serverAddresses: ['10.0.0.2'], ...rest },
    ],
  });
});

test('a pool with fixed addresses is left alone, and one without members stays a template', () => {
  const filled = fill(
    application(),
    new Map([
      ['fixed_pool', [member('10.0.0.1', 80)]],
      ['web_pool', []],
    ]),
  );
  expect(filled).toEqual(application());
});

test('strip gives back what was filled, with the mark kept, and unmarked takes that off', () => {
  const mark = { owner: 'fairlead', key: 't1/app', source: 'c/n/fairlead-demo' };
  const members = new Map([
    ['web_pool', [member('10.0.0.1', 9090)]],
    ['port_pool', [member('10.0.0.1', 80)]],
  ]);
  const sent = fill(marked(application(), mark), members, new Map([['shop-tls', pem]]));
  expect(sent['cert']).toEqual({ class: 'Certificate', ...pem });
  expect(markOf(sent)).toEqual(mark);
  expect(strip(sent)).toEqual(marked(application(), mark));
  expect(unmarked(strip(sent))).toEqual(application());
});

test('filling does not change what was given', () => {
  const given = application();
  fill(given, new Map([['web_pool', [member('10.0.0.1', 80)]]]), new Map([['shop-tls', pem]]));
  expect(given).toEqual(application());
});

test('constants of a user stay beside the mark', () => {
  const own = { ...application(), constants: { class: 'Constants', team: 'shop' } };
  const sent = marked(own, { owner: 'o', key: 'k', source: 's' });
  expect(sent['constants']).toEqual({ class: 'Constants', team: 'shop', label: 'o', key: 'k', source: 's' });
  expect(unmarked(sent)).toEqual(own);
});

test('what has no whole mark is not ours', () => {
  expect(markOf(application())).toBeUndefined();
  expect(markOf({ ...application(), constants: { class: 'Constants', label: 'o', key: 'k' } })).toBeUndefined();
});

test('the Secrets that certificates stand open for are named', () => {
  expect(secretsOf(application())).toEqual(['shop-tls']);
});
