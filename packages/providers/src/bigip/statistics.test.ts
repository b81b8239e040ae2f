import { createServer, get } from 'node:http';
import { fail, ok, type Statistics } from '@fairlead/core';
import { bigip as sim, realClock } from '@fairlead/sim-bigip';
import { expect, onTestFinished, test } from 'vitest';
import { bigip } from './bigip.ts';
import type { Answer, Call } from './call.ts';
import type { Json } from './json.ts';
import { statistics } from './statistics.ts';

const never = new AbortController().signal;
const question = { key: 't1/app', listener: 'vs', pools: ['web_pool'] };

const stats = (...all: Json[]): Json => ({
  entries: Object.fromEntries(all.map((entries, i) => [`https://localhost/${i}`, { nestedStats: { entries } }])),
});
const values = (all: Record<string, number | string>): Json =>
  Object.fromEntries(
    Object.entries(all).map(([name, value]) => [name, typeof value === 'number' ? { value } : { description: value }]),
  );
const member = (enabledState: string, availabilityState: string): Json =>
  values({ 'status.enabledState': enabledState, 'status.availabilityState': availabilityState });

/** A device that answers these, and notes what it was asked. */
const device = (answers: Record<string, Json>): Call => {
  return async ({ path }) => {
    const body = answers[path.replace('/mgmt/tm/ltm/', '')];
    return body ? ok<Answer>({ status: 200, body }) : fail('missing', path);
  };
};

const http = values({
  typeId: 'ltm profile http',
  numberReqs: 100,
  resp_2xxCnt: 80,
  resp_3xxCnt: 5,
  resp_4xxCnt: 4,
  resp_5xxCnt: 3,
  passthroughWebSockets: 2,
});
const pool = values({ totRequests: 90, 'serverside.totConns': 7 });
const answers = (profiles: Json, ...members: Json[]) => ({
  'virtual/~t1~app~vs/profiles/stats': profiles,
  'virtual/~t1~app~vs/stats': stats(values({ 'clientside.curConns': 4 })),
  'pool/~t1~app~web_pool/stats': stats(pool),
  'pool/~t1~app~web_pool/members/stats': stats(...members),
});

const cases: [string, Record<string, Json>, Statistics][] = [
  [
    'what has no response is unanswered, upgrades left out',
    answers(stats(values({ typeId: 'ltm profile tcp' }), http), member('enabled', 'available')),
    {
      listener: { requests: 100, errors: 3, unanswered: 6, open: 4 },
      pools: { web_pool: { requests: 90, connections: 7, members: 1, available: 1 } },
    },
  ],
  [
    'without an HTTP profile there is nothing to say of requests',
    answers(stats(values({ typeId: 'ltm profile udp' }))),
    { pools: { web_pool: { requests: 90, connections: 7, members: 0, available: 0 } } },
  ],
  [
    'a drained member is none, one that nobody watches is available, one that is down is not',
    answers(
      {},
      member('disabled', 'available'),
      member('enabled', 'unknown'),
      member('enabled', 'offline'),
      member('enabled', 'available'),
    ),
    { pools: { web_pool: { requests: 90, connections: 7, members: 3, available: 2 } } },
  ],
];

test.each(cases)('%s', async (_, said, want) => {
  expect(await statistics(device(said), question, never)).toEqual(ok(want));
});

test('a pool that is not there is a problem, and no zeros', async () => {
  const got = await statistics(device({ 'virtual/~t1~app~vs/profiles/stats': stats(http) }), question, never);
  expect(got).toMatchObject({ ok: false, problem: { code: 'missing' } });
});

test('a simulated device tells of its own traffic', async () => {
  const server = createServer((incoming, outgoing) => outgoing.writeHead(incoming.url === '/bad' ? 500 : 200).end());
  await new Promise<void>((resolve) => server.listen(0, '127.77.44.1', resolve));
  const { port } = server.address() as { port: number };
  const simulated = sim();
  onTestFinished(async () => {
    await simulated.close();
    server.closeAllConnections();
    server.close();
  });
  await simulated.ready;
  const members = [{ servicePort: port, serverAddresses: ['127.77.44.1'], shareNodes: false }];
  const vs = {
    class: 'Service_HTTP',
    virtualAddresses: ['10.77.44.7'],
    virtualPort: 18_044,
    pool: 'web_pool',
    persistenceMethods: [],
  };
  const app = { class: 'Application', template: 'generic', vs, web_pool: { class: 'Pool', members } };
  const adc = { class: 'ADC', schemaVersion: '3.50.0', id: 't', t1: { class: 'Tenant', app } };
  await simulated.fetch('https://bigip.test/mgmt/shared/appsvcs/declare', {
    method: 'POST',
    headers: { authorization: `Basic ${btoa('admin:admin')}` },
    body: JSON.stringify(adc),
  });
  const bound = simulated.virtuals()[0]?.bound;
  for (const path of ['/', '/bad', '/'])
    await new Promise((resolve) => get({ ...bound, path, agent: false }, (got) => got.resume().on('end', resolve)));
  const { fetch } = simulated;
  const provider = bigip({ url: 'https://bigip.test', fetch, clock: realClock(), user: 'admin', password: 'admin' });
  expect(await provider.statistics?.(question, never)).toEqual(
    ok({
      listener: { requests: 3, errors: 1, unanswered: 0, open: expect.any(Number) as number },
      pools: { web_pool: { requests: 3, connections: 3, members: 1, available: 1 } },
    }),
  );
});
