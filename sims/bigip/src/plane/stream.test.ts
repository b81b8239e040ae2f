// TCP and UDP virtual servers: bytes through, rules on connection, persistence, drain, and resets.
import { createSocket } from 'node:dgram';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { boundAt, makeAdc, makeClock, makeDevice, makePool } from '../make.ts';
import type { Json } from '../rest/body.ts';

const clock = makeClock();
const device = makeDevice({ clock });
const { sim, declare } = device;
interface Echo {
  name: string;
  port: number;
  server: Server;
  sockets: Set<Socket>;
}
let one: Echo;
let two: Echo;

/** Says its name, then sends back what it gets. */
async function makeEcho(name: string): Promise<Echo> {
  const sockets = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => sockets.delete(socket));
    socket.write(`${name}\n`);
    socket.pipe(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { name, port: (server.address() as AddressInfo).port, server, sockets };
}

beforeAll(async () => {
  [one, two] = await Promise.all([makeEcho('one'), makeEcho('two')]);
});
afterEach(() => device.ask('DELETE', '/mgmt/shared/appsvcs/declare'));
afterAll(async () => {
  await sim.close();
  for (const { server, sockets } of [one, two]) {
    server.close();
    for (const socket of sockets) socket.destroy();
  }
});

async function service(more: Json = {}, items: Json = {}): Promise<{ host: string; port: number }> {
  const vs = {
    class: 'Service_TCP',
    virtualAddresses: ['20.31.5.10'],
    virtualPort: 18_022,
    persistenceMethods: [],
    pool: 'pool1',
    ...more,
  };
  expect(await declare(makeAdc({ vs, pool1: makePool([one, two]), ...items }))).toMatchObject({ status: 200 });
  return boundAt(sim, '/T1/app/vs');
}

/** A client that has read its server's name. Rejects when it is reset before. */
function open(at: { host: string; port: number }, from?: string): Promise<{ socket: Socket; name: string }> {
  return new Promise((resolve, fail) => {
    const socket = connect({ ...at, allowHalfOpen: true, ...(from === undefined ? {} : { localAddress: from }) });
    socket.once('error', fail);
    for (const event of ['end', 'close']) socket.once(event, () => fail(new Error('closed')));
    socket.once('data', (data) => resolve({ socket, name: data.toString().trim() }));
  });
}

async function names(count: number, at: { host: string; port: number }, from?: string): Promise<string[]> {
  const all: string[] = [];
  for (let i = 0; i < count; i += 1) {
    const { socket, name } = await open(at, from);
    all.push(name);
    socket.destroy();
  }
  return all;
}

test('bytes go both ways, and a half-closed client still hears the rest', async () => {
  const { socket } = await open(await service());
  const heard = new Promise<string>((resolve) => {
    let all = '';
    socket.on('data', (data) => (all += data.toString()));
    socket.on('end', () => resolve(all));
  });
  socket.end('x'.repeat(200_000));
  expect(await heard).toHaveLength(200_000);
});

test('a rule on CLIENT_ACCEPTED chooses by address, from a data-group', async () => {
  const text =
    'when CLIENT_ACCEPTED { if { [class match [IP::client_addr] equals /T1/app/nets] } { pool /T1/app/pool2 } else { pool /T1/app/pool1 } }';
  const nets = { class: 'Data_Group', keyDataType: 'ip', records: [{ key: '127.31.9.0/24' }] };
  const at = await service(
    { iRules: ['r1'] },
    { r1: { class: 'iRule', expand: false, iRule: text }, nets, pool1: makePool([one]), pool2: makePool([two]) },
  );
  expect(await names(1, at, '127.31.9.7')).toEqual(['two']);
  expect(await names(1, at, '127.31.8.7')).toEqual(['one']);
});

test('reject resets, drop closes without a word', async () => {
  const at = await service(
    { iRules: ['r1'] },
    {
      r1: {
        class: 'iRule',
        expand: false,
        iRule: 'when CLIENT_ACCEPTED { if { [IP::client_addr] equals "127.31.9.8" } { reject } else { drop } }',
      },
    },
  );
  await expect(open(at, '127.31.9.8')).rejects.toThrow('ECONNRESET');
  await expect(open(at, '127.31.9.9')).rejects.toThrow('closed');
});

test('source-address persistence holds until its timeout has passed', async () => {
  const at = await service(
    { persistenceMethods: [{ use: 'sticky' }] },
    { sticky: { class: 'Persist', persistenceMethod: 'source-address', duration: 60 } },
  );
  const [first] = await names(1, at, '127.31.9.1');
  expect(new Set(await names(3, at, '127.31.9.1'))).toEqual(new Set([first]));
  await clock.advance(50_000);
  expect(await names(1, at, '127.31.9.1')).toEqual([first]);
  await clock.advance(61_000);
  // By turn it is the other's; had the record lived, it would be the first again.
  const [later] = await names(1, at, '127.31.9.1');
  expect(later).not.toBe(first);
  expect(await names(2, at, '127.31.9.1')).toEqual([later, later]);
});

test('a virtual server made anew has forgotten who was where', async () => {
  const [first] = await names(1, await service({ persistenceMethods: ['source-address'] }), '127.31.9.1');
  const [later] = await names(
    1,
    await service({ persistenceMethods: ['source-address'], remark: 'new' }),
    '127.31.9.1',
  );
  expect(later).not.toBe(first);
});

test('a removed member resets its connections, a disabled one leaves them', async () => {
  const at = await service({}, { pool1: makePool([one]) });
  const { socket } = await open(at);
  socket.on('error', () => undefined);
  const member = `/mgmt/tm/ltm/pool/~T1~app~pool1/members/~T1~127.0.0.1:${one.port}`;
  await device.ask('PATCH', member, { state: 'user-down', session: 'user-disabled' });
  await expect(open(at)).rejects.toThrow('ECONNRESET');
  const echoed = new Promise<string>((resolve) => socket.once('data', (data) => resolve(data.toString())));
  socket.write('alive');
  expect(await echoed).toBe('alive');
  const ended = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  await device.ask('DELETE', member);
  await ended;
});

test('a member that refuses resets the client', async () => {
  const closed = await makeEcho('closed');
  await new Promise((resolve) => closed.server.close(resolve));
  await expect(open(await service({}, { pool1: makePool([closed]) }))).rejects.toThrow('ECONNRESET');
});

test('a disabled virtual server and one at its limit take no connection', async () => {
  const at = await service({ maxConnections: 1 });
  const { socket } = await open(at);
  await expect(open(at)).rejects.toThrow('ECONNRESET');
  socket.destroy();
  await expect(open(await service({ adminState: 'disable' }))).rejects.toThrow('ECONNRESET');
});

test('two virtual servers whose addresses meet on loopback are both bound, and say where', async () => {
  const vs = (address: string): Json => ({
    class: 'Service_TCP',
    virtualAddresses: [address],
    virtualPort: 18_023,
    persistenceMethods: [],
    pool: 'pool1',
  });
  await declare(makeAdc({ vs1: vs('20.31.5.20'), vs2: vs('30.31.5.20'), pool1: makePool([one]) }));
  expect(boundAt(sim, '/T1/app/vs1')).toEqual({ host: '127.31.5.20', port: 18_023 });
  expect(boundAt(sim, '/T1/app/vs2')).toEqual({ host: '127.31.5.20', port: 28_023 });
  expect(await names(1, boundAt(sim, '/T1/app/vs2'))).toEqual(['one']);
});

test('datagrams of one client are one flow with one member, until it is idle', async () => {
  const servers = await Promise.all(
    ['one', 'two'].map(async (name) => {
      const server = createSocket('udp4');
      server.on('message', (message, from) => server.send(`${name} ${message.toString()}`, from.port, from.address));
      await new Promise<void>((resolve) => server.bind(0, '127.0.0.1', resolve));
      return { server, port: server.address().port };
    }),
  );
  const vs = {
    class: 'Service_UDP',
    virtualAddresses: ['20.31.5.11'],
    virtualPort: 18_053,
    persistenceMethods: [],
    pool: 'udp_pool',
  };
  expect(await declare(makeAdc({ vs, udp_pool: makePool(servers) }))).toMatchObject({ status: 200 });
  const at = boundAt(sim, '/T1/app/vs');
  const client = createSocket('udp4');
  const ask = (text: string) =>
    new Promise<string>((resolve) => {
      client.once('message', (message) => resolve(message.toString()));
      client.send(text, at.port, at.host);
    });
  const first = (await ask('a')).split(' ')[0];
  expect((await ask('b')).split(' ')).toEqual([first, 'b']);
  expect((await ask('c')).split(' ')).toEqual([first, 'c']);
  await clock.advance(61_000);
  expect((await ask('d')).split(' ')[0]).not.toBe(first);
  client.close();
  for (const { server } of servers) server.close();
});
