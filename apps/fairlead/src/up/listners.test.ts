// Every field of a listner, seen on the simulated device; udp with real datagrams; and as many listners as a ticket may have.
import { createSocket } from 'node:dgram';
import { expect, test } from 'vitest';
import { systemClock } from '../clock.ts';
import { applyText, eventually, region01, webServer, withEnvironment } from '../testing/environment.ts';
import { administrator } from './device-view.ts';
import type { Environment } from './environment.ts';
import { boundAt } from './requests.ts';
import { get } from './traffic.ts';

let environment: Environment;

withEnvironment(async (started) => {
  environment = started;
  await applyText(environment.management, loadbalancer);
});

const target = () => region01(environment);

const loadbalancer = `apiVersion: ebcpaas.lb/v1
kind: Loadbalancer
metadata: {name: demo}
spec:
  ltm: {url: "http://100.1.1.1/api", cidr: 10.0.8.0/24}
  ve: {addr: 200.1.1.1, user: admin, passwd: admin, cidr: 20.1.8.0/24}
  cluster: acp-region01
  nsselector: {foo: bar}
`;

/** A ticket of `listners`, each in YAML's flow style. */
const ticket = (name: string, listners: string[]) => `apiVersion: ebcpaas.io/v1
kind: Lbticket
metadata: {name: ${name}, namespace: default}
spec: {loadbalancer: demo, namespace: default, listners: [${listners.join(', ')}]}
`;

const workload = (name: string) => `apiVersion: apps/v1
kind: Deployment
metadata: {name: ${name}, namespace: default}
spec:
  replicas: 1
  selector: {matchLabels: {app: ${name}}}
  template:
    metadata: {labels: {app: ${name}}}
    spec: {containers: [{name: dns, image: dns, ports: [{name: dns, containerPort: 5353, protocol: UDP}]}]}
---
apiVersion: v1
kind: Service
metadata: {name: ${name}, namespace: default}
spec: {selector: {app: ${name}}, ports: [{name: dns, port: 53, targetPort: 5353, protocol: UDP}]}
`;

const stored = (name: string) => environment.stores.lbtickets.get({ name, namespace: 'default' });

const isProgrammed = (name: string) =>
  eventually(
    () => stored(name)?.status?.conditions?.find(({ type }) => type === 'Programmed'),
    (condition) => condition?.status === 'True',
  );

/** What the VE answers by iControl REST. */
async function device(path: string): Promise<{ items?: Record<string, unknown>[] }> {
  const authorization = `Basic ${btoa(`${administrator.user}:${administrator.password}`)}`;
  const { sim } = environment.devices.ve;
  const answer = await sim.fetch(`http://ve/mgmt/tm/ltm/${path}`, { headers: { authorization } });
  return (await answer.json()) as { items?: Record<string, unknown>[] };
}

/** Sends one datagram from `from` and resolves with the echo, or nothing when none comes before the next look. */
async function echo(at: { host: string; port: number }, from: string, text: string): Promise<string | undefined> {
  const socket = createSocket('udp4');
  const heard = new Promise<string>((resolve) => socket.once('message', (message) => resolve(message.toString())));
  await new Promise<void>((bound) => socket.bind(0, from, bound));
  socket.send(text, at.port, at.host);
  const answer = await Promise.race([heard, systemClock.sleep(200).then(() => undefined)]);
  socket.close();
  return answer;
}

test('udp: datagrams go to the pods and back, by weight', async () => {
  await applyText(target(), workload('dns-a'));
  await applyText(target(), workload('dns-b'));
  const services = '[{service: dns-a, port: 53, weight: 50}, {service: dns-b, port: 53, weight: 50}]';
  await applyText(
    environment.management,
    ticket('dns', [`{name: dns, port: 53, protocal: udp, services: ${services}}`]),
  );
  await isProgrammed('dns');
  const { sim } = environment.devices.ve;
  const at = await eventually(
    () => boundAt(sim, stored('dns')?.status?.veip ?? '', 53),
    (bound) => bound !== undefined,
  );
  if (!at) throw new Error('bug: no virtual server');
  for (const client of [1, 2, 3])
    await eventually(
      () => echo(at, `127.70.0.${client}`, `hello ${client}`),
      (answer) => answer === `hello ${client}`,
    );
  const totals = async () => {
    const { items = [] } = await device('pool?expandSubcollections=true');
    return items.flatMap(({ fullPath, membersReference }) => {
      const { items: members = [] } = membersReference as { items?: { name: string }[] };
      return members.map(({ name }) => sim.member(String(fullPath), name)?.total ?? 0);
    });
  };
  let client = 10;
  const counts = await eventually(
    async () => (await echo(at, `127.70.1.${client++ % 250}`, 'x'), totals()),
    (all) => all.length === 2 && all.every((total) => total > 0),
  );
  expect(counts).toHaveLength(2);
}, 60_000);

const one = (port: number, more: string) =>
  `{name: l${port}, port: ${port}, services: [{service: svc${port}, port: ${port}, weight: 1}], ${more}}`;

test('protocal, session, balance and monitor of each listner are on the device as they were asked for', async () => {
  await applyText(
    environment.management,
    ticket('fields', [
      one(1080, 'protocal: http, session: cookie, balance: least-connections-member'),
      one(1081, 'protocal: http, session: source-address, balance: ratio-member, monitor: {type: tcp}'),
      one(1082, 'protocal: http, monitor: {type: http, path: /ready, interval: 7, timeout: 30}'),
      one(1083, 'protocal: tcp, session: none, monitor: {type: https, path: /up}'),
      one(1084, 'protocal: udp, session: source-address, monitor: {type: icmp, interval: 9}'),
    ]),
  );
  await isProgrammed('fields');
  const { items: virtuals = [] } = await device('virtual');
  const { items: pools = [] } = await device('pool');
  const seen = [1080, 1081, 1082, 1083, 1084].map((port) => {
    const virtual = virtuals.find(({ name }) => name === `fields_${port}_vs`);
    const pool = pools.find(({ name }) => name === `svc${port}_${port}_pool`);
    const [persist] = (virtual?.['persist'] ?? []) as { name: string }[];
    return [
      virtual?.['ipProtocol'],
      persist?.name ?? 'none',
      pool?.['loadBalancingMode'],
      String(pool?.['monitor']).replace('/acp-region01/default_', '').trim(),
    ].join(' ');
  });
  expect(seen).toEqual([
    'tcp cookie least-connections-member /Common/http',
    'tcp source_addr ratio-member /Common/tcp',
    'tcp none round-robin http_app/svc1082_1082_pool_monitor',
    'tcp none round-robin tcp_app/svc1083_1083_pool_monitor',
    'udp source_addr round-robin udp_app/svc1084_1084_pool_monitor',
  ]);
  const monitors = await Promise.all(['http', 'https', 'gateway-icmp'].map((type) => device(`monitor/${type}`)));
  const own = monitors.flatMap(({ items = [] }) => items).filter(({ partition }) => partition === 'acp-region01');
  expect(own.map(({ name, interval, timeout, send }) => `${name} ${interval} ${timeout} ${send ?? ''}`.trim())).toEqual(
    [
      expect.stringMatching(/^svc1082_1082_pool_monitor 7 30 GET \/ready HTTP/),
      expect.stringMatching(/^svc1083_1083_pool_monitor 5 16 GET \/up HTTP/),
      'svc1084_1084_pool_monitor 9 28',
    ],
  );
}, 60_000);

/** Which Service answers a request from a client of its own; undefined while nobody does. */
async function answering(name: string, headers: Record<string, string>, client: string): Promise<string | undefined> {
  const at = boundAt(environment.devices.ve.sim, stored(name)?.status?.veip ?? '', 80);
  const got = at && (await get(at, { host: 'x', ...headers }, client));
  return got && 'service' in got ? got.service : undefined;
}

test('a rule of the device runs before ours, which leaves to it what it has chosen; without it the listner is left off', async () => {
  await applyText(target(), webServer('green'));
  await applyText(target(), webServer('blue'));
  const services = '[{service: green, port: 8080, weight: 1}, {service: blue, port: 8080, weight: 0}]';
  const ruled = `{name: web, port: 80, protocal: http, session: none, irules: [/Common/by-color], services: ${services}}`;
  await applyText(environment.management, ticket('ruled', [ruled]));
  const why = await eventually(
    () => stored('ruled')?.status?.conditions?.find(({ type }) => type === 'Programmed'),
    (condition) => condition?.reason === 'missing',
  );
  expect(why?.message).toContain('listner web: there is no iRule /Common/by-color on the device');
  expect(boundAt(environment.devices.ve.sim, stored('ruled')?.status?.veip ?? '', 80)).toBeUndefined();

  const text = `when HTTP_REQUEST {
    if { [HTTP::header value X-Color] eq "blue" } {
        set target /acp-region01/default_http_app/blue_8080_pool
        pool $target
        set fl_chosen 1
    }
}`;
  const authorization = `Basic ${btoa(`${administrator.user}:${administrator.password}`)}`;
  const made = await environment.devices.ve.sim.fetch('http://ve/mgmt/tm/ltm/rule', {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'by-color', partition: 'Common', apiAnonymous: text }),
  });
  expect(made.status).toBe(200);
  // Any turn of the tenant finds it.
  await applyText(environment.management, ticket('neighbour', [one(1090, 'protocal: http')]));
  await isProgrammed('ruled');
  await eventually(
    () => answering('ruled', {}, '127.71.0.1'),
    (service) => service === 'green',
  );
  await eventually(
    () => answering('ruled', { 'x-color': 'blue' }, '127.71.0.2'),
    (service) => service === 'blue',
  );
  expect(await answering('ruled', { 'x-color': 'red' }, '127.71.0.3')).toBe('green');
}, 60_000);

test('a ticket has up to 64 listners, and no more', async () => {
  const listners = Array.from({ length: 64 }, (_, i) => one(2000 + i, 'protocal: tcp'));
  await expect(
    applyText(environment.management, ticket('most', [...listners, one(2064, 'protocal: tcp')])),
  ).rejects.toThrow(/spec\.listners.*64/);
  await applyText(environment.management, ticket('most', listners));
  await isProgrammed('most');
  const own = environment.devices.ve.sim.virtuals().filter(({ name }) => name.includes('most_'));
  expect(own.map(({ port }) => port).sort()).toEqual(Array.from({ length: 64 }, (_, i) => 2000 + i));
}, 60_000);

test('weights behind one address: a cookie keeps a client, a forwarded address counts, chance asks nobody', async () => {
  await applyText(target(), webServer('east'));
  await applyText(target(), webServer('west'));
  const services = '[{service: east, port: 8080, weight: 1}, {service: west, port: 8080, weight: 1}]';
  const listner = (port: number, more: string) =>
    `{name: l${port}, port: ${port}, protocal: http, session: none, ${more}, services: ${services}}`;
  const listners = [
    listner(80, 'stickiness: cookie'),
    listner(81, 'pickBy: x-forwarded-for'),
    listner(82, 'stickiness: random'),
    listner(83, 'stickiness: source'),
  ];
  await applyText(environment.management, ticket('sticky', listners));
  await isProgrammed('sticky');
  const asked = async (port: number, headers: Record<string, string> = {}) => {
    const at = boundAt(environment.devices.ve.sim, stored('sticky')?.status?.veip ?? '', port);
    if (!at) throw new Error(`nothing listens on port ${port}`);
    const answer = await fetch(`http://${at.host}:${at.port}/`, { headers });
    await answer.text();
    return { service: answer.headers.get('x-service'), cookie: answer.headers.get('set-cookie') };
  };
  const many = async (port: number, headers: (i: number) => Record<string, string> = () => ({})) => {
    const services = new Set<string | null>();
    for (let i = 0; i < 30; i++) services.add((await asked(port, headers(i))).service);
    return [...services].sort();
  };
  await eventually(
    () => many(82),
    (services) => services.length === 2 && !services.includes(null),
  );
  expect(await many(80)).toEqual(['east', 'west']);
  const { service, cookie } = await asked(80);
  expect(cookie).toMatch(/^fl_sticky_80_vs\.default=\d+; path=\/; HttpOnly$/);
  const [kept = ''] = (cookie ?? '').split(';');
  expect(await many(80, () => ({ cookie: kept }))).toEqual([service]);
  expect((await asked(80, { cookie: kept })).cookie).toBeNull();
  expect(await many(81, (i) => ({ 'x-forwarded-for': `192.0.2.${i}` }))).toEqual(['east', 'west']);
  expect(await many(81, () => ({ 'x-forwarded-for': '6.6.6.6, 192.0.2.7' }))).toHaveLength(1);
  expect(await many(83)).toHaveLength(1);
}, 60_000);
