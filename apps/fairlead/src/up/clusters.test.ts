// The embedded API server behind its port: who comes in by what.
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { Agent, request } from 'node:https';
import type { TLSSocket } from 'node:tls';
import { authority, issue, type Issue, type KeyPair } from '@fairlead/apiserver';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { systemClock } from '../clock.ts';
import { type Certificates, certificates } from './certificates.ts';
import { type EmbeddedCluster, startApiServer } from './clusters.ts';
import { dataDir } from './data-dir.ts';

const dir = dataDir('', true);
let signed: Certificates;
let cluster: EmbeddedCluster;

beforeAll(async () => {
  signed = await certificates(dir, systemClock);
  cluster = await startApiServer('test', {
    dir,
    clock: systemClock,
    random: (bytes) => randomBytes(bytes),
    port: 0,
    certificates: signed,
    report: (message) => expect.fail(message),
  });
});

afterAll(async () => {
  await cluster.close();
  dir.close();
});

const ann: Issue = { commonName: 'ann', organizations: ['system:masters'], usage: 'client' };
const reviews = '/apis/authentication.k8s.io/v1/selfsubjectreviews';
const review = JSON.stringify({ apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' });

interface Who {
  shown?: KeyPair;
  token?: string;
  agent?: Agent | false;
}

/** Status and body of the answer; asks who one is unless told another path. */
async function ask({ shown, token, agent = false }: Who, path = reviews) {
  const method = path === reviews ? 'POST' : 'GET';
  const headers = { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }) };
  const sent = request(new URL(path, cluster.server), { method, headers, ca: cluster.ca, agent, ...shown });
  sent.end(method === 'POST' ? review : undefined);
  const [reply] = (await once(sent, 'response')) as [IncomingMessage];
  const isResumed = (reply.socket as TLSSocket).isSessionReused();
  return { status: reply.statusCode, body: JSON.parse((await reply.toArray()).join('')), isResumed };
}

const userOf = async (who: Who) => (await ask(who)).body.status?.userInfo;

test('a client certificate of the authority says who one is, on every request of its connection', async () => {
  const shown = await issue(signed.ca, ann, systemClock.now());
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  for (let times = 0; times < 2; times++) {
    expect(await userOf({ shown, agent })).toMatchObject({
      username: 'ann',
      groups: ['system:masters', 'system:authenticated'],
    });
  }
  expect((await ask({ shown, agent }, '/api/v1/namespaces')).status).toBe(200);
  agent.destroy();
});

test('a connection that is resumed is still that of the certificate it began with', async () => {
  const shown = await issue(signed.ca, ann, systemClock.now());
  const agent = new Agent({ keepAlive: false });
  for (let times = 0; times < 3; times++) expect((await userOf({ shown, agent })).username).toBe('ann');
  expect((await ask({ shown, agent })).isResumed).toBe(true);
  agent.destroy();
});

test('a certificate for somebody without rights lets in and no further', async () => {
  const bob: Issue = { commonName: 'bob', usage: 'client' };
  const shown = await issue(signed.ca, bob, systemClock.now());
  const { status, body } = await ask({ shown }, '/api/v1/namespaces');
  expect([status, body.message]).toEqual([
    403,
    'namespaces is forbidden: User "bob" cannot list resource "namespaces" in API group "" at the cluster scope',
  ]);
});

test('a certificate that another authority has signed is nobody’s, and a token counts beside it', async () => {
  const stranger = await authority('Fairlead embedded authority', systemClock.now());
  const shown = await issue(stranger, ann, systemClock.now());
  expect([401, 403]).toContain((await ask({ shown }, '/api/v1/namespaces')).status);
  expect((await userOf({ shown, token: cluster.token })).username).toBe('admin');
});

test('a server’s certificate lets no client in', async () => {
  const shown = { cert: signed.cert, key: signed.key };
  expect([401, 403]).toContain((await ask({ shown }, '/api/v1/namespaces')).status);
});

test('every namespace is told the authority of the server', async () => {
  const { body } = await ask({ token: cluster.token }, '/api/v1/namespaces/kube-system/configmaps/kube-root-ca.crt');
  expect(body.data['ca.crt']).toBe(cluster.ca);
});
