// An Event is one object under two names: of the core group and of events.k8s.io.
import { expect, test } from 'vitest';
import { testServer } from '../test-server.ts';

const core = '/api/v1/namespaces/default/events';
const told = '/apis/events.k8s.io/v1/namespaces/default/events';
const event = {
  metadata: { name: 'e' },
  eventTime: '2020-01-02T03:04:05.000006Z',
  reportingController: 'example.com/c',
  reportingInstance: 'c-1',
  action: 'Starting',
  reason: 'Started',
  regarding: { kind: 'Pod', namespace: 'default', name: 'p' },
  note: 'it started',
  type: 'Normal',
};

test('what is written by one name is read, selected and listed by the other, in its words', async () => {
  const server = await testServer();
  const made = await server.send('POST', told, event);
  expect([made.code, made.body.apiVersion, made.body.note]).toEqual([201, 'events.k8s.io/v1', 'it started']);
  expect((await server.send('GET', `${core}/e`)).body).toMatchObject({
    apiVersion: 'v1',
    metadata: { resourceVersion: made.body.metadata.resourceVersion },
    involvedObject: event.regarding,
    message: 'it started',
    reportingComponent: 'example.com/c',
  });
  await server.send('POST', core, {
    metadata: { name: 'old' },
    involvedObject: { kind: 'Pod', namespace: 'default', name: 'q' },
    message: 'of old',
    count: 3,
  });
  const names = async (path: string) =>
    ((await server.send('GET', path)).body.items as { metadata: { name: string } }[]).map((one) => one.metadata.name);
  expect(await names(told)).toEqual(['e', 'old']);
  expect(await names(`${told}?fieldSelector=regarding.name%3Dq`)).toEqual(['old']);
  expect(await names(`${core}?fieldSelector=involvedObject.name%3Dp`)).toEqual(['e']);
  const old = (await server.send('GET', `${told}/old`)).body;
  expect(old).toMatchObject({ note: 'of old', deprecatedCount: 3, regarding: { name: 'q' } });
  expect(old).not.toHaveProperty('reportingController');
  await server.close();
});

test('a watch by each name tells of changes and deletes by the other', async () => {
  const server = await testServer();
  const [byCore, byNew] = [
    await server.watch(`${core}?watch=1`),
    await server.watch(`${told}?watch=1&fieldSelector=regarding.name%3Dp`),
  ];
  await server.send('POST', told, event);
  await server.send('PATCH', `${core}/e`, { message: 'again' });
  await server.send('PATCH', `${told}/e`, { series: { count: 2, lastObservedTime: event.eventTime } });
  await server.send('DELETE', `${told}/e`);
  const kept = await byCore.next(4);
  const seen = await byNew.next(4);
  expect(kept.map(({ type, object }) => [type, object.apiVersion, object.message])).toEqual([
    ['ADDED', 'v1', 'it started'],
    ['MODIFIED', 'v1', 'again'],
    ['MODIFIED', 'v1', 'again'],
    ['DELETED', 'v1', 'again'],
  ]);
  expect(seen.map(({ type, object }) => [type, object.apiVersion, object.note])).toEqual(
    kept.map(({ type, object }) => [type, 'events.k8s.io/v1', object.message]),
  );
  byCore.stop();
  byNew.stop();
  expect((await server.send('GET', `${core}/e`)).code).toBe(404);
  await server.close();
});

test('a namespace with events is emptied and goes', async () => {
  const server = await testServer();
  await server.send('POST', '/api/v1/namespaces', { metadata: { name: 'n' } });
  await server.send('POST', '/apis/events.k8s.io/v1/namespaces/n/events', {
    ...event,
    regarding: { kind: 'Pod', namespace: 'n', name: 'p' },
  });
  await server.send('DELETE', '/api/v1/namespaces/n');
  expect((await server.send('GET', '/api/v1/namespaces/n')).code).toBe(404);
  expect(server.reports).toEqual([]);
  await server.close();
});

test.each([
  ['a type of its own', { type: 'Bad' }, ['type: Invalid value: "": has invalid value: Bad']],
  ['a count', { deprecatedCount: 2 }, ['count: Invalid value: "": needs to be unset']],
  [
    'a series of one',
    { series: { count: 1 } },
    ['series.count: Invalid value: "": should be at least 2', 'series.lastObservedTime: Required value'],
  ],
  ['a note without end', { note: 'a'.repeat(1025) }, ['message: Invalid value: "": can have at most 1024 characters']],
])('an Event of events.k8s.io with %s is refused', async (_, changes, causes) => {
  const server = await testServer();
  const refused = await server.send('POST', told, { ...event, ...changes });
  expect([refused.code, refused.causes]).toEqual([422, causes]);
  await server.close();
});

test('of an Event of events.k8s.io only the series goes on', async () => {
  const server = await testServer();
  await server.send('POST', told, event);
  const series = { count: 2, lastObservedTime: event.eventTime };
  expect((await server.send('PATCH', `${told}/e`, { series })).code).toBe(200);
  const refused = await server.send('PATCH', `${told}/e`, { note: 'else', reason: 'Other', regarding: { name: 'q' } });
  expect([refused.code, refused.causes]).toEqual([
    422,
    [
      'involvedObject: Invalid value: {"Kind":"Pod","Namespace":"default","Name":"q","UID":"","APIVersion":"","ResourceVersion":"","FieldPath":""}: field is immutable',
      'reason: Invalid value: "Other": field is immutable',
      'message: Invalid value: "else": field is immutable',
      'reason: Invalid value: "Other": field is immutable',
    ],
  ]);
  await server.close();
});
