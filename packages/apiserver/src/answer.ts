// From a request to a response: who asks, may they, what for; then the part of the server that does it.
import { authenticate, authorize, denialOf, impersonated, type Token } from './auth.ts';
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
import { answerResource } from './resource-answer.ts';
import { json, statusResponse } from './response.ts';
import { forbidden, failure, internal, noSuchResource, unauthorized } from './status.ts';

export interface Serving {
  cluster: Cluster;
  tokens: readonly Token[];
  report: (message: string) => void;
}

const health = new Set(['/healthz', '/livez', '/readyz']);

/** The server as a function. Never rejects: a bug is answered with 500 and reported. */
export const answerer =
  (serving: Serving) =>
  async (request: Request): Promise<Response> => {
    try {
      return await answer(serving, request);
    } catch (error) {
      serving.report(
        `${request.method} ${new URL(request.url).pathname}: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`,
      );
      return statusResponse(internal(error instanceof Error ? error.message : String(error)));
    }
  };

async function answer(serving: Serving, request: Request): Promise<Response> {
  const url = new URL(request.url);
  // Whoever watches over the process asks without a token.
  if (health.has(url.pathname)) return new Response('ok', { headers: { 'content-type': 'text/plain; charset=utf-8' } });
  const known = authenticate(request, serving.tokens);
  if (!known) return statusResponse(unauthorized());
  const user = impersonated(serving.cluster, known, request.headers);
  if ('denied' in user) return statusResponse(forbidden(user.denied, user.denied.name, denialOf(known, user.denied)));
  const target = targetOf(request.method, url);
  const call: Call = { request, url, query: url.searchParams, target, user, warnings: [] };
  if (!authorize(serving.cluster, user, target)) {
    const why = denialOf(user, target);
    return statusResponse(
      target.resource === '' ? failure(403, 'Forbidden', `forbidden: ${why}`, {}) : forbidden(target, target.name, why),
    );
  }
  return target.resource === '' ? document(serving.cluster, call) : answerResource(serving, call);
}

function document({ registry }: Cluster, { request, url }: Call): Response {
  if (request.method !== 'GET' && request.method !== 'HEAD') return statusResponse(noSuchResource());
  const accept = request.headers.get('accept') ?? '';
  const segments = url.pathname.split('/').filter((segment) => segment !== '');
  const [root = '', first = '', second = '', third = ''] = segments;
  if (segments.length > (root === 'openapi' ? 5 : 3)) return statusResponse(noSuchResource());
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
  if (root === 'api') return found(resourceList(registry, '', first));
  if (root === 'apis') return found(second === '' ? oneGroup(registry, first) : resourceList(registry, first, second));
  if (root === 'openapi' && first === 'v2') return openApiV2Response(registry, accept);
  if (root === 'openapi' && first === 'v3' && second === '') return json(openApiIndex(registry));
  if (root === 'openapi' && first === 'v3')
    return found(second === 'api' ? openApiV3(registry, '', third) : openApiOfGroup(registry, url.pathname));
  if (root === '')
    return json({
      paths: ['/api', '/apis', '/healthz', '/livez', '/openapi/v2', '/openapi/v3', '/readyz', '/version'],
    });
  return statusResponse(noSuchResource());
}

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

const found = (document: Record<string, unknown> | undefined): Response =>
  document ? json(document) : statusResponse(noSuchResource());
