// https listners over the whole path: Secrets in the target cluster, TLS that clients really speak, rotation and what goes wrong.
import { request } from 'node:https';
import { expect, test } from 'vitest';
import { authority, issue, type KeyPair } from '@fairlead/apiserver';
import { lbtickets } from '@fairlead/api';
import { configMaps, events, secrets, type Kube } from '@fairlead/kube';
import { systemClock } from '../clock.ts';
import { applyText, eventually, region01, webServer, withEnvironment } from '../testing/environment.ts';
import type { Environment } from './environment.ts';
import { boundAt } from './requests.ts';

const day = 24 * 3600 * 1000;
let environment: Environment;
let ca: KeyPair;

const dir = withEnvironment(async (started) => {
  environment = started;
  ca = await authority('Authority of the tests', systemClock.now());
  await applyText(environment.management, loadbalancer);
  await applyText(target(), webServer('web'));
  await applyText(target(), webServer('shop'));
});

const target = () => region01(environment);

const loadbalancer = `apiVersion: ebcpaas.lb/v1
kind: Loadbalancer
metadata: {name: demo}
spec:
  ltm: {url: "http://100.1.1.1/api", cidr: 10.0.0.0/24}
  ve: {addr: 200.1.1.1, user: admin, passwd: admin, cidr: 20.1.0.0/16}
  cluster: acp-region01
  nsselector: {foo: bar}
`;

const ticket = (name: string, service: string, tls: string, port = 443) => `apiVersion: ebcpaas.io/v1
kind: Lbticket
metadata: {name: ${name}, namespace: default}
spec:
  loadbalancer: demo
  namespace: default
  listners: [{name: secure, port: ${port}, protocal: https, session: none, tls: ${tls}, services: [{service: ${service}, port: 8080, weight: 1}]}]
`;

async function putSecret(name: string, host: string, when = systemClock.now()): Promise<void> {
  const pair = await issue(ca, { commonName: host, dnsNames: [host], usage: 'server' }, when);
  await putTexts(name, { 'tls.crt': pair.cert + ca.cert, 'tls.key': pair.key });
}

async function putTexts(name: string, texts: Record<string, string>): Promise<void> {
  const data = Object.fromEntries(Object.entries(texts).map(([key, text]) => [key, btoa(text)]));
  const metadata = { name, namespace: 'default' };
  const object = { apiVersion: 'v1', kind: 'Secret', metadata, type: 'kubernetes.io/tls', data };
  const put = await target().apply(secrets, object, { fieldManager: 'test', force: true });
  if (!put.ok) throw new Error(put.problem.message);
}

/** One request by TLS that trusts the tests' authority alone, when `verify`; the serial number of the certificate seen. */
function ask(name: string, serverName: string, { verify = true, port = 443 } = {}): Promise<string> {
  const veip = environment.stores.lbtickets.get({ name, namespace: 'default' })?.status?.veip ?? '';
  const bound = boundAt(environment.devices.ve.sim, veip, port);
  if (!bound) return Promise.resolve('no virtual server');
  return new Promise((resolve) => {
    const options = { ...bound, servername: serverName, ca: ca.cert, agent: false, rejectUnauthorized: verify };
    const sent = request({ ...options, path: '/', headers: { host: serverName } }, (response) => {
      const { subject, serialNumber } = (response.socket as never as PeerSocket).getPeerCertificate();
      response.resume();
      response.on('end', () => resolve(`${response.statusCode} ${subject.CN} ${serialNumber}`));
    });
    sent.on('error', (error) => resolve(error.message));
    sent.end();
  });
}

interface PeerSocket {
  getPeerCertificate(): { subject: { CN: string }; serialNumber: string };
}

const condition = (name: string, type: string) => {
  const found = environment.stores.lbtickets.get({ name, namespace: 'default' })?.status?.conditions;
  const one = found?.find((each) => each.type === type);
  return one ? `${one.status} ${one.reason}: ${one.message}` : '';
};

const isReady = (name: string) =>
  eventually(
    () => condition(name, 'Ready'),
    (text) => text.startsWith('True'),
  );

const answers = (name: string, serverName: string, wanted: RegExp) =>
  eventually(
    () => ask(name, serverName),
    (got) => wanted.test(got),
  );

test('a listner waits for its Secret, and a neighbour that has one is served meanwhile', async () => {
  await putSecret('shop-tls', 'shop.example.com');
  await applyText(environment.management, ticket('waiting', 'web', '{secretName: web-tls}'));
  await applyText(environment.management, ticket('shop', 'shop', '{secretName: shop-tls}'));
  await isReady('shop');
  expect(await answers('shop', 'shop.example.com', /^200/)).toMatch(/^200 shop\.example\.com/);
  const why = await eventually(
    () => condition('waiting', 'CertificatesValid'),
    (text) => text.startsWith('False'),
  );
  expect(why).toContain('missing: listner secure: Secret default/web-tls is not there');
  expect(condition('waiting', 'Programmed')).toContain('False missing');
  expect(await ask('waiting', 'web.example.com')).toBe('no virtual server');
  const told = await eventually(
    async () => (await listed(environment.management)).filter((text) => text.includes('web-tls')),
    (texts) => texts.length > 0,
  );
  expect(told[0]).toMatch(/^Warning Certificate/);

  await putSecret('web-tls', 'web.example.com');
  await isReady('waiting');
  expect(await answers('waiting', 'web.example.com', /^200/)).toMatch(/^200 web\.example\.com/);
}, 60_000);

async function listed(kube: Kube): Promise<string[]> {
  const all = await kube.list(events, { namespace: 'default' });
  return all.ok ? all.value.items.map(({ type, reason, message }) => `${type} ${reason}: ${message}`) : [];
}

test('a renewed certificate is the one that clients see next, and the virtual server stays as it is', async () => {
  const before = await ask('shop', 'shop.example.com');
  const { recreated } = environment.devices.ve.sim.counters;
  await putSecret('shop-tls', 'shop.example.com');
  await eventually(
    () => ask('shop', 'shop.example.com'),
    (got) => got.startsWith('200 shop.example.com') && got !== before,
  );
  expect(environment.devices.ve.sim.counters.recreated).toBe(recreated);
}, 60_000);

test('several certificates on one listner: by host, by the names in them, and the first for all others', async () => {
  await putSecret('a-tls', 'a.example.com');
  await putSecret('wild-tls', '*.example.org');
  const sni = '[{secretName: a-tls, host: a.example.com}, {secretName: wild-tls, host: "*.example.org"}]';
  await applyText(environment.management, ticket('shop', 'shop', `{secretName: shop-tls, sni: ${sni}}`));
  expect(await answers('shop', 'a.example.com', /^200 a\./)).toMatch(/^200 a\.example\.com/);
  expect(await answers('shop', 'x.example.org', /^200/)).toMatch(/^200 \*\.example\.org/);
  expect(await ask('shop', 'shop.example.com')).toMatch(/^200 shop\.example\.com/);
  expect(await ask('shop', 'unknown.example.net', { verify: false })).toMatch(/^200 shop\.example\.com/);
}, 60_000);

test('a Secret that breaks or goes leaves the certificate that is there, and says so', async () => {
  const before = await ask('shop', 'shop.example.com');
  await putTexts('shop-tls', { 'tls.crt': 'nonsense', 'tls.key': 'nonsense' });
  const broken = await eventually(
    () => condition('shop', 'CertificatesValid'),
    (text) => text.startsWith('False'),
  );
  expect(broken).toContain('invalid: listner secure: Secret default/shop-tls: tls.crt is no certificate in PEM');
  expect(broken).toContain('the device keeps the certificate it has');
  expect(await ask('shop', 'shop.example.com')).toBe(before);
  await target().remove(secrets, { name: 'shop-tls', namespace: 'default' });
  await eventually(
    () => condition('shop', 'CertificatesValid'),
    (text) => text.includes('is not there'),
  );
  expect(await ask('shop', 'shop.example.com')).toBe(before);
  // A neighbour in the same application is edited meanwhile, and its edit goes through.
  await putSecret('web-tls', 'web2.example.com');
  expect(await answers('waiting', 'web2.example.com', /^200/)).toMatch(/^200 web2/);
  expect(await ask('shop', 'shop.example.com')).toBe(before);
  await putSecret('shop-tls', 'shop.example.com');
  await isReady('shop');
}, 60_000);

test('a certificate whose time is over is told, and is served for clients to judge', async () => {
  await putSecret('web-tls', 'web.example.com', systemClock.now() - 400 * day);
  const told = await eventually(
    () => condition('waiting', 'CertificatesValid'),
    (text) => text.startsWith('False expired'),
  );
  expect(told).toContain('Secret default/web-tls ended on');
  expect(condition('waiting', 'Programmed')).toMatch(/^True/);
  expect(await answers('waiting', 'web.example.com', /expired/)).toContain('expired');
}, 60_000);

test('no key and no certificate stands in a ConfigMap, a status, an Event or the log', async () => {
  const configmaps = await target().list(configMaps, { namespace: 'default' });
  const tickets = await environment.management.list(lbtickets);
  const seen = [
    JSON.stringify(configmaps.ok && configmaps.value.items.filter(({ metadata }) => metadata.name === 'fairlead-demo')),
    JSON.stringify(tickets),
    ...(await listed(target())),
    ...(await listed(environment.management)),
    dir.load('fairlead.log') ?? '',
  ].join('\n');
  expect(seen).toContain('secret:shop-tls/tls.key');
  expect(seen).not.toMatch(/BEGIN|PRIVATE KEY/);
}, 60_000);
