// Mutated requests: whatever comes in, the server answers with JSON and a code that is documented, and reports no bug.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { configMap, definition, deployment, testServer, ticket } from './test-server.ts';

/** So many by chance where it is said; otherwise always the same thousand, so that a failure is the change's. */
const asked = process.env['FC_RUNS'];
const plan = asked === undefined ? { numRuns: 1000, seed: 1 } : { numRuns: Number(asked) };
/** Names repeat, so what is stored is bounded; what grows beyond this is a leak. */
const mostGrowthMb = 64;

const pod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'a', labels: { app: 'a' }, finalizers: ['example.io/x'], ownerReferences: [] },
  spec: {
    containers: [{ name: 'a', image: 'a', ports: [{ containerPort: 80 }] }],
    nodeName: 'n',
    restartPolicy: 'Always',
  },
  status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] },
};
const service = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 'a' },
  spec: { type: 'NodePort', selector: { app: 'a' }, ports: [{ name: 'http', port: 80, nodePort: 30080 }] },
};
const binding = {
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'ClusterRoleBinding',
  metadata: { name: 'a' },
  roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'a' },
  subjects: [{ kind: 'User', name: 'joe', apiGroup: 'rbac.authorization.k8s.io' }],
};
const review = {
  apiVersion: 'authorization.k8s.io/v1',
  kind: 'SelfSubjectAccessReview',
  spec: { resourceAttributes: { verb: 'get', resource: 'pods', namespace: 'default' } },
};
const tickets = definition(
  {
    type: 'object',
    properties: { port: { type: 'integer', minimum: 1 }, names: { type: 'array', items: { type: 'string' } } },
    'x-kubernetes-validations': [{ rule: '!has(self.port) || self.port < 65536', message: 'too high' }],
  },
  { additionalPrinterColumns: [{ name: 'Port', type: 'integer', jsonPath: '.spec.port' }] },
);
interface Seed {
  method: string;
  path: string;
  type: string;
  body: unknown;
}

const json = 'application/json';
const maps = '/api/v1/namespaces/default/configmaps';
const pods = '/api/v1/namespaces/default/pods';
const deployments = '/apis/apps/v1/namespaces/default/deployments';
const custom = '/apis/example.io/v1/namespaces/default/tickets';
const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const jsonPatch = [
  { op: 'add', path: '/metadata/labels', value: { x: 'y' } },
  { op: 'test', path: '/kind', value: 'ConfigMap' },
];
const options = {
  kind: 'DeleteOptions',
  apiVersion: 'v1',
  propagationPolicy: 'Foreground',
  preconditions: { uid: 'x' },
};

/** Requests that are right, from which the others are made. */
const seeds: Seed[] = [
  ...['', '/a', '?watch=1', '?limit=1'].map((rest) => ({
    method: 'GET',
    path: maps + rest,
    type: json,
    body: undefined,
  })),
  ...[pods, `${pods}/a`, `${pods}/a/log`, deployments, `${deployments}/a/scale`, custom, definitions].map((path) => ({
    method: 'GET',
    path,
    type: json,
    body: undefined,
  })),
  ...['/api', '/apis', '/apis/apps/v1', '/openapi/v2', '/openapi/v3', '/version', '/'].map((path) => ({
    method: 'GET',
    path,
    type: json,
    body: undefined,
  })),
  { method: 'POST', path: maps, type: json, body: configMap('a', { k: 'v' }) },
  {
    method: 'POST',
    path: maps,
    type: json,
    body: configMap('', {}, { generateName: 'b-', name: undefined, finalizers: [] }),
  },
  { method: 'POST', path: pods, type: json, body: pod },
  { method: 'POST', path: '/api/v1/namespaces/default/services', type: json, body: service },
  { method: 'POST', path: deployments, type: json, body: deployment('a') },
  { method: 'POST', path: custom, type: json, body: ticket('a', { port: 1, names: ['x'] }) },
  { method: 'POST', path: definitions, type: json, body: tickets },
  { method: 'POST', path: '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', type: json, body: binding },
  { method: 'POST', path: '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', type: json, body: review },
  { method: 'PUT', path: `${maps}/a`, type: json, body: configMap('a', { k: 'w' }) },
  { method: 'PUT', path: `${pods}/a/status`, type: json, body: pod },
  { method: 'PATCH', path: `${maps}/a`, type: 'application/merge-patch+json', body: { data: { k: null, l: '1' } } },
  { method: 'PATCH', path: `${maps}/a`, type: 'application/json-patch+json', body: jsonPatch },
  {
    method: 'PATCH',
    path: `${deployments}/a`,
    type: 'application/strategic-merge-patch+json',
    body: {
      spec: {
        template: {
          spec: {
            containers: [
              { name: 'a', image: 'b' },
              { $patch: 'delete', name: 'z' },
            ],
          },
        },
      },
    },
  },
  {
    method: 'PATCH',
    path: `${maps}/a?fieldManager=x`,
    type: 'application/apply-patch+yaml',
    body: configMap('a', { m: 'n' }),
  },
  {
    method: 'PATCH',
    path: `${custom}/a?fieldManager=x`,
    type: 'application/apply-patch+yaml',
    body: ticket('a', { port: 2 }),
  },
  { method: 'DELETE', path: `${maps}/a`, type: json, body: options },
  { method: 'DELETE', path: `${pods}/a`, type: json, body: undefined },
  { method: 'DELETE', path: `${deployments}`, type: json, body: undefined },
];
const words = [
  '',
  'a',
  'b',
  'default',
  'status',
  'scale',
  'eviction',
  'log',
  'token',
  '..',
  '%2e%2e',
  '%zz',
  '%00',
  'ÿ',
  '-',
  '*',
];
const types = [
  'application/json',
  'application/yaml',
  'application/json-patch+json',
  'application/merge-patch+json',
  'application/strategic-merge-patch+json',
  'application/apply-patch+yaml',
  'application/vnd.kubernetes.protobuf',
  'text/plain',
  'application/json; charset=utf-8',
];
const accepts = [
  'application/json',
  'application/json;as=Table;g=meta.k8s.io;v=v1',
  'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1',
  'application/vnd.kubernetes.protobuf',
  '*/*',
  'application/com.github.proto-openapi.spec.v2@v1.0+protobuf',
  ';;,=',
];
const parameters = [
  'watch',
  'limit',
  'continue',
  'resourceVersion',
  'resourceVersionMatch',
  'labelSelector',
  'fieldSelector',
  'fieldManager',
  'force',
  'dryRun',
  'fieldValidation',
  'sendInitialEvents',
  'allowWatchBookmarks',
  'timeoutSeconds',
  'includeObject',
  'pretty',
  'propagationPolicy',
  'gracePeriodSeconds',
];
const values = [
  '',
  '0',
  '1',
  '-1',
  'true',
  'false',
  'All',
  'Strict',
  'Ignore',
  'Exact',
  'NotOlderThan',
  '99999999999999999999',
  '1e9',
  'a=b',
  'a in (b,c)',
  'a notin (',
  '!a',
  'a>1',
  'metadata.name=a',
  'status.phase!=Running',
  'spec.nope=1',
  'eyJ2IjoibWV0YS5rOHMuaW8vdjEifQ',
  'Orphan',
  '((((',
];

/** A value put in place of part of a body. */
const anything = fc.oneof(
  fc.constantFrom<unknown>(
    null,
    true,
    -1,
    1e308,
    '',
    'x'.repeat(300),
    [],
    {},
    '__proto__',
    '2026-01-01T00:00:00Z',
    '1Gi',
  ),
  fc.jsonValue({ maxDepth: 3 }),
);

/** A body with one of its values, chosen by `at`, replaced, removed or given a neighbour. */
function mutated(value: unknown, at: number, by: unknown): unknown {
  const paths: (string | number)[][] = [];
  const walk = (node: unknown, path: (string | number)[]): void => {
    if (path.length > 0) paths.push(path);
    if (typeof node !== 'object' || node === null) return;
    for (const [key, child] of Object.entries(node)) walk(child, [...path, key]);
  };
  walk(value, []);
  const copy = structuredClone(value);
  const path = paths[at % paths.length] ?? [];
  let parent = copy as Record<string | number, unknown>;
  for (const step of path.slice(0, -1)) parent = parent[step] as Record<string | number, unknown>;
  const last = path.at(-1) ?? '';
  if (at % 7 === 0) delete parent[last];
  else if (at % 5 === 0) parent[`${last}x`] = by;
  else parent[last] = by;
  return copy;
}

/** Bodies that are no body. */
const broken = fc.oneof(
  fc.constantFrom(
    '',
    'null',
    '[]',
    '{',
    '"',
    '[['.repeat(5000),
    '{"a":'.repeat(3000),
    '{"a":1,"a":2}',
    'a: &a [*a]',
    '\u0000',
    '- - -',
  ),
  fc.string({ maxLength: 60 }),
);

// Each part is mostly left alone, so that requests get deep into the server before they go wrong.
const rarely = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | null> =>
  fc.oneof({ weight: 9, arbitrary: fc.constant(null) }, { weight: 1, arbitrary });
const pair = fc.tuple(
  fc.constantFrom(...parameters),
  fc.oneof(fc.constantFrom(...values), fc.string({ maxLength: 12 })),
);
const someRequest = fc.record({
  seed: fc.constantFrom(...seeds),
  method: rarely(fc.constantFrom('GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS')),
  rest: rarely(
    fc.array(fc.oneof(fc.constantFrom(...words), fc.string({ maxLength: 8 }).map(encodeURIComponent)), {
      maxLength: 3,
    }),
  ),
  query: fc.array(pair, { maxLength: 2 }),
  type: rarely(fc.constantFrom(...types)),
  accept: rarely(fc.constantFrom(...accepts)),
  token: rarely(fc.constantFrom('Bearer joe', 'Bearer nobody', 'Bearer ', 'Basic eA==')),
  as: rarely(fc.constantFrom('joe', '', 'system:serviceaccount:default:default')),
  change: rarely(fc.record({ at: fc.nat(500), by: anything })),
  cut: rarely(fc.nat(400)),
  broken: rarely(broken),
});

type Asked = typeof someRequest extends fc.Arbitrary<infer T> ? T : never;

function bodyOf({ seed, change, cut, broken }: Asked): string {
  if (broken !== null) return broken;
  const text = JSON.stringify(change ? mutated(seed.body ?? {}, change.at, change.by) : seed.body) ?? '';
  return text.slice(0, cut ?? Infinity);
}

function requestOf(asked: Asked, signal: AbortSignal): Request {
  const { seed, query, as } = asked;
  const method = asked.method ?? seed.method;
  const url = new URL(`http://test${[seed.path, ...(asked.rest ?? [])].join('/')}`);
  for (const [name, value] of query) url.searchParams.append(name, value);
  return new Request(url, {
    method,
    signal,
    headers: {
      authorization: asked.token ?? 'Bearer admin',
      accept: asked.accept ?? json,
      'content-type': asked.type ?? seed.type,
      'user-agent': 'fuzz/1',
      ...(as === null ? {} : { 'impersonate-user': as }),
    },
    ...(method === 'GET' || method === 'HEAD' ? {} : { body: bodyOf(asked) }),
  });
}

/** 504 tells a client to come back when the version it asks for has been reached; the server promises no other of its class. */
/** Some refusals the real server answers with 500 too; they carry no reason, where a bug's says InternalError. */
const documented = (code: number, reason: unknown): boolean =>
  code < 500 || code === 504 || (code === 500 && reason === undefined);

test(
  `${plan.numRuns} mutated requests: each gets a documented code and a body to match, and memory stays bounded`,
  { timeout: 600_000 },
  async () => {
    const server = await testServer();
    expect((await server.send('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', tickets)).code).toBe(
      201,
    );
    const codes = new Map<number, number>();
    const before = heapMb();
    await fc.assert(
      fc.asyncProperty(someRequest, async (asked) => {
        const gone = new AbortController();
        const response = await server.answer(requestOf(asked, gone.signal));
        codes.set(response.status, (codes.get(response.status) ?? 0) + 1);
        const isTold = response.status >= 400 && (asked.method ?? asked.seed.method) !== 'HEAD';
        // Outside of the API there is no Status, only a page that is not there.
        const isStatus = isTold && response.headers.get('content-type') === 'application/json';
        if (isTold && !isStatus) expect(await response.text()).toBe('404 page not found\n');
        const body = isStatus ? ((await response.json()) as Record<string, unknown>) : {};
        if (isStatus) expect(body).toMatchObject({ kind: 'Status', status: 'Failure', code: response.status });
        gone.abort();
        if (!response.bodyUsed) await response.body?.cancel();
        expect(documented(response.status, body.reason), `${response.status}`).toBe(true);
        // Taken out, so that the next request is not blamed for them.
        expect(server.reports.splice(0)).toEqual([]);
      }),
      plan,
    );
    await server.idle();
    expect(heapMb() - before).toBeLessThan(mostGrowthMb);
    // A storm of refusals alone would show little: what is right must have come through as well.
    for (const code of [200, 201, 400, 401, 403, 404, 405, 409, 415, 422])
      expect(codes.get(code) ?? 0, `${code}`).toBeGreaterThan(0);
    await server.close();
  },
);

/** Megabytes in use after a full collection. */
function heapMb(): number {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
  return process.memoryUsage().heapUsed / 2 ** 20;
}
