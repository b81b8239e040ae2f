// The approver's API as it is spoken: what is sent, and what each answer means.
import { ok, fail } from '@fairlead/core';
import { fakeClock } from '@fairlead/testkit';
import { expect, test } from 'vitest';
import { http } from './http.ts';
import { ticket } from './testing/objects.ts';

const at = { provider: 'http' as const, url: 'http://approver.test/api/', tokenSecretRef: { name: 'approver' } };
const asker = ticket('test');
const application = {
  ticket: 'project/test',
  cluster: 'c',
  namespace: 'shop',
  veip: '20.1.0.1',
  ltmip: '10.0.0.1',
  claimer: 'k00369',
};

function begin(
  answer: (request: Request) => Response | Promise<Response>,
  token = ok('secret') as ReturnType<typeof ok<string | undefined>> | ReturnType<typeof fail>,
) {
  const requests: Request[] = [];
  const clock = fakeClock();
  const approver = http({
    clock,
    token: async () => token,
    fetch: async (request) => {
      requests.push(request.clone());
      return answer(request);
    },
  });
  return { approver, requests, clock };
}

const json = (status: number, body: unknown) => new Response(JSON.stringify(body), { status });

test('an application is posted with its key and the token, and its id comes back', async () => {
  const { approver, requests } = begin(() => json(201, { id: 'a7' }));
  expect(await approver.file(at, application, 'uid-3')).toEqual(ok('a7'));
  const [request] = requests;
  expect([request?.method, request?.url]).toEqual(['POST', 'http://approver.test/api/applications']);
  expect(request?.headers.get('idempotency-key')).toBe('uid-3');
  expect(request?.headers.get('authorization')).toBe('Bearer secret');
  expect(await request?.json()).toEqual({ ...application, ports: 'all' });
});

const answers: [rule: string, response: Response, want: object][] = [
  ['pending', json(200, { status: 'pending' }), ok({ status: 'pending', message: '' })],
  ['opened, with words', json(200, { status: 'opened', message: 'done' }), ok({ status: 'opened', message: 'done' })],
  ['a status that is none', json(200, { status: 'maybe' }), { ok: false, problem: { code: 'busy' } }],
  ['a page instead of JSON', new Response('<html>', { status: 200 }), { ok: false, problem: { code: 'busy' } }],
  ['401', json(401, {}), { ok: false, problem: { code: 'denied' } }],
  ['404', json(404, {}), { ok: false, problem: { code: 'missing' } }],
  ['422', json(422, {}), { ok: false, problem: { code: 'invalid' } }],
  ['429', json(429, {}), { ok: false, problem: { code: 'busy' } }],
  ['500', json(500, {}), { ok: false, problem: { code: 'busy' } }],
];
for (const [rule, response, want] of answers) {
  test(`asked about an application, the approver says ${rule}`, async () => {
    const { approver, requests } = begin(() => response.clone());
    expect(await approver.ask(at, 'a/7', asker)).toMatchObject(want);
    expect(requests[0]?.url).toBe('http://approver.test/api/applications/a%2F7');
  });
}

test('an id that no ticket has room for, or none at all, is no id', async () => {
  for (const id of ['', 7, 'x'.repeat(257)]) {
    const { approver } = begin(() => json(201, { id }));
    expect(await approver.file(at, application, 'k')).toMatchObject({ ok: false, problem: { code: 'busy' } });
  }
});

test('taking back what is gone already is a success', async () => {
  expect(await begin(() => new Response(null, { status: 204 })).approver.withdraw(at, 'a7')).toEqual(ok(undefined));
  expect(await begin(() => json(404, {})).approver.withdraw(at, 'a7')).toEqual(ok(undefined));
  expect(await begin(() => json(500, {})).approver.withdraw(at, 'a7')).toMatchObject({ ok: false });
});

test('a connection that fails, and a token that cannot be read, are problems', async () => {
  const broken = begin(() => Promise.reject(new Error('ECONNREFUSED')));
  expect(await broken.approver.file(at, application, 'k')).toMatchObject({ ok: false, problem: { code: 'unreachable', message: 'POST http://approver.test/api/applications: ECONNREFUSED' } }); // prettier-ignore
  const locked = begin(() => json(201, { id: 'a' }), fail('missing', 'no Secret approver'));
  expect(await locked.approver.file(at, application, 'k')).toMatchObject(fail('denied', 'no Secret approver'));
  // A missing Secret is not an application that is gone: nothing was taken back.
  expect(await locked.approver.withdraw(at, 'a7')).toMatchObject(fail('denied', 'no Secret approver'));
  expect(locked.requests).toEqual([]);
});

test('an approver that surely has nothing is told from one whose answer is lost', async () => {
  const refused = (code: string) => new TypeError('fetch failed', { cause: Object.assign(new Error(code), { code }) });
  const cases: [() => Response | Promise<Response>, boolean][] = [
    [() => json(401, {}), true],
    [() => json(404, {}), true],
    [() => json(422, {}), true],
    [() => Promise.reject(refused('ENOTFOUND')), true],
    [() => Promise.reject(refused('ECONNREFUSED')), true],
    [() => Promise.reject(refused('ECONNRESET')), false],
    [() => json(500, {}), false],
    [() => json(409, {}), false],
  ];
  for (const [answer, isUnheard] of cases)
    expect(await begin(answer).approver.file(at, application, 'k')).toMatchObject({ ok: false, isUnheard });
});

test('an approver that never answers is given up after ten seconds', async () => {
  const { approver, clock } = begin(() => new Promise<Response>(() => undefined));
  const asked = approver.ask(at, 'a7', asker);
  await clock.advance(10_000);
  expect(await asked).toMatchObject({ ok: false, problem: { code: 'unreachable' } });
  expect(clock.sleeping).toBe(0);
});
