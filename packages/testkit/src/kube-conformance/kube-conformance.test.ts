// The embedded API server against the recorded answers of a real one.
import { apiServer, authority, memory, SendError, type ApiServer } from '@fairlead/apiserver';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { fakeClock } from '../fake-clock.ts';
import {
  beginChapter,
  chapters,
  difference,
  embeddedPlace,
  hookSend,
  known,
  readRecording,
  type Begun,
  type Place,
} from './index.ts';

const users = [
  { token: 'admin', user: 'admin', groups: ['system:masters'] },
  { token: 'joe', user: 'joe', groups: ['people'] },
];
const failures = 'no case makes the embedded server fail';
const isUpdate = process.env['KNOWN'] === 'update';
const expected = known.read();
/** What is written with KNOWN=update; a run of some cases leaves the others as they are. */
const found: Record<string, string | undefined> = { ...expected };
const reports: string[] = [];
const names = new Set([failures, ...chapters.flatMap(({ cases }) => cases.map(({ name }) => name))]);
let server: ApiServer;
let place: Place;

beforeAll(async () => {
  const clock = fakeClock(Date.parse('2026-01-02T03:04:05Z'));
  let seed = 0;
  server = await apiServer({
    storage: memory(),
    clock,
    random: (bytes) =>
      Uint8Array.from({ length: bytes }, () => (seed = (seed * 1103515245 + 12345) % 2147483648) >> 16),
    name: 'conformance',
    tokens: users,
    send: hookSend({
      unanswered: (url) => new SendError(`Post "${url.href}": context deadline exceeded`),
      pass: clock.advance,
    }),
    // A webhook that is passed over is told of, and is not the server's failure.
    report: (message) => void (message.includes('failurePolicy is Ignore') || reports.push(message)),
  });
  place = embeddedPlace(server, clock.advance, {
    tokens: Object.fromEntries(users.map(({ user, token }) => [user, token])),
    // Never called there: `send` answers in its place.
    hook: { url: 'https://127.0.0.1:9443', ca: btoa((await authority('hook', clock.now())).cert) },
  });
});

afterAll(async () => {
  await server.close();
  if (isUpdate)
    known.write(
      Object.fromEntries(
        Object.entries(found).flatMap(([name, why]) => (why === undefined || !names.has(name) ? [] : [[name, why]])),
      ),
    );
});

for (const chapter of chapters) {
  const recording = readRecording(chapter.name);
  let begun: Promise<Begun> | undefined;
  for (const one of chapter.cases.filter(({ realOnly }) => realOnly === undefined))
    test(`${chapter.name}: ${one.name}`, async () => {
      begun ??= beginChapter(place, chapter);
      const { failed, run } = await begun;
      const answers = recording?.cases[one.name];
      if (!answers) throw new Error('this case has no recorded answers: npm run test:kube -- --record');
      const differs = difference(answers, failed ?? (await run(one)));
      found[one.name] = differs;
      if (!isUpdate) expect(differs).toBe(expected[one.name]);
    });
}

test('the suite has at least 300 cases, and no two of one name', () => {
  const count = chapters.reduce((sum, { cases }) => sum + cases.length, 0);
  expect(count).toBeGreaterThanOrEqual(300);
  expect(names.size).toBe(count + 1);
});

test('every recorded answer and every known difference belongs to a case', () => {
  const recorded = chapters.flatMap(({ name }) => Object.keys(readRecording(name)?.cases ?? {}));
  expect([...recorded, ...(isUpdate ? [] : Object.keys(expected))].filter((name) => !names.has(name))).toEqual([]);
});

test(failures, () => {
  found[failures] = reports.length > 0 ? reports.join('\n') : undefined;
  if (!isUpdate) expect(found[failures]).toBe(expected[failures]);
});
