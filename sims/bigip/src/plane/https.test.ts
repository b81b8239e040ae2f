// TLS on virtual servers: the certificate by the name that is asked for, and connections that cannot be served.
import { createServer as createTls, request as askTls } from 'node:https';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { aPair, bPair } from '../certificates.testdata.ts';
import { boundAt, get, makeAdc, makeBackend, makeDevice, makeHttp, makePool, type Backend } from '../make.ts';
import type { Json } from '../rest/body.ts';

const device = makeDevice();
const { sim, declare } = device;
let one: Backend;
let two: Backend;
beforeAll(async () => {
  [one, two] = await Promise.all([makeBackend('one'), makeBackend('two')]);
});
afterEach(() => device.ask('DELETE', '/mgmt/shared/appsvcs/declare'));
afterAll(async () => {
  await sim.close();
  await Promise.all([one.close(), two.close()]);
});

async function web(more: Json = {}, items: Json = {}, pool: Json = {}): Promise<{ host: string; port: number }> {
  const { status, json } = await declare(
    makeAdc({ vs: makeHttp('20.31.4.10', more), web_pool: makePool([one, two], pool), ...items }),
  );
  expect(JSON.stringify(json['results'] ?? json)).toContain(status === 200 ? 'success' : 'never');
  return boundAt(sim, '/T1/app/vs');
}

const tlsItems = (): Json => ({
  a_cert: { class: 'Certificate', ...aPair },
  b_cert: { class: 'Certificate', ...bPair },
  tls: { class: 'TLS_Server', certificates: [{ certificate: 'a_cert' }, { certificate: 'b_cert' }] },
});

test('https answers with the certificate for the name asked, and port 80 sends there', async () => {
  const https = { class: 'Service_HTTPS', virtualPort: 18_443, serverTLS: 'tls' };
  await web({ ...https, redirect80: true, persistenceMethods: ['cookie'] }, tlsItems());
  const at = boundAt(sim, '/T1/app/vs');
  const names = async (servername: string | undefined) =>
    new Promise<{ subject: string; cookie: string }>((resolve, fail) => {
      askTls(
        { ...at, agent: false, rejectUnauthorized: false, ...(servername === undefined ? {} : { servername }) },
        (incoming) => {
          const socket = incoming.socket as unknown as { getPeerCertificate(): { subject: { CN: string } } };
          const subject = socket.getPeerCertificate().subject.CN;
          incoming.resume().on('end', () => resolve({ subject, cookie: String(incoming.headers['set-cookie']) }));
        },
      )
        .on('error', fail)
        .end();
    });
  expect(await names('a.example.test')).toMatchObject({
    subject: 'a.example.test',
    cookie: expect.stringContaining('Secure'),
  });
  expect(await names('b.example.test')).toMatchObject({ subject: 'b.example.test' });
  expect(await names('other.test')).toMatchObject({ subject: 'a.example.test' });
  expect(await names(undefined)).toMatchObject({ subject: 'a.example.test' });
  expect(
    await get(boundAt(sim, '/T1/app/vs-Redirect-'), { path: '/x', headers: { Host: 'a.example.test' } }),
  ).toMatchObject({ status: 302, headers: { location: 'https://a.example.test/x' } });
});

test('a certificate for a name that is said serves that name alone, whatever stands in it', async () => {
  const certificates = [
    { certificate: 'a_cert', sniDefault: true },
    { certificate: 'b_cert', matchToSNI: '*.wild.test' },
  ];
  const https = { class: 'Service_HTTPS', virtualPort: 18_444, serverTLS: 'tls', redirect80: false };
  const at = await web(https, { ...tlsItems(), tls: { class: 'TLS_Server', certificates } });
  const subject = (servername: string) =>
    new Promise<string>((resolve, fail) => {
      askTls({ ...at, agent: false, rejectUnauthorized: false, servername }, (incoming) => {
        const socket = incoming.socket as unknown as { getPeerCertificate(): { subject: { CN: string } } };
        const { CN } = socket.getPeerCertificate().subject;
        incoming.resume().on('end', () => resolve(CN));
      })
        .on('error', fail)
        .end();
    });
  expect(await subject('X.wild.test')).toBe('b.example.test');
  expect(await subject('x.y.wild.test')).toBe('a.example.test');
  expect(await subject('b.example.test')).toBe('a.example.test');
});

test('a TLS connection without a member is reset', async () => {
  const https = {
    class: 'Service_HTTPS',
    virtualPort: 18_445,
    serverTLS: 'tls',
    redirect80: false,
    pool: 'empty_pool',
  };
  const at = await web(https, { ...tlsItems(), empty_pool: makePool([]) });
  const outcome = await new Promise<string>((resolve) => {
    askTls({ ...at, agent: false, rejectUnauthorized: false }, () => resolve('answered'))
      .on('error', (error) => resolve(error.message))
      .end();
  });
  expect(outcome).toMatch(/ECONNRESET|hang up/);
});

test('clientTLS speaks TLS to the members', async () => {
  const server = createTls({ cert: aPair.certificate, key: aPair.privateKey }, (_, outgoing) => outgoing.end('inner'));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  const https = {
    class: 'Service_HTTPS',
    virtualPort: 18_443,
    redirect80: false,
    serverTLS: 'tls',
    clientTLS: 'inner_tls',
    pool: 'tls_pool',
  };
  const at = await web(https, { ...tlsItems(), inner_tls: { class: 'TLS_Client' }, tls_pool: makePool([{ port }]) });
  const text = await new Promise<string>((resolve, fail) => {
    askTls({ ...at, agent: false, rejectUnauthorized: false }, (incoming) =>
      incoming.once('data', (data) => resolve(String(data))),
    )
      .on('error', fail)
      .end();
  });
  expect(text).toBe('inner');
  await new Promise((resolve) => {
    server.close(resolve);
    server.closeAllConnections();
  });
});
