// What the device counts of its own traffic: by pool and member, and by status class of the virtual server's HTTP profile.
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { boundAt, get, makeAdc, makeDevice, makeHttp, makePool } from '../make.ts';
import type { Json } from '../rest/body.ts';

const { sim, ask, declare } = makeDevice();
/** Answers with the status that is asked for as the path; `/0` breaks the connection. */
const server = createServer((incoming, outgoing) => {
  const status = Number(incoming.url?.slice(1));
  if (status === 0) return void incoming.socket.destroy();
  outgoing.writeHead(status).end();
});
let at: { host: string; port: number };

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  await declare(makeAdc({ vs: makeHttp('20.31.4.30'), web_pool: makePool([{ port }]) }));
  at = boundAt(sim, '/T1/app/vs');
});
afterAll(async () => {
  await sim.close();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

/** The one entry, as its URL and its values. */
async function stats(path: string): Promise<[string, Json]> {
  const { json } = await ask('GET', `/mgmt/tm/ltm/${path}/stats`);
  const [url = '', entry] =
    Object.entries(json['entries'] as Record<string, { nestedStats: { entries: Json } }>)[0] ?? [];
  const values = Object.entries(entry?.nestedStats.entries ?? {}).map(([name, value]) => {
    const { value: number, description } = value as Json;
    return [name, number ?? description];
  });
  return [url, Object.fromEntries(values)];
}

test('responses are counted by class, and a broken one is a request without a response', async () => {
  for (const status of [200, 204, 302, 404, 500, 503])
    expect((await get(at, { path: `/${status}` })).status).toBe(status);
  await expect(get(at, { path: '/0' })).rejects.toThrow('ECONNRESET');
  const [url, counts] = await stats('virtual/~T1~app~vs/profiles');
  expect(url).toBe('https://localhost/mgmt/tm/ltm/virtual/~T1~app~vs/profiles/~Common~http/stats');
  expect(counts).toMatchObject({
    typeId: 'ltm profile http',
    vsName: '/T1/app/vs',
    numberReqs: 7,
    resp_2xxCnt: 2,
    resp_3xxCnt: 1,
    resp_4xxCnt: 1,
    resp_5xxCnt: 2,
  });
});

test('a virtual server tells how many clients are connected', async () => {
  const held = connect(at.port, at.host);
  await new Promise((resolve) => held.write('GET /200 HTTP/1.1\r\nHost: a\r\n\r\n', resolve));
  await new Promise((resolve) => held.once('data', resolve));
  const [, counts] = await stats('virtual/~T1~app~vs');
  expect(counts).toMatchObject({ tmName: '/T1/app/vs', 'clientside.curConns': 1 });
  held.destroy();
});

test('a pool counts on when its member is replaced; the member begins anew', async () => {
  const member = (await ask('GET', '/mgmt/tm/ltm/pool/~T1~app~web_pool/members')).json['items'] as Json[];
  const [, before] = await stats('pool/~T1~app~web_pool');
  expect(before).toMatchObject({ totRequests: 7, memberCnt: 1, activeMemberCnt: 1 });
  const name = String(member[0]?.['fullPath']);
  await ask('DELETE', `/mgmt/tm/ltm/pool/~T1~app~web_pool/members/${name.replaceAll('/', '~')}`);
  await ask('POST', '/mgmt/tm/ltm/pool/~T1~app~web_pool/members', { name });
  await get(at, { path: '/200' });
  expect((await stats('pool/~T1~app~web_pool'))[1]).toMatchObject({ totRequests: 8 });
  expect((await stats('pool/~T1~app~web_pool/members'))[1]).toMatchObject({ totRequests: 1, 'serverside.totConns': 1 });
});

test('a virtual server that is not there has no statistics', async () => {
  expect((await ask('GET', '/mgmt/tm/ltm/virtual/~T1~app~none/profiles/stats')).status).toBe(404);
});
