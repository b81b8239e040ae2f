// Webhooks over a `send` that answers as told: who is asked, what they may do, what happens when they fail.
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { authority, issue } from '../certificates.ts';
import { listOf, treeOf, type Tree } from '../object.ts';
import { SendError, type Outgoing, type Send } from '../send.ts';
import { configMap, testServer } from '../test-server.ts';

const maps = '/api/v1/namespaces/default/configmaps';
const registrations = '/apis/admissionregistration.k8s.io/v1';

interface Hook {
  sort?: 'Mutating' | 'Validating';
  name?: string;
  more?: Tree;
}

const rule = { operations: ['*'], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'] };
const hook = ({ sort = 'Validating', name = 'a.example.io', more = {} }: Hook = {}): Tree => ({
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind: `${sort}WebhookConfiguration`,
  metadata: { name: name.replaceAll('.', '-') },
  webhooks: [
    {
      name,
      clientConfig: { url: `https://hook.example.io/${name}` },
      rules: [rule],
      sideEffects: 'None',
      admissionReviewVersions: ['v1'],
      ...more,
    },
  ],
});

type Answer = (request: Tree, outgoing: Outgoing) => Tree | Response | Promise<Response>;

/** A send that answers every review by `answer`, and the requests it was sent. */
function sender(answer: Answer): { send: Send; asked: Tree[] } {
  const asked: Tree[] = [];
  return {
    asked,
    async send(outgoing) {
      const request = treeOf(treeOf(JSON.parse(outgoing.body ?? '{}')).request);
      asked.push(request);
      const response = await answer(request, outgoing);
      if (response instanceof Response) return response;
      const review = {
        apiVersion: 'admission.k8s.io/v1',
        kind: 'AdmissionReview',
        response: { uid: request.uid, ...response },
      };
      return new Response(JSON.stringify(review));
    },
  };
}

async function serverWith(answer: Answer, ...hooks: Hook[]) {
  const { send, asked } = sender(answer);
  const server = await testServer({ send });
  for (const one of hooks) {
    const path = `${registrations}/${(one.sort ?? 'Validating').toLowerCase()}webhookconfigurations`;
    const made = await server.send('POST', path, hook(one));
    if (made.code !== 201) throw new Error(made.body.message as string);
  }
  return { server, asked };
}

const patchOf = (...operations: Tree[]): Tree => ({
  allowed: true,
  patchType: 'JSONPatch',
  patch: Buffer.from(JSON.stringify(operations)).toString('base64'),
});

test('a validating webhook refuses in its own words, and warns', async () => {
  const { server, asked } = await serverWith(
    (request) => ({
      allowed: request.operation !== 'DELETE',
      warnings: ['careful'],
      status: { code: 418, message: 'no tea' },
    }),
    {},
  );
  const made = await server.send('POST', maps, configMap('a'));
  expect([made.code, made.headers.get('warning')]).toEqual([201, '299 - "careful"']);
  const refused = await server.send('DELETE', `${maps}/a`);
  expect([refused.code, refused.body.message]).toEqual([
    418,
    'admission webhook "a.example.io" denied the request: no tea',
  ]);
  expect(asked.map(({ operation, dryRun }) => [operation, dryRun])).toEqual([
    ['CREATE', false],
    ['DELETE', false],
  ]);
  expect((await server.send('GET', `${maps}/a`)).code).toBe(200);
  await server.close();
});

test('a mutating webhook changes what is kept, and one that wants to is asked again about later changes', async () => {
  const { server, asked } = await serverWith(
    (request) =>
      request.object && treeOf(treeOf(request.object).data).x === undefined
        ? patchOf({ op: 'add', path: '/data/x', value: '1' })
        : patchOf({ op: 'add', path: '/data/y', value: '2' }),
    { sort: 'Mutating', name: 'a.example.io', more: { reinvocationPolicy: 'IfNeeded' } },
    { sort: 'Mutating', name: 'b.example.io' },
  );
  const made = await server.send('POST', maps, configMap('a', { k: 'v' }));
  expect(made.body.data).toEqual({ k: 'v', x: '1', y: '2' });
  expect(asked).toHaveLength(3);
  await server.close();
});

test('a mutating webhook is not asked again about what it has seen', async () => {
  const more = { reinvocationPolicy: 'IfNeeded' };
  const { server, asked } = await serverWith(() => patchOf({ op: 'add', path: '/data/x', value: '1' }), {
    sort: 'Mutating',
    more,
  });
  expect((await server.send('POST', maps, configMap('a', { k: 'v' }))).body.data).toEqual({ k: 'v', x: '1' });
  expect(asked).toHaveLength(1);
  await server.close();
});

test.each([
  ['an operation it does not name', { rules: [{ ...rule, operations: ['DELETE'] }] }],
  ['another resource', { rules: [{ ...rule, resources: ['configmaps/status', 'secrets'] }] }],
  ['cluster-wide objects only', { rules: [{ ...rule, scope: 'Cluster' }] }],
  ['another namespace', { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'other' } } }],
  ['other labels', { objectSelector: { matchExpressions: [{ key: 'hot', operator: 'Exists' }] } }],
  [
    'a condition that does not hold',
    { matchConditions: [{ name: 'named', expression: "object.metadata.name == 'b'" }] },
  ],
])('a webhook is not asked about %s', async (_, more) => {
  const { server, asked } = await serverWith(() => ({ allowed: false }), { more });
  expect((await server.send('POST', maps, configMap('a'))).code).toBe(201);
  expect(asked).toEqual([]);
  await server.close();
});

test('conditions see the object, the request and who asks', async () => {
  const expression = "object.data.k == 'v' && request.userInfo.username == 'admin' && oldObject == null";
  const { server } = await serverWith(() => ({ allowed: false }), {
    more: { matchConditions: [{ name: 'a', expression }] },
  });
  const refused = await server.send('POST', maps, configMap('a', { k: 'v' }));
  expect([refused.code, refused.body.message]).toEqual([
    400,
    'admission webhook "a.example.io" denied the request without explanation',
  ]);
  await server.close();
});

const down: Answer = (_, { url }) => {
  throw new SendError(`Post "${url.href}": dial tcp 10.0.0.1:443: connect: connection refused`);
};
test.each<[string, Answer, string]>([
  [
    'cannot be reached',
    down,
    'failed to call webhook: Post "https://hook.example.io/a.example.io?timeout=10s": dial tcp 10.0.0.1:443: connect: connection refused',
  ],
  [
    'answers 500',
    () => new Response('out of tea', { status: 500 }),
    'an error on the server ("out of tea") has prevented the request from succeeding',
  ],
  [
    'answers what is no review',
    () => new Response('{}'),
    'received invalid webhook response: webhook response was absent',
  ],
  ['answers another question', () => ({ uid: 'x', allowed: true }), 'expected response.uid='],
])('a webhook that %s fails the write, or is passed over where its policy says so', async (_, answer, says) => {
  for (const failurePolicy of ['Fail', 'Ignore']) {
    const { server } = await serverWith(answer, { sort: 'Mutating', more: { failurePolicy } });
    const reply = await server.send('POST', maps, configMap('a', { k: 'v' }));
    if (failurePolicy === 'Ignore') expect([reply.code, server.reports.length]).toEqual([201, 1]);
    else {
      expect(reply.code).toBe(500);
      expect(reply.body.message).toContain(`Internal error occurred: failed calling webhook "a.example.io": `);
      expect(reply.body.message).toContain(says);
    }
    await server.close();
  }
});

test('a patch that does not apply fails the write, whatever the policy', async () => {
  for (const failurePolicy of ['Fail', 'Ignore']) {
    const { server } = await serverWith(() => patchOf({ op: 'remove', path: '/nope' }), {
      sort: 'Mutating',
      more: { failurePolicy },
    });
    const reply = await server.send('POST', maps, configMap('a', { k: 'v' }));
    const why = "error in remove for path: '/nope': Unable to remove nonexistent key: nope: missing value";
    expect([reply.code, reply.body.message]).toEqual([500, `Internal error occurred: ${why}`]);
    await server.close();
  }
});

test('a webhook that hangs is given up after its timeout, and its connection ended', async () => {
  let ended = false;
  const { send } = sender(
    (_, { url, signal }) =>
      new Promise<Response>((_resolve, reject) =>
        signal.addEventListener('abort', () => {
          ended = true;
          reject(new SendError(`Post "${url.href}": context deadline exceeded`));
        }),
      ),
  );
  const waits: number[] = [];
  const clock = {
    now: () => Date.parse('2026-01-02T03:04:05Z'),
    sleep: (ms: number, signal?: AbortSignal) => {
      waits.push(ms);
      return ms === 3000
        ? Promise.resolve()
        : new Promise<void>((resolve) => signal?.addEventListener('abort', () => resolve()));
    },
  };
  const server = await testServer({ send, clock });
  await server.send('POST', `${registrations}/validatingwebhookconfigurations`, hook({ more: { timeoutSeconds: 3 } }));
  const reply = await server.send('POST', maps, configMap('a'));
  expect([reply.code, ended, waits.includes(3000)]).toEqual([500, true, true]);
  expect(reply.body.message).toContain('context deadline exceeded');
  await server.close();
});

test('a refusal that schema and rules have more to say about is told by them, and webhooks come after both', async () => {
  const { send, asked } = sender(() => ({ allowed: true }));
  const server = await testServer({
    send,
    admit: [async () => ({ allowed: false, status: { message: 'no' } })].map(
      (admit) => async (review) => (review.kind.kind === 'ConfigMap' ? admit() : { allowed: true }),
    ),
  });
  await server.send('POST', `${registrations}/validatingwebhookconfigurations`, hook());
  const wrong = await server.send('POST', maps, configMap('Not A Name'));
  expect([wrong.code, wrong.causes.length]).toEqual([422, 1]);
  expect((await server.send('POST', maps, configMap('a'))).body.message).toBe('no');
  expect(asked).toEqual([]);
  await server.close();
});

test('a webhook behind a Service is called at a ready endpoint, over TLS checked for the name of the Service', async () => {
  const now = Date.now();
  const ca = await authority('hooks', now);
  const { cert, key } = await issue(ca, { commonName: 'hook', dnsNames: ['hook.default.svc'], usage: 'server' }, now);
  const paths: (string | undefined)[] = [];
  const listener = createServer({ cert, key }, (request, response) => {
    paths.push(request.url);
    let text = '';
    request.on('data', (chunk: Buffer) => (text += chunk.toString()));
    request.on('end', () => {
      const { uid } = treeOf(treeOf(JSON.parse(text)).request);
      response.end(
        JSON.stringify({
          apiVersion: 'admission.k8s.io/v1',
          kind: 'AdmissionReview',
          response: { uid, allowed: false },
        }),
      );
    });
  });
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
  const server = await testServer({ loopbackEndpoints: true });
  await server.send('POST', '/api/v1/namespaces/default/services', {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'hook' },
    spec: { ports: [{ port: 443 }] },
  });
  const service = { name: 'hook', namespace: 'default', path: '/ask' };
  const caBundle = Buffer.from(ca.cert).toString('base64');
  await server.send(
    'POST',
    `${registrations}/validatingwebhookconfigurations`,
    hook({ more: { clientConfig: { service, caBundle } } }),
  );
  expect((await server.send('POST', maps, configMap('a'))).body.message).toContain(
    'no endpoints available for service "hook"',
  );
  await server.send('POST', '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices', {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { name: 'hook-1', labels: { 'kubernetes.io/service-name': 'hook' } },
    addressType: 'IPv4',
    endpoints: [{ addresses: ['127.0.0.1'] }],
    ports: [{ port: (listener.address() as AddressInfo).port }],
  });
  const reply = await server.send('POST', maps, configMap('a'));
  expect(reply.body.message).toContain('denied the request without explanation');
  expect(paths).toEqual(['/ask?timeout=10s']);
  await server.close();
  await new Promise((resolve) => listener.close(resolve));
});

test('a write of a webhook configuration asks no webhook: else one that refuses all could not be taken away', async () => {
  const all = { rules: [{ operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: ['*'] }] };
  const { server } = await serverWith(() => ({ allowed: false }), { more: all });
  expect((await server.send('POST', maps, configMap('a'))).code).toBe(400);
  expect((await server.send('DELETE', `${registrations}/validatingwebhookconfigurations/a-example-io`)).code).toBe(200);
  expect((await server.send('POST', maps, configMap('a'))).code).toBe(201);
  expect(listOf(server.reports)).toEqual([]);
  await server.close();
});

test('a webhook may write the very object it is asked about: the write begins again with what it made of it', async () => {
  let write: (() => Promise<unknown>) | undefined;
  const { server, asked } = await serverWith(
    async ({ oldObject }) => {
      if (treeOf(treeOf(oldObject).data).seen !== 'yes') await write?.();
      return Response.json({});
    },
    { more: { rules: [{ ...rule, operations: ['UPDATE', 'DELETE'] }], failurePolicy: 'Ignore' } },
  );
  await server.send('POST', maps, configMap('a', { k: '1' }));
  write = async () => {
    write = undefined;
    expect((await server.send('PATCH', `${maps}/a`, { data: { seen: 'yes' } })).code).toBe(200);
  };
  const patched = await server.send('PATCH', `${maps}/a`, { data: { k: '2' } });
  expect([patched.code, patched.body.data]).toEqual([200, { k: '2', seen: 'yes' }]);
  expect(asked).toHaveLength(3);
  const again = async (): Promise<void> => {
    write = undefined;
    await server.send('PATCH', `${maps}/a`, { data: { k: String(asked.length) } });
    write = again;
  };
  await server.send('PATCH', `${maps}/a`, { data: { seen: null } });
  write = again;
  const deleted = await server.send('DELETE', `${maps}/a`);
  expect([deleted.code, deleted.body.reason]).toEqual([409, 'Conflict']);
  await server.close();
});
