// What a device answers, or does not, and the problem it becomes; and who we are to it.
import { fakeClock } from '@fairlead/testkit';
import { expect, test } from 'vitest';
import { caller, wordsOf, type Fetch } from './call.ts';
import { loggedIn } from './login.ts';

const never = new AbortController().signal;
const json = (status: number, body: unknown): Response => Response.json(body, { status });
const page = (status: number): Response =>
  new Response('<html>Service Unavailable</html>', { status, headers: { 'content-type': 'text/html' } });

const answering = (response: () => Response | Promise<Response>, clock = fakeClock()) =>
  caller({ url: 'https://bigip.test', fetch: async () => response(), clock });

test.each<{ name: string; response: () => Response; code: string; says?: string }>([
  { name: '200 with JSON', response: () => json(200, { ok: 1 }), code: 'ok' },
  { name: '204 without a body', response: () => new Response(null, { status: 204 }), code: 'ok' },
  { name: '200 with a page', response: () => page(200), code: 'busy' },
  { name: '503 with a page', response: () => page(503), code: 'busy' },
  {
    name: '503 with JSON',
    response: () => json(503, { message: 'another operation is running' }),
    code: 'busy',
    says: 'another operation is running',
  },
  { name: '500', response: () => json(500, { message: 'mcpd connection lost' }), code: 'busy' },
  { name: '429', response: () => json(429, {}), code: 'busy' },
  { name: '401', response: () => json(401, { message: 'Authorization required' }), code: 'denied' },
  { name: '403', response: () => json(403, {}), code: 'denied' },
  {
    name: '404 of an object',
    response: () => json(404, { message: '01020036:3: The requested Pool was not found.' }),
    code: 'missing',
  },
  {
    name: '404 of a path that is not up',
    response: () => json(404, { message: 'Public URI path not registered: /shared/appsvcs' }),
    code: 'busy',
  },
  {
    name: '404 without a word',
    response: () => new Response('', { status: 404 }),
    code: 'unreachable',
    says: 'address',
  },
  { name: '404 with a page', response: () => page(404), code: 'unreachable' },
  { name: '409', response: () => json(409, { message: '01020066:3: already exists' }), code: 'exists' },
  { name: '400', response: () => json(400, { message: '01070734:3: Configuration error' }), code: 'invalid' },
  {
    name: "422 with AS3's errors",
    response: () =>
      json(422, { message: 'declaration is invalid', errors: ['/t/app/vs/virtualPort: should be <= 65535'] }),
    code: 'invalid',
    says: '/t/app/vs/virtualPort',
  },
  {
    name: '422 of a tenant',
    response: () =>
      json(422, { results: [{ tenant: 't', message: 'declaration failed', response: '0107176c:3: address exists' }] }),
    code: 'invalid',
    says: 't: declaration failed: 0107176c:3',
  },
  {
    name: '422 of the lock',
    response: () =>
      json(422, {
        results: [{ tenant: 't', message: 'declaration failed', response: 'optimisticLockKey does not match' }],
      }),
    code: 'conflict',
  },
])('$name is $code', async ({ response, code, says = '' }) => {
  const answer = await answering(response)({ method: 'GET', path: '/mgmt/x' }, never);
  expect(answer.ok ? 'ok' : answer.problem.code).toBe(code);
  if (!answer.ok) expect(answer.problem.message).toMatch(/^GET \/mgmt\/x: /);
  if (!answer.ok) expect(answer.problem.message).toContain(says);
});

test('no connection is unreachable, with the cause of it', async () => {
  const call = answering(() =>
    Promise.reject(new TypeError('fetch failed', { cause: new Error('connect ECONNREFUSED') })),
  );
  expect(await call({ method: 'GET', path: '/x' }, never)).toEqual({
    ok: false,
    problem: { code: 'unreachable', message: 'GET /x: connect ECONNREFUSED' },
  });
});

/** Answers when its signal aborts, as fetch does. */
const hanging: Fetch = (_, { signal }) =>
  new Promise((_resolve, reject) => signal?.addEventListener('abort', () => reject(new Error('aborted'))));

test('no answer in time is unreachable, and says how long was waited', async () => {
  const clock = fakeClock();
  const call = caller({ url: 'https://bigip.test', fetch: hanging, clock, timeout: 5_000 });
  const answer = call({ method: 'GET', path: '/x' }, never);
  await clock.advance(5_000);
  expect(await answer).toMatchObject({ problem: { code: 'unreachable', message: 'GET /x: no answer within 5 s' } });
});

test('a call that is stopped ends, and leaves no timer', async () => {
  const clock = fakeClock();
  const stop = new AbortController();
  const answer = caller({ url: 'https://bigip.test', fetch: hanging, clock })(
    { method: 'GET', path: '/x' },
    stop.signal,
  );
  stop.abort();
  expect(await answer).toMatchObject({ problem: { code: 'unreachable', message: 'GET /x: stopped' } });
  expect(clock.sleeping).toBe(0);
});

/** A device that gives tokens of 1200 s, and takes the newest only. */
function device() {
  const clock = fakeClock();
  const calls: string[] = [];
  let token = 0;
  let isRight = true;
  const fetch: Fetch = async (url, { headers }) => {
    const given = new Headers(headers);
    const path = new URL(url).pathname;
    calls.push(path === '/x' ? `/x ${given.get('x-f5-auth-token') ?? given.get('authorization')}` : 'login');
    if (path !== '/x')
      return isRight
        ? json(200, { token: { token: `t${++token}`, timeout: 1200 } })
        : json(401, { message: 'wrong password' });
    return given.get('x-f5-auth-token') === `t${token}` || given.has('authorization')
      ? json(200, {})
      : json(401, { message: 'token does not exist' });
  };
  const plain = caller({ url: 'https://bigip.test', fetch, clock });
  return {
    clock,
    calls,
    /** The device restarts and knows no token. */
    forget: () => void token++,
    change: () => void (isRight = false),
    call: (login: 'token' | 'basic' = 'token') => {
      const call = loggedIn(plain, { user: 'admin', password: 'pässword', login }, clock);
      return () => call({ method: 'GET', path: '/x' }, never);
    },
  };
}

test('one login serves many requests, those at once as well', async () => {
  const d = device();
  const call = d.call();
  await Promise.all([call(), call(), call()]);
  await call();
  expect(d.calls).toEqual(['login', '/x t1', '/x t1', '/x t1', '/x t1']);
});

test('a token is renewed before it ends', async () => {
  const d = device();
  const call = d.call();
  await call();
  await d.clock.advance(1_141_000);
  await call();
  expect(d.calls).toEqual(['login', '/x t1', 'login', '/x t2']);
});

test('a token that the device forgot is replaced, and the request goes again', async () => {
  const d = device();
  const call = d.call();
  await call();
  d.forget();
  expect((await call()).ok).toBe(true);
  expect(d.calls).toEqual(['login', '/x t1', '/x t1', 'login', '/x t3']);
});

test('wrong credentials are denied after one try', async () => {
  const d = device();
  d.change();
  expect(await d.call()()).toMatchObject({ problem: { code: 'denied' } });
  expect(d.calls).toEqual(['login']);
});

test('basic credentials go with each request, in UTF-8', async () => {
  const d = device();
  await d.call('basic')();
  expect(d.calls).toEqual([`/x Basic ${Buffer.from('admin:pässword').toString('base64')}`]);
});

test('a key that a device quotes stands in no message, cut off or not', () => {
  const key = '-----BEGIN PRIVATE KEY-----\nMIGHAgEA\n-----END PRIVATE KEY-----';
  const said = wordsOf({ message: `bad "${key}" in c1`, errors: [`again: ${key.slice(0, 40)}`] });
  expect(said).toBe('bad "(PEM text)" in c1; again: (PEM text)');
});

test('a token that was given is shown as it is, without a login', async () => {
  const seen: Record<string, string>[] = [];
  const fetch: Fetch = async (_, init) => (seen.push(init.headers as Record<string, string>), Response.json({}));
  const clock = fakeClock();
  const plain = caller({ url: 'https://bigip.test', fetch, clock });
  const call = loggedIn(plain, { token: 'T0K', user: '', password: '' }, clock);
  await call({ method: 'GET', path: '/x' }, new AbortController().signal);
  expect(seen).toMatchObject([{ 'x-f5-auth-token': 'T0K', authorization: 'Bearer T0K' }]);
});
