// Answers in the shapes of a BIG-IP: JSON objects, JSON errors, and the HTML page that its web server sometimes shows instead.

export function json(status: number, body: unknown): Response {
  const text = JSON.stringify(body);
  return new Response(text, { status, headers: { 'content-type': 'application/json; charset=UTF-8' } });
}

/** `{code, message, errorStack, apiError}` as iControl REST has it. */
export function refused(status: number, message: string): Response {
  return json(status, { code: status, message, errorStack: [], apiError: 3 });
}

/** The shape that the REST framework itself answers with: 401, and 404 for what is not registered. */
export function frameworkError(status: number, message: string, request: Request): Response {
  return json(status, {
    code: status,
    message,
    referer: new URL(request.url).host,
    restOperationId: 6_611_391,
    kind: ':resterrorresponse',
  });
}

export function notRegistered(request: Request): Response {
  const { pathname, origin } = new URL(request.url);
  return frameworkError(404, `Public URI path not registered: ${origin}${pathname}`, request);
}

export function unavailablePage(): Response {
  const page =
    '<!DOCTYPE HTML PUBLIC "-//IETF//DTD HTML 2.0//EN"><html><head><title>503 Service Unavailable</title></head><body><h1>Service Unavailable</h1></body></html>';
  return new Response(page, { status: 503, headers: { 'content-type': 'text/html' } });
}
