import { expect, test } from 'vitest';
import type { SendRequest, SendResponse } from './send.ts';
import { authorizedFetch } from './way.ts';

async function* bytes(...texts: string[]): AsyncGenerator<Uint8Array> {
  for (const text of texts) yield new TextEncoder().encode(text);
}

const answer = (status: number, ...texts: string[]): SendResponse => ({
  status,
  headers: { get: (name) => (name === 'retry-after' ? '3' : null) },
  body: bytes(...texts),
  text: async () => texts.join(''),
});

const credentials = (...tokens: string[]) => ({
  headers: async () => ({ ok: true, value: { authorization: tokens[0] ?? '' } }) as const,
  refused: () => tokens.length > 1 && tokens.shift() !== undefined,
});

test('a request is sent as it is, with the credentials, and its answer comes as a stream', async () => {
  const sent: SendRequest[] = [];
  const fetch = authorizedFetch(async (request) => {
    sent.push(request);
    return answer(200, 'a', 'b');
  }, credentials('one'));
  const got = await fetch(
    new Request('http://x/api?watch=1', { method: 'POST', body: '{}', headers: { accept: 'y' } }),
  );
  expect([got.status, got.headers.get('retry-after'), await got.text()]).toEqual([200, '3', 'ab']);
  expect(sent).toMatchObject([
    {
      method: 'POST',
      url: 'http://x/api?watch=1',
      body: '{}',
      stream: true,
      headers: { accept: 'y', authorization: 'one' },
    },
  ]);
});

test('credentials that are refused are exchanged once; those there is nothing better for are told', async () => {
  const sent: (string | undefined)[] = [];
  const send = async (request: SendRequest) => {
    sent.push(request.headers.authorization);
    return answer(request.headers.authorization === 'new' ? 200 : 401);
  };
  const status = async (...tokens: string[]) =>
    (await authorizedFetch(send, credentials(...tokens))(new Request('http://x/'))).status;
  expect([await status('old', 'new'), await status('old')]).toEqual([200, 401]);
  expect(sent).toEqual(['old', 'new', 'old']);
});
