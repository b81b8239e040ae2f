// Our definitions on the embedded API server: its schema validation and its CEL judge the same cases as our checks.
import { apiServer, memory } from '@fairlead/apiserver';
import { fakeClock } from '@fairlead/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Case, duplicateCases, ruleCases, shapeCases } from './cases.ts';
import { crds } from './crds.ts';
import { makeTicket } from './make.ts';

const clock = fakeClock(Date.parse('2026-01-01T00:00:00Z'));
const reports: string[] = [];
let seed = 0;
let server: Awaited<ReturnType<typeof apiServer>>;

beforeAll(async () => {
  server = await apiServer({
    storage: memory(),
    clock,
    name: 'test',
    random: (bytes) => Uint8Array.from({ length: bytes }, () => (seed = (seed * 31 + 7) % 251)),
    tokens: [{ token: 't', user: 'admin', groups: ['system:masters'] }],
    report: (message) => reports.push(message),
  });
  for (const crd of crds()) {
    const made = await send('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', crd);
    expect(made.message).toBeUndefined();
  }
});

afterAll(async () => {
  await server.close();
  expect(reports).toEqual([]);
});

interface Answer {
  code?: number;
  message?: string;
  metadata?: { resourceVersion?: string };
  details?: { causes?: { field: string }[] };
}

async function send(method: string, path: string, body: object): Promise<Answer> {
  const headers = { authorization: 'Bearer t', 'content-type': 'application/json' };
  const answer = await server.answer(
    new Request(`http://kube.test${path}`, { method, headers, body: JSON.stringify(body) }),
  );
  return (await answer.json()) as Answer;
}

/** Writes the case as a user would: the object before with its status, then the object. Gives the answer to the last write. */
async function write({ definition, object, old }: Case, name: string): Promise<Answer> {
  const { group, version, kind, plural, namespaced } = definition.kind;
  const path = `/apis/${group}/${version}/${namespaced ? 'namespaces/default/' : ''}${plural}`;
  const whole = (body: object) => ({ ...body, apiVersion: `${group}/${version}`, kind, metadata: { name } });
  if (!old) return send('POST', `${path}?fieldValidation=Strict`, whole(object));
  const made = await send('POST', path, whole(old));
  expect(made.metadata?.resourceVersion).toBeDefined();
  const { metadata } = await send('PUT', `${path}/${name}/status`, {
    ...whole(old),
    metadata: { ...made.metadata, name },
  });
  return send('PUT', `${path}/${name}?fieldValidation=Strict`, {
    ...whole(object),
    metadata: { name, resourceVersion: metadata?.resourceVersion },
  });
}

test.each([...shapeCases, ...duplicateCases, ...ruleCases].map((row, i) => ({ ...row, i })))('$name', async (row) => {
  const got = await write(row, `case-${row.i}`);
  if (row.paths.length === 0) expect(got.message).toBeUndefined();
  // Brackets around the key of a map are our way to write it; the server writes a dot.
  else for (const path of row.paths) expect(got.message).toContain(path.replace('[foo]', '.foo'));
});

test('what users leave out is filled in, and what they leave empty stays', async () => {
  const { metadata: _, ...ticket } = makeTicket();
  const sent = {
    ...ticket,
    metadata: { name: 'filled' },
    spec: { loadbalancer: 'demo', namespace: 'default', ltmip: null },
  };
  const got = await send('POST', '/apis/ebcpaas.io/v1/namespaces/default/lbtickets', sent);
  expect(got).toMatchObject({ spec: { lbtype: 'listner', state: 'enabled', ltmip: null } });
});
