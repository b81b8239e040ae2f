// AdmissionReview over HTTP, as an API server sends it to a webhook (Kubernetes, "Dynamic Admission Control").
import type { Verdict } from '@fairlead/api';
import type { Asked, Judge } from './judge.ts';

interface AdmissionReview {
  apiVersion: string;
  kind: string;
  request?: Asked & { uid: string; subResource?: string };
}

/** A Loadbalancer with hundreds of rules has a hundredth of this; an API server sends no more than 3 MiB twice. */
const longestBody = 8 * 2 ** 20;
const reviewVersion = 'admission.k8s.io/v1';

/*
   path         | what is answered
   -------------+--------------------------------------------------------
   /mutate      | the object completed, credentials gone; or refused
   /validate    | allowed or refused, with warnings; changes nothing
   /healthz     | ok
*/
export function reviewAnswer(judge: Judge): (request: Request) => Promise<Response> {
  return async (request) => {
    const path = new URL(request.url).pathname;
    if (path === '/healthz') return new Response('ok\n');
    if (path !== '/mutate' && path !== '/validate') return text(404, 'there is /mutate, /validate and /healthz');
    if (request.method !== 'POST') return text(405, 'POST an AdmissionReview');
    const review = await read(request);
    if (typeof review === 'string') return text(400, review);
    const { uid, subResource, ...asked } = review;
    const question: Asked = { ...asked, ...(subResource ? { subresource: subResource } : {}) };
    const verdict = await judge(path === '/validate' ? { ...question, dryRun: true } : question);
    return Response.json({
      apiVersion: reviewVersion,
      kind: 'AdmissionReview',
      response: { uid, ...responseOf(verdict, path === '/mutate' ? question : undefined) },
    });
  };
}

const text = (status: number, said: string): Response => new Response(`${said}\n`, { status });

/** The request, or what is wrong with what was sent. */
async function read(request: Request): Promise<NonNullable<AdmissionReview['request']> | string> {
  const body = await limited(request);
  if (body === undefined) return `the body has more than ${longestBody} bytes`;
  let review: AdmissionReview;
  try {
    review = JSON.parse(body) as AdmissionReview;
  } catch (error) {
    if (error instanceof SyntaxError) return 'the body is no JSON';
    throw error;
  }
  if (review?.kind !== 'AdmissionReview' || review.apiVersion !== reviewVersion)
    return `the body is no AdmissionReview of ${reviewVersion}`;
  if (!review.request?.uid || !review.request.resource) return 'the AdmissionReview asks nothing: it has no request';
  return review.request;
}

async function limited(request: Request): Promise<string | undefined> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of request.body ?? []) {
    length += chunk.byteLength;
    if (length > longestBody) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** `question`: the one whose object may be changed; undefined where nothing may be. */
function responseOf(verdict: Verdict, question: Asked | undefined): Record<string, unknown> {
  if (!verdict.allowed) return { allowed: false, status: { status: 'Failure', ...verdict.status } };
  const patch = question?.object === undefined || verdict.object === undefined ? [] : patchOf(question, verdict.object);
  return {
    allowed: true,
    ...(verdict.warnings ? { warnings: verdict.warnings } : {}),
    ...(patch.length > 0
      ? { patchType: 'JSONPatch', patch: Buffer.from(JSON.stringify(patch)).toString('base64') }
      : {}),
  };
}

interface Parts {
  spec?: unknown;
  status?: unknown;
  metadata?: { annotations?: Record<string, string> };
}

/** JSON patch (RFC 6902) of the parts that admission changes: in a write of the status that alone. */
function patchOf({ object, subresource }: Asked, stored: unknown): { op: string; path: string; value?: unknown }[] {
  const [before, after] = [object as Parts, stored as Parts];
  if (subresource === 'status') return [{ op: 'add', path: '/status', value: after.status }];
  const [had, has] = [before.metadata?.annotations, after.metadata?.annotations];
  const isSame = JSON.stringify(had) === JSON.stringify(has);
  return [
    { op: 'replace', path: '/spec', value: after.spec },
    ...(isSame ? [] : [{ op: has ? 'add' : 'remove', path: '/metadata/annotations', ...(has ? { value: has } : {}) }]),
  ];
}
