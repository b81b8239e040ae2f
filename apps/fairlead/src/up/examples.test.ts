// Each folder of examples/ is applied as its README says, and does what its README says is seen.
import { createSocket } from 'node:dgram';
import { connect } from 'node:tls';
import { expect, test } from 'vitest';
import { lbrules, lbtickets } from '@fairlead/api';
import { answered } from '../approve.ts';
import { systemClock } from '../clock.ts';
import { eventually, exampleKeyPairs, silent, withEnvironment } from '../testing/environment.ts';
import type { Environment } from './environment.ts';
import { applyExample } from './quickstart.ts';
import { boundAt } from './requests.ts';
import { get, greeting, measure, type Target } from './traffic.ts';
import { untilCarried } from './wait.ts';

let environment: Environment;

withEnvironment(async (started) => {
  environment = started;
});

const carried = async (example: string): Promise<void> => {
  const applied = await applyExample(example, environment, silent);
  expect(await untilCarried({ environment, applied }, silent)).toEqual([]);
};

const ticketNamed = (name: string) => environment.stores.lbtickets.get({ name, namespace: 'default' });

const targetOf = (name: string, port: number): Target => {
  const target = boundAt(environment.devices.ve.sim, ticketNamed(name)?.status?.veip ?? '', port);
  if (!target) throw new Error(`ticket ${name} has no virtual server on port ${port}`);
  return target;
};

const serviceOf = async (target: Target, headers: Record<string, string>, client = '127.100.0.1') => {
  const got = await get(target, { host: 'example.com', ...headers }, client);
  return 'service' in got ? got.service : got.wrong;
};

test('canary by header: testers get the next version, and nobody else', async () => {
  await carried('canary-header');
  const target = targetOf('shop', 80);
  expect(await serviceOf(target, { 'x-canary': 'yes' })).toBe('shop-next');
  expect(await serviceOf(target, { 'x-canary': 'no' })).toBe('shop');
  expect((await measure(target, { host: 'example.com' }, 0, 100)).counts).toEqual({ shop: 100 });
}, 60_000);

test('canary by cookie: two values of one cookie, by weight, and one client stays with its version', async () => {
  await carried('canary-cookie');
  const target = targetOf('mail', 80);
  expect(await serviceOf(target, { cookie: 'beta=10' })).toBe('mail');
  const { counts } = await measure(target, { host: 'example.com', cookie: 'beta=group-7' }, 0, 1000);
  expect(Object.keys(counts).sort()).toEqual(['mail-beta', 'mail-nightly']);
  expect(counts['mail-nightly']).toBeGreaterThan(50);
  expect(counts['mail-nightly']).toBeLessThan(170);
  const picks = new Set<string>();
  for (let i = 0; i < 5; i++) picks.add(await serviceOf(target, { cookie: 'beta=1' }, '127.100.0.9'));
  expect(picks.size).toBe(1);
  const at = { name: 'beta', namespace: 'default' };
  expect(await environment.management.remove(lbrules, at)).toMatchObject({ ok: true });
  const left = () => serviceOf(target, { cookie: 'beta=1' });
  expect(await eventually(left, (service) => service === 'mail')).toBe('mail');
}, 60_000);

test('udp and tcp on one number are two virtual servers', async () => {
  await carried('udp');
  expect(await datagram(targetOf('names', 5300))).toBe('who');
  const { sim } = environment.devices.ve;
  const numbers = sim
    .virtuals()
    .filter(({ address, port }) => address === ticketNamed('names')?.status?.veip && port === 5300);
  expect(numbers).toHaveLength(2);
  const tcp = numbers.find(({ protocol }) => protocol === 'tcp')?.bound;
  if (!tcp) throw new Error('no virtual server of the two is tcp');
  expect(await greeting(tcp, '127.100.0.1')).toMatchObject({ line: expect.stringContaining('names-tcp') });
}, 60_000);

test('https: a certificate for each name, from Secrets', async () => {
  const ca = await exampleKeyPairs(environment);
  await carried('https');
  const target = targetOf('store', 443);
  expect(await certificateOf(target, 'api.example.com', ca.cert)).toBe('api.example.com');
  expect(await certificateOf(target, 'store.example.com', ca.cert)).toBe('store.example.com');
}, 60_000);

/** Whom the certificate names that a client is shown, once it has found it good for the name it asked for. */
function certificateOf({ host, port }: Target, servername: string, ca: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port, servername, ca }, () => {
      resolve(String(socket.getPeerCertificate().subject.CN));
      socket.destroy();
    });
    socket.once('error', reject);
  });
}

/** What comes back for one datagram. */
function datagram({ host, port }: Target): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = createSocket('udp4');
    socket.once('error', reject);
    socket.once('message', (message) => {
      socket.close();
      resolve(message.toString('utf8'));
    });
    socket.send('who', port, host);
  });
}

test('manual approval: nothing is programmed until a person has opened the network', async () => {
  await applyExample('manual-approval', environment, silent);
  const waiting = await eventually(
    () => ticketNamed('vault'),
    (one) => one?.status?.process === 'apply',
  );
  expect(waiting?.status?.conditions?.find(({ type }) => type === 'NetworkPolicyOpen')?.message).toContain(
    'network admin',
  );
  const veip = waiting?.status?.veip ?? '';
  expect(veip).toMatch(/^20\.7\./);
  expect(boundAt(environment.devices.ve.sim, veip, 80)).toBeUndefined();
  // Another claimer is another application; the person answers for that one.
  const body = { spec: { claimer: 'ann' } };
  const at = { name: 'vault', namespace: 'default' };
  expect(await environment.management.patch(lbtickets, at, { type: 'merge', body })).toMatchObject({ ok: true });
  const anew = await eventually(
    () => ticketNamed('vault'),
    (one) => one?.status?.process === 'apply' && one.status.filing?.claimer === 'ann',
  );
  expect(anew?.status?.application).not.toBe(waiting?.status?.application);
  const said = { answer: 'approve', message: 'opened by the network team' } as const;
  expect(await answered(environment.management, 'vault', said, systemClock)).toMatchObject({ ok: true });
  await carried('manual-approval');
  expect(ticketNamed('vault')?.status?.history?.at(-1)).toMatchObject({ to: 'enabled', who: 'admin' });
  expect(await serviceOf(targetOf('vault', 80), {})).toBe('vault');
  expect(await answered(environment.management, 'vault', said, systemClock)).toMatchObject({
    ok: false,
    problem: { message: 'lbticket default/vault does not wait for an approver: it is enabled' },
  });
}, 60_000);

test('dual stack: one application under an address of each family', async () => {
  await carried('dual-stack');
  expect(ticketNamed('news4')?.status).toMatchObject({ veip: '20.4.0.1', ltmip: '10.0.4.1' });
  expect(ticketNamed('news6')?.status).toMatchObject({ veip: '2001:db8:2::1:10', ltmip: '2001:db8:1::1' });
  expect(await serviceOf(targetOf('news4', 80), {})).toBe('news');
  expect(await serviceOf(targetOf('news6', 80), {})).toBe('news');
}, 60_000);
