// From a request to a response: who asks, may they, what for; then the part of the server that does it.
import { authenticate, type Authenticators, type Peer } from './access/authenticate.ts';
import { decide, denialOf } from './access/authorize.ts';
import { impersonated } from './access/impersonate.ts';
import { issuer } from './access/account-tokens.ts';
import type { Cluster } from './cluster.ts';
import {
  aggregated,
  coreVersions,
  groupList,
  oneGroup,
  resourceList,
  versionDocument,
  wantsAggregated,
} from './discovery.ts';
import { openApiIndex, openApiV2, openApiV3 } from './openapi.ts';
import { openApiBinary } from './openapi-binary.ts';
import { targetOf, type Call } from './request.ts';
import { answerResource, isOwnGroup } from './resource-answer.ts';
import { json, pageNotFound, statusResponse } from './response.ts';
import { forbidden, failure, internal, methodNotAllowed, noSuchResource, unauthorized } from './status.ts';

export interface Serving {
  cluster: Cluster;
  authenticators: Authenticators;
  report: (message: string) => void;
}

const health = new Set(['/healthz', '/livez', '/readyz']);

/** The server as a function. Never rejects: a bug is answered with 500 and reported. */
export const answerer =
  (serving: Serving) =>
  async (request: Request, peer: Peer = {}): Promise<Response> => {
    try {
      const response = await answer(serving, request, peer);
      return request.method === 'HEAD' ? withoutBody(response) : response;
    } catch (error) {
      serving.report(
        `${request.method} ${new URL(request.url).pathname}: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`,
      );
      return statusResponse(internal(error instanceof Error ? error.message : String(error)));
    }
  };

async function withoutBody(response: Response): Promise<Response> {
  await response.body?.cancel();
  return new Response(null, { status: response.status, headers: response.headers });
}

async function answer(serving: Serving, request: Request, peer: Peer): Promise<Response> {
  const url = new URL(request.url);
  const known = await authenticate(request, peer, serving.authenticators);
  if (!known) return statusResponse(unauthorized());
  const asking = impersonated(serving.cluster, known, request);
  if ('denied' in asking)
    return statusResponse(forbidden(asking.denied, asking.denied.name, denialOf(known, asking.denied)));
  if ('broken' in asking) return brokenResponse(url, asking.broken);
  const { user } = asking;
  const target = targetOf(request.method, url);
  const call: Call = { request, url, query: url.searchParams, target, user, warnings: [] };
  const { isAllowed, reason } = decide(serving.cluster, user, target);
  if (!isAllowed) {
    const why = denialOf(user, target, reason);
    return statusResponse(
      target.resource === '' ? failure(403, 'Forbidden', `forbidden: ${why}`, {}) : forbidden(target, target.name, why),
    );
  }
  if (target.resource !== '') return answerResource(serving, call);
  if (url.pathname === '/openid/v1/jwks')
    return json({ keys: await serving.authenticators.accounts.publicKeys() }, 200, 'application/jwk-set+json');
  return document(serving.cluster, call);
}

function document({ registry }: Cluster, { request, url }: Call): Response {
  if (request.method !== 'GET' && request.method !== 'HEAD') return statusResponse(methodNotAllowed());
  // Checks of single parts (`/readyz/etcd`) are answered as the whole: there is only one part.
  if (health.has(`/${url.pathname.split('/')[1] ?? ''}`))
    return new Response('ok', { headers: { 'content-type': 'text/plain; charset=utf-8' } });
  if (url.pathname === '/.well-known/openid-configuration') return json(issuerDocument(url));
  const accept = request.headers.get('accept') ?? '';
  const segments = url.pathname.split('/').filter((segment) => segment !== '');
  const [root = '', first = '', second = '', third = ''] = segments;
  if (segments.length > (root === 'openapi' ? 5 : 3)) return pageNotFound();
  if (root === 'version') return json(versionDocument);
  if ((root === 'api' || root === 'apis') && first === '') {
    if (wantsAggregated(accept))
      return json(
        aggregated(registry, root === 'api'),
        200,
        'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList',
      );
    return json(root === 'api' ? coreVersions() : groupList(registry));
  }
  if (root === 'api') return foundIn(registry, '', resourceList(registry, '', first));
  if (root === 'apis')
    return foundIn(registry, first, second === '' ? oneGroup(registry, first) : resourceList(registry, first, second));
  if (root === 'openapi' && first === 'v2') return openApiV2Response(registry, accept);
  if (root === 'openapi' && first === 'v3' && second === '') return json(openApiIndex(registry));
  if (root === 'openapi' && first === 'v3')
    return found(second === 'api' ? openApiV3(registry, '', third) : openApiOfGroup(registry, url.pathname));
  if (root === '')
    return json({
      paths: ['/api', '/apis', '/healthz', '/livez', '/openapi/v2', '/openapi/v3', '/readyz', '/version'],
    });
  return pageNotFound();
}

const brokenResponse = (url: URL, why: string): Response =>
  new Response(`Internal Server Error: ${JSON.stringify(url.pathname)}: ${why}\n`, {
    status: 500,
    headers: { 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff' },
  });

/** Where others find the keys to check service account tokens with. */
const issuerDocument = (url: URL) => ({
  issuer,
  jwks_uri: `${url.origin}/openid/v1/jwks`,
  response_types_supported: ['id_token'],
  subject_types_supported: ['public'],
  id_token_signing_alg_values_supported: ['ES256'],
});

function openApiOfGroup(registry: Cluster['registry'], path: string) {
  const [, , , , group = '', version = ''] = path.split('/');
  return openApiV3(registry, group, version);
}

// Asked for with an @, which is no valid media type: the answer's has a dot instead, as the real server's.
const askedBinary = 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf';
const binary = 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf';

function openApiV2Response(registry: Cluster['registry'], accept: string): Response {
  const document = openApiV2(registry);
  if (!accept.startsWith(askedBinary)) return json(document);
  return new Response(openApiBinary(document), { headers: { 'content-type': binary } });
}

type Document = Record<string, unknown>;

const found = (document: Document | undefined): Response => (document ? json(document) : pageNotFound());

/** Built-in groups know their paths even where nothing is at them; what is in no such group is nowhere. */
const foundIn = (registry: Cluster['registry'], group: string, document: Document | undefined): Response =>
  !document && isOwnGroup(registry, group) ? statusResponse(noSuchResource()) : found(document);
