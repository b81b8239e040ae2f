// Events: what is said again is counted, not repeated.
import { fakeClock } from '@fairlead/testkit';
import { expect, test } from 'vitest';
import type { Event } from './kinds.ts';
import { clientOf, configMap, json, refused, scripted } from './scripted.ts';
import { recorder } from './recorder.ts';

const told = { type: 'Warning', reason: 'Busy', message: 'the device is busy' } as const;
const about = configMap('web', '7');

function begin(...answers: Parameters<typeof scripted>) {
  const clock = fakeClock(Date.parse('2026-01-01T00:00:00Z'));
  const server = scripted(...answers);
  const record = recorder({ kube: clientOf(server, clock), clock, component: 'fairlead-agent' });
  const body = (index: number) => JSON.parse(server.asked[index]?.body ?? '') as Event;
  return { clock, server, record, body };
}

const done = () => json({ metadata: {} });

test('an event says of what, by whom and when', async () => {
  const { record, server, body } = begin(done());
  expect(await record.event(about, told)).toEqual({ ok: true, value: undefined });
  expect(server.lines).toEqual(['POST /api/v1/namespaces/shop/events']);
  expect(body(0)).toMatchObject({
    metadata: { namespace: 'shop', name: expect.stringMatching(/^web\.[0-9a-f]{16}$/) },
    involvedObject: {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      namespace: 'shop',
      name: 'web',
      uid: 'uid-web',
      resourceVersion: '7',
    },
    ...told,
    source: { component: 'fairlead-agent' },
    firstTimestamp: '2026-01-01T00:00:00Z',
    count: 1,
  });
});

test('the same again is one patch, also of a later state of the object', async () => {
  const { clock, record, server, body } = begin(done(), done());
  await record.event(about, told);
  await clock.advance(5_000);
  await record.event(configMap('web', '8'), told);
  expect(server.asked[1]?.method).toBe('PATCH');
  expect(body(1)).toEqual({ count: 2, lastTimestamp: '2026-01-01T00:00:05Z' });
});

test('what another replica, or an earlier run, has said is counted on', async () => {
  const { record, server, body } = begin(refused(409, 'AlreadyExists'), json({ metadata: {}, count: 41 }), done());
  await record.event(about, told);
  expect(server.asked.map(({ method }) => method)).toEqual(['POST', 'GET', 'PATCH']);
  expect(body(2).count).toBe(42);
});

test('an event that expired meanwhile is made anew', async () => {
  const { record, server, body } = begin(done(), refused(404, 'NotFound'), done());
  await record.event(about, told);
  await record.event(about, told);
  expect(server.asked.map(({ method }) => method)).toEqual(['POST', 'PATCH', 'POST']);
  expect(body(2).count).toBe(1);
});

test('the same said at one moment loses no count', async () => {
  const { record, server, body } = begin(done(), done(), done());
  await Promise.all([record.event(about, told), record.event(about, told), record.event(about, told)]);
  expect(server.asked.map(({ method }) => method)).toEqual(['POST', 'PATCH', 'PATCH']);
  expect(body(2).count).toBe(3);
});

test('another message, reason or object is another event', async () => {
  const { record, server } = begin(done(), done(), done(), done());
  await record.event(about, told);
  await record.event(about, { ...told, message: 'other' });
  await record.event(about, { ...told, reason: 'Other' });
  await record.event(configMap('db', '1'), told);
  expect(server.asked.map(({ method }) => method)).toEqual(['POST', 'POST', 'POST', 'POST']);
});

test('an object without a namespace has its events in default', async () => {
  const { record, server, body } = begin(done());
  await record.event({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1' } }, told);
  expect(server.lines).toEqual(['POST /api/v1/namespaces/default/events']);
  expect(body(0).involvedObject).toEqual({ apiVersion: 'v1', kind: 'Node', name: 'n1' });
});

test('a long message is cut to what the API takes', async () => {
  const { record, body } = begin(done());
  await record.event(about, { ...told, message: 'x'.repeat(5_000) });
  expect(body(0).message.length).toBe(1_024);
});

test('a refusal is told to the caller', async () => {
  const { record } = begin(refused(403, 'Forbidden'));
  expect(await record.event(about, told)).toMatchObject({ ok: false, problem: { code: 'denied' } });
});
