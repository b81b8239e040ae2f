// What the client asks of a server for each verb, and what it makes of the answers.
import { fakeClock } from '@fairlead/testkit';
import { expect, test } from 'vitest';
import type { Auth } from './call.ts';
import { configMaps, deployments, namespaces } from './kinds.ts';
import type { Kube, KubeProblem } from './kube.ts';
import { type Answer, clientOf, configMap, json, listOf, refused, scripted, text } from './scripted.ts';

const at = { namespace: 'shop', name: 'a' };
const object = configMap('a', '1');
const deployment = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web', namespace: 'shop' },
  spec: { selector: {}, template: { spec: { containers: [] } } },
};

const asked: { ask: (kube: Kube) => Promise<unknown>; line: string; type?: string; body?: unknown }[] = [
  { ask: (kube) => kube.get(configMaps, at), line: 'GET /api/v1/namespaces/shop/configmaps/a' },
  { ask: (kube) => kube.get(namespaces, { name: 'shop' }), line: 'GET /api/v1/namespaces/shop' },
  {
    ask: (kube) =>
      kube.list(deployments, { namespace: 'shop', labelSelector: 'a=b,c in (d)', fieldSelector: 'metadata.name=x' }),
    line: 'GET /apis/apps/v1/namespaces/shop/deployments?labelSelector=a%3Db%2Cc+in+%28d%29&fieldSelector=metadata.name%3Dx&limit=500',
  },
  {
    ask: (kube) => kube.create(configMaps, object, { fieldManager: 'us', dryRun: true }),
    line: 'POST /api/v1/namespaces/shop/configmaps?fieldManager=us&dryRun=All',
    type: 'application/json',
    body: object,
  },
  {
    ask: (kube) => kube.replace(deployments, deployment, { subresource: 'status' }),
    line: 'PUT /apis/apps/v1/namespaces/shop/deployments/web/status',
    type: 'application/json',
    body: deployment,
  },
  {
    ask: (kube) => kube.patch(configMaps, at, { type: 'merge', body: { data: { a: null } } }),
    line: 'PATCH /api/v1/namespaces/shop/configmaps/a',
    type: 'application/merge-patch+json',
    body: { data: { a: null } },
  },
  {
    ask: (kube) => kube.patch(configMaps, at, { type: 'json', body: [] }),
    line: 'PATCH /api/v1/namespaces/shop/configmaps/a',
    type: 'application/json-patch+json',
    body: [],
  },
  {
    ask: (kube) => kube.patch(configMaps, at, { type: 'strategic', body: {} }),
    line: 'PATCH /api/v1/namespaces/shop/configmaps/a',
    type: 'application/strategic-merge-patch+json',
    body: {},
  },
  {
    ask: (kube) => kube.apply(configMaps, object, { fieldManager: 'us', force: true }),
    line: 'PATCH /api/v1/namespaces/shop/configmaps/a?fieldManager=us&force=true',
    type: 'application/apply-patch+yaml',
    body: object,
  },
  {
    ask: (kube) => kube.remove(configMaps, at, { uid: 'u', propagationPolicy: 'Foreground', gracePeriodSeconds: 0 }),
    line: 'DELETE /api/v1/namespaces/shop/configmaps/a',
    type: 'application/json',
    body: {
      apiVersion: 'v1',
      kind: 'DeleteOptions',
      preconditions: { uid: 'u' },
      gracePeriodSeconds: 0,
      propagationPolicy: 'Foreground',
    },
  },
  { ask: (kube) => kube.raw('GET', '/version?x=1'), line: 'GET /version?x=1' },
  {
    ask: (kube) => kube.raw('POST', '/apis/x', { a: 1 }),
    line: 'POST /apis/x',
    type: 'application/json',
    body: { a: 1 },
  },
];

for (const { ask, line, type, body } of asked)
  test(`asks ${line}${type ? ` as ${type}` : ''}`, async () => {
    const server = scripted(json({ metadata: { resourceVersion: '1' }, items: [] }));
    expect(await ask(clientOf(server, fakeClock()))).toMatchObject({ ok: true });
    expect(server.lines).toEqual([line]);
    expect(server.asked[0]?.headers['content-type']).toBe(type);
    expect(server.asked[0]?.headers).toMatchObject({ accept: 'application/json', 'user-agent': 'fairlead' });
    expect(server.asked[0]?.body).toEqual(body === undefined ? undefined : JSON.stringify(body));
  });

test('a path in the server address is kept', async () => {
  const server = scripted(json({}));
  await clientOf(server, fakeClock(), { server: 'http://test/k8s/clusters/one/' }).raw('GET', '/version');
  expect(server.lines).toEqual(['GET /k8s/clusters/one/version']);
});

test.each(['', '.', '..', 'a/b', '../secrets/x', 'a%2Fb'])('a name such as "%s" never reaches a path', async (name) => {
  const server = scripted();
  const kube = clientOf(server, fakeClock());
  expect(await kube.get(configMaps, { namespace: 'shop', name })).toMatchObject({
    ok: false,
    problem: { code: 'invalid' },
  });
  expect(await kube.list(configMaps, { namespace: name })).toMatchObject({ ok: false, problem: { code: 'invalid' } });
  expect(server.asked).toEqual([]);
});

test('an object of a namespaced kind needs a namespace', async () => {
  const kube = clientOf(scripted(), fakeClock());
  const bare = { ...object, metadata: { name: 'a' } };
  for (const answer of [await kube.create(configMaps, bare), await kube.get(configMaps, { name: 'a' })])
    expect(answer).toEqual({ ok: false, problem: { code: 'invalid', message: 'ConfigMap "a" needs a namespace' } });
});

const refusals: [number, string, KubeProblem['code']][] = [
  [400, 'BadRequest', 'invalid'],
  [401, 'Unauthorized', 'denied'],
  [403, 'Forbidden', 'denied'],
  [404, 'NotFound', 'missing'],
  [405, 'MethodNotAllowed', 'invalid'],
  [409, 'AlreadyExists', 'exists'],
  [409, 'Conflict', 'conflict'],
  [410, 'Expired', 'gone'],
  [422, 'Invalid', 'invalid'],
  [429, 'TooManyRequests', 'busy'],
  [500, 'InternalError', 'busy'],
  [503, 'ServiceUnavailable', 'busy'],
  [504, 'Timeout', 'unreachable'],
  [302, 'Found', 'invalid'],
];

test.each(refusals)('an answer of %i %s is the problem %s', async (status, reason, code) => {
  const kube = clientOf(scripted(refused(status, reason)), fakeClock());
  expect(await kube.create(configMaps, object)).toEqual({
    ok: false,
    problem: {
      code,
      status,
      reason,
      message: `POST /api/v1/namespaces/shop/configmaps: ${status} ${reason}: because ${reason}`,
    },
  });
});

const odd: [string, Answer, string][] = [
  ['a page that is no Status', text('<html>proxy</html>', 403), '403: <html>proxy</html>'],
  ['an empty refusal', text('', 404), '404'],
  ['a sign-in page instead of an object', text('<html>sign in</html>'), 'the answer is not an object'],
  ['JSON that is cut off', text('{"metadata":', 200, { 'content-type': 'application/json' }), 'not JSON'],
  ['an object without metadata', json({ kind: 'ConfigMap' }), 'not an object'],
];

test.each(odd)('%s is a problem, not a throw', async (_, answer, says) => {
  const got = await clientOf(scripted(answer), fakeClock()).create(configMaps, object);
  expect(got).toMatchObject({ ok: false, problem: { message: expect.stringContaining(says) } });
});

test('the reasons of a failed connection are told, however deep they lie', async () => {
  const cause = new AggregateError(
    [new Error('connect ECONNREFUSED ::1'), new Error('connect ECONNREFUSED 127.0.0.1')],
    '',
  );
  const kube = clientOf(scripted(new TypeError('fetch failed', { cause })), fakeClock());
  expect(await kube.create(configMaps, object)).toEqual({
    ok: false,
    problem: {
      code: 'unreachable',
      message:
        'POST /api/v1/namespaces/shop/configmaps: fetch failed: connect ECONNREFUSED ::1, connect ECONNREFUSED 127.0.0.1',
    },
  });
});

const busy = () => refused(503, 'ServiceUnavailable');
const found = () => json(object);
const retries: {
  rule: string;
  answers: Answer[];
  ask?: (kube: Kube) => Promise<{ ok: boolean }>;
  after: number;
  times: number;
  ok: boolean;
}[] = [
  { rule: 'a busy server is asked again', answers: [busy(), busy(), found()], after: 300, times: 3, ok: true },
  { rule: 'a lost connection is tried again', answers: [new Error('reset'), found()], after: 100, times: 2, ok: true },
  {
    rule: 'four attempts are enough',
    answers: [busy(), busy(), busy(), busy(), found()],
    after: 60_000,
    times: 4,
    ok: false,
  },
  {
    rule: 'Retry-After is kept',
    answers: [refused(429, 'TooManyRequests', { 'retry-after': '3' }), found()],
    after: 3_000,
    times: 2,
    ok: true,
  },
  {
    rule: 'a long Retry-After is for the caller to wait',
    answers: [refused(429, 'x', { 'retry-after': '60' })],
    after: 0,
    times: 1,
    ok: false,
  },
  {
    rule: 'what the server refuses is not asked again',
    answers: [refused(403, 'Forbidden')],
    after: 0,
    times: 1,
    ok: false,
  },
  {
    rule: 'a create is never sent twice',
    answers: [busy()],
    ask: (kube) => kube.create(configMaps, object),
    after: 60_000,
    times: 1,
    ok: false,
  },
  {
    rule: 'a JSON patch is never sent twice',
    answers: [busy()],
    ask: (kube) => kube.patch(configMaps, at, { type: 'json', body: [] }),
    after: 60_000,
    times: 1,
    ok: false,
  },
  {
    rule: 'an apply may be sent twice',
    answers: [busy(), found()],
    ask: (kube) => kube.apply(configMaps, object, { fieldManager: 'us' }),
    after: 100,
    times: 2,
    ok: true,
  },
];

for (const { rule, answers, ask, after, times, ok } of retries)
  test(rule, async () => {
    const clock = fakeClock();
    const server = scripted(...answers);
    let got: { ok: boolean } | undefined;
    void (ask ?? ((kube) => kube.get(configMaps, at)))(clientOf(server, clock)).then((answer) => (got = answer));
    await clock.advance(after - 1);
    if (ok) expect(got).toBeUndefined();
    await clock.advance(1);
    expect([got?.ok, server.asked.length]).toEqual([ok, times]);
    expect(clock.sleeping).toBe(0);
  });

test('the wait that a server asks for is in the problem, in milliseconds, also when it gives a date', async () => {
  const clock = fakeClock(Date.parse('2026-01-01T00:00:00Z'));
  const server = scripted(refused(429, 'x', { 'retry-after': 'Thu, 01 Jan 2026 00:01:00 GMT' }));
  expect(await clientOf(server, clock).get(configMaps, at)).toMatchObject({
    problem: { code: 'busy', retryAfter: 60_000 },
  });
});

test('a server that never answers is given up after a minute', async () => {
  const clock = fakeClock();
  const server = scripted();
  let got: unknown;
  void clientOf(server, clock)
    .create(configMaps, object)
    .then((answer) => (got = answer));
  await clock.advance(60_000);
  expect(got).toMatchObject({
    problem: { code: 'unreachable', message: expect.stringContaining('no answer within 60 s') },
  });
});

test('a list is read page by page, and its items get the kind that the server leaves out', async () => {
  const bare = { metadata: { name: 'b', namespace: 'shop' } };
  const server = scripted(listOf([object], '9', 'token'), json({ metadata: { resourceVersion: '9' }, items: [bare] }));
  const got = await clientOf(server, fakeClock()).list(configMaps);
  expect(server.lines).toEqual(['GET /api/v1/configmaps?limit=500', 'GET /api/v1/configmaps?limit=500&continue=token']);
  expect(got).toEqual({
    ok: true,
    value: { resourceVersion: '9', items: [object, { ...bare, apiVersion: 'v1', kind: 'ConfigMap' }] },
  });
});

test('a page token that expired starts the list over, in one piece', async () => {
  const server = scripted(listOf([object], '9', 'token'), refused(410, 'Expired'), listOf([object], '12'));
  const got = await clientOf(server, fakeClock()).list(configMaps);
  expect(server.lines[2]).toBe('GET /api/v1/configmaps');
  expect(got).toEqual({ ok: true, value: { resourceVersion: '12', items: [object] } });
});

test('a page token that repeats is a problem, not a loop', async () => {
  const server = scripted(listOf([object], '9', 'token'), listOf([object], '9', 'token'));
  expect(await clientOf(server, fakeClock()).list(configMaps)).toMatchObject({
    ok: false,
    problem: { code: 'unreachable' },
  });
});

function renewable(tokens: string[]): Auth & { refusals: number } {
  let [now, refusals] = [0, 0];
  return {
    headers: () => Promise.resolve({ ok: true, value: { authorization: `Bearer ${tokens[now]}` } }),
    refused: () => {
      now++;
      refusals++;
      return true;
    },
    get refusals() {
      return refusals;
    },
  };
}

test('a 401 is answered once with other credentials, whatever the verb', async () => {
  const server = scripted(refused(401, 'Unauthorized'), found());
  const got = await clientOf(server, fakeClock(), { auth: renewable(['old', 'new']) }).create(configMaps, object);
  expect(got.ok).toBe(true);
  expect(server.asked.map(({ headers }) => headers['authorization'])).toEqual(['Bearer old', 'Bearer new']);
});

test('a second 401 is told', async () => {
  const server = scripted(refused(401, 'Unauthorized'), refused(401, 'Unauthorized'));
  const got = await clientOf(server, fakeClock(), { auth: renewable(['old', 'new']) }).get(configMaps, at);
  expect(got).toMatchObject({ problem: { code: 'denied', status: 401 } });
});

test('with no credentials to be had nothing is asked', async () => {
  const server = scripted();
  const none = { ok: false, problem: { code: 'denied', message: 'no token' } } as const;
  const auth: Auth = { headers: () => Promise.resolve(none), refused: () => false };
  expect(await clientOf(server, fakeClock(), { auth }).get(configMaps, at)).toEqual(none);
  expect(server.asked).toEqual([]);
});
