// The admission and conversion webhook that cases point servers at: what it answers depends on the path alone.
import type { Json, Tree } from './case.ts';
import { isTree, partOf } from './part.ts';

export interface HookAnswer {
  status: number;
  body: string;
}

/*
   path          | answer
   --------------+------------------------------------------------------------
   /allow        | allowed
   /warn         | allowed, with two warnings
   /audit        | allowed, with an annotation for the audit log
   /deny         | not allowed, without a word
   /deny-word    | not allowed, with a message
   /deny-code    | not allowed, with a message, a reason and the code 418
   /patch        | allowed, adding data.patched
   /count        | allowed, adding one to data.count
   /bad-patch    | allowed, with a patch that does not fit
   /patch-type   | allowed, with a patch and no word of its type
   /spoil        | allowed, with a patch that makes the object invalid
   /echo         | not allowed, telling what it was asked
   /old          | not allowed, telling data.a of the object and of the old one
   /other-uid    | allowed, for another request
   /no-response  | a review without a response
   /other-kind   | something that is no review
   /garbage      | no JSON
   /fail         | 500
   /missing      | 404
   /convert      | converts, telling the wanted version in spec.converted
   /convert-fail | refuses to convert
   /hang         | never
*/
export function answerHook(path: string, body: string): HookAnswer | undefined {
  const asked = JSON.parse(body) as Tree;
  const reply = replies[path];
  if (path === '/hang') return undefined;
  if (!reply) return { status: 404, body: 'there is nothing here' };
  const answer = reply(isTree(asked['request']) ? asked['request'] : {});
  if ('status' in answer && 'body' in answer) return answer as unknown as HookAnswer;
  return { status: 200, body: JSON.stringify({ apiVersion: asked['apiVersion'], kind: asked['kind'], ...answer }) };
}

const review =
  (response: (request: Tree) => Tree) =>
  (request: Tree): Tree => ({ response: { uid: request['uid'] ?? '', ...response(request) } });
const patched = (operations: Json, rest: Tree = {}): Tree => ({
  allowed: true,
  patchType: 'JSONPatch',
  patch: btoa(JSON.stringify(operations)),
  ...rest,
});
const told = (message: string): Tree => ({ allowed: false, status: { message } });
const word = (request: Tree, path: string): string => JSON.stringify(partOf(request, path) ?? null);

/** Of a request, in the order they are told; without what differs from run to run. */
const shown = ['kind', 'resource', 'subResource', 'requestKind', 'requestResource', 'requestSubResource', 'name', 'namespace', 'operation', 'userInfo.username', 'userInfo.groups', 'dryRun', 'options']; // prettier-ignore

const replies: Record<string, (request: Tree) => Tree> = {
  '/allow': review(() => ({ allowed: true })),
  '/warn': review(() => ({ allowed: true, warnings: ['first warning', 'second "warning"'] })),
  '/audit': review(() => ({ allowed: true, auditAnnotations: { seen: 'yes' } })),
  '/deny': review(() => ({ allowed: false })),
  '/deny-word': review(() => told('not today')),
  '/deny-code': review(() => ({ allowed: false, status: { message: 'a teapot', reason: 'Teapot', code: 418 } })),
  '/patch': review(() => patched([{ op: 'add', path: '/data/patched', value: 'yes' }])),
  '/count': review((request) =>
    patched([{ op: 'add', path: '/data/count', value: String(Number(partOf(request, 'object.data.count') ?? 0) + 1) }]),
  ),
  '/bad-patch': review(() => patched([{ op: 'remove', path: '/data/nothing' }])),
  '/patch-type': review(() => ({ allowed: true, patch: btoa('[]') })),
  '/spoil': review(() => patched([{ op: 'add', path: '/data/a b', value: 'x' }])),
  '/echo': review((request) => told(shown.map((path) => `${path}=${word(request, path)}`).join(' '))),
  '/old': review((request) => told(`${word(request, 'oldObject.data.a')} -> ${word(request, 'object.data.a')}`)),
  '/other-uid': () => ({ response: { uid: 'another', allowed: true } }),
  '/no-response': () => ({}),
  '/other-kind': () => ({ kind: 'Nothing', apiVersion: 'example.com/v1' }),
  '/garbage': () => ({ status: 200, body: 'hello' }),
  '/fail': () => ({ status: 500, body: 'out of order' }),
  '/convert': (request) => ({
    response: {
      uid: request['uid'] ?? '',
      result: { status: 'Success' },
      convertedObjects: (request['objects'] as Tree[]).map((object) => ({
        ...object,
        apiVersion: request['desiredAPIVersion'] ?? '',
        spec: { ...(object['spec'] as Tree), converted: String(request['desiredAPIVersion']).split('/')[1] ?? '' },
      })),
    },
  }),
  '/convert-fail': (request) => ({
    response: {
      uid: request['uid'] ?? '',
      result: { status: 'Failure', message: 'no way to convert' },
      convertedObjects: [],
    },
  }),
};

export interface HookCall {
  url: URL;
  body?: string;
  signal: AbortSignal;
}

export interface HookSend {
  /** Makes the error of a call that was given up. */
  unanswered(url: URL): Error;
  /** Lets time pass for the caller: a hook that hangs does nothing else. */
  pass(ms: number): Promise<void>;
}

/** Longer than any timeout of a webhook. */
const tooLong = 31_000;

/** Answers as the hook does, in this process. */
export const hookSend =
  ({ unanswered, pass }: HookSend) =>
  async ({ url, body = '{}', signal }: HookCall): Promise<Response> => {
    const answer = answerHook(url.pathname, body);
    if (answer)
      return new Response(answer.body, { status: answer.status, headers: { 'content-type': 'application/json' } });
    await pass(tooLong);
    if (!signal.aborted) throw new Error(`bug: the call of ${url.href} was not given up after ${tooLong} ms`);
    throw unanswered(url);
  };
