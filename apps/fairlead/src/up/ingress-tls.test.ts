// TLS of F5 Ingresses over the whole path: certificates from Secrets by the name that clients ask for, redirects to https,
// and a Secret that is not there.
import { request as plainRequest } from 'node:http';
import { request } from 'node:https';
import { authority, issue, type KeyPair } from '@fairlead/apiserver';
import { ingresses, secrets, type Ingress } from '@fairlead/kube';
import { expect, test } from 'vitest';
import { systemClock } from '../clock.ts';
import { eventually, region01, silent, withEnvironment } from '../testing/environment.ts';
import type { Environment } from './environment.ts';
import { applyExample } from './quickstart.ts';
import { boundAt } from './requests.ts';

const vip = '20.1.0.20';
let environment: Environment;
let ca: KeyPair;

withEnvironment(async (started) => {
  environment = started;
  ca = await authority('Authority of the tests', systemClock.now());
  await applyExample('f5-ingress', environment, silent);
});

const target = () => region01(environment);

async function putSecret(name: string, host: string): Promise<void> {
  const pair = await issue(ca, { commonName: host, dnsNames: [host], usage: 'server' }, systemClock.now());
  const data = { 'tls.crt': btoa(pair.cert + ca.cert), 'tls.key': btoa(pair.key) };
  const metadata = { name, namespace: 'default' };
  const object = { apiVersion: 'v1', kind: 'Secret', metadata, type: 'kubernetes.io/tls', data };
  const put = await target().apply(secrets, object, { fieldManager: 'test', force: true });
  if (!put.ok) throw new Error(put.problem.message);
}

interface PeerSocket {
  getPeerCertificate(): { subject: { CN: string }; serialNumber: string };
}

/** By TLS that trusts the tests' authority alone: the status, whose certificate, which one, and who answered. */
function secure(host: string): Promise<string> {
  const bound = boundAt(environment.devices.ve.sim, vip, 443);
  if (!bound) return Promise.resolve('no virtual server');
  return new Promise((resolve) => {
    const options = { ...bound, servername: host, ca: ca.cert, agent: false, path: '/cart', headers: { host } };
    const sent = request(options, (response) => {
      const { subject, serialNumber } = (response.socket as never as PeerSocket).getPeerCertificate();
      response.resume();
      const who = response.headers['x-service'] as string;
      response.on('end', () => resolve(`${response.statusCode} ${subject.CN} ${who} ${serialNumber}`));
    });
    sent.on('error', (error) => resolve(error.message));
    sent.end();
  });
}

function plain(host: string): Promise<string> {
  const bound = boundAt(environment.devices.ve.sim, vip, 80);
  if (!bound) return Promise.resolve('no virtual server');
  return new Promise((resolve) => {
    const sent = plainRequest({ ...bound, path: '/x?y=1', headers: { host }, agent: false }, (response) => {
      response.resume();
      response.on('end', () => resolve(`${response.statusCode} ${response.headers.location ?? ''}`));
    });
    sent.on('error', (error) => resolve(error.message));
    sent.end();
  });
}

const ingress = (name: string, host: string, service: string): Ingress => ({
  apiVersion: 'networking.k8s.io/v1',
  kind: 'Ingress',
  metadata: { name, namespace: 'default', annotations: { 'fairlead.io/ticket': 'default/web' } },
  spec: {
    ingressClassName: 'f5',
    tls: [{ hosts: [host], secretName: `${name}-tls` }],
    rules: [
      {
        host,
        http: {
          paths: [{ path: '/', pathType: 'Prefix', backend: { service: { name: service, port: { number: 80 } } } }],
        },
      },
    ],
  },
});

const status = async (name: string) => {
  const got = await target().get(ingresses, { name, namespace: 'default' });
  return got.ok ? (got.value.metadata.annotations?.['fairlead.io/status'] ?? '') : '';
};

test('each Ingress brings its certificate, and http is sent to https', async () => {
  for (const [name, service] of [
    ['one', 'shop'],
    ['two', 'cart'],
  ] as const) {
    await putSecret(`${name}-tls`, `${name}.example.com`);
    await target().create(ingresses, ingress(name, `${name}.example.com`, service));
  }
  await eventually(
    () => secure('two.example.com'),
    (got) => got.startsWith('200 two.example.com cart'),
  );
  expect(await secure('one.example.com')).toMatch(/^200 one\.example\.com shop/);
  expect(await plain('one.example.com')).toBe('302 https://one.example.com/x?y=1');
  expect(await plain('shop.example.com')).toBe('200 ');
}, 60_000);

test('a Secret that is renewed reaches clients, and nobody else notices', async () => {
  const before = await secure('one.example.com');
  await putSecret('one-tls', 'one.example.com');
  const after = await eventually(
    () => secure('one.example.com'),
    (got) => got.startsWith('200') && got !== before,
  );
  expect(after).toMatch(/^200 one\.example\.com shop/);
}, 60_000);

test('a Secret that is not there is told to its own Ingress, and takes nothing from the others', async () => {
  await target().create(ingresses, ingress('three', 'three.example.com', 'static'));
  expect(
    await eventually(
      () => status('three'),
      (text) => text.includes('three-tls'),
    ),
  ).toMatch(/Secret default\/three-tls is not there/);
  expect(await status('one')).not.toContain('three-tls');
  expect(await secure('one.example.com')).toMatch(/^200 one/);
  await putSecret('three-tls', 'three.example.com');
  await eventually(
    () => secure('three.example.com'),
    (got) => got.startsWith('200 three.example.com static'),
  );
  expect(
    await eventually(
      () => status('three'),
      (text) => !text.includes('three-tls'),
    ),
  ).toContain('"ok":true');
}, 60_000);
