import { expect, test } from 'vitest';
import { TextResponse } from './text-response.ts';

const made = () => new TextResponse('{"a":"é"}', { status: 201, headers: { 'content-type': 'application/json' } });

const readings: [string, (response: Response) => Promise<unknown>][] = [
  ['text', (response) => response.text()],
  ['json', async (response) => JSON.stringify(await response.json())],
  ['arrayBuffer', async (response) => new TextDecoder().decode(await response.arrayBuffer())],
  ['blob', async (response) => (await response.blob()).text()],
  ['clone', async (response) => response.clone().text()],
  ['body', async (response) => new Response(response.body).text()],
];

test.each(readings)('%s gives what a built-in Response gives', async (_, read) => {
  const response = made();
  expect([response instanceof Response, response.status, response.headers.get('content-type')]).toEqual([
    true,
    201,
    'application/json',
  ]);
  expect(await read(response)).toBe('{"a":"é"}');
});

test('a body is read once, and its text is had until then', async () => {
  for (const [name, read] of readings.slice(0, 4)) {
    const response = made();
    expect([TextResponse.textOf(response), response.bodyUsed]).toEqual(['{"a":"é"}', false]);
    await read(response);
    expect([name, TextResponse.textOf(response), response.bodyUsed]).toEqual([name, undefined, true]);
    await expect(response.text()).rejects.toThrow(TypeError);
  }
  expect(TextResponse.textOf(new Response('a'))).toBe(undefined);
});
