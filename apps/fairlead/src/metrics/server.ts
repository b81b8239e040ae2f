// /metrics for Prometheus, /healthz and /readyz for the kubelet.
import { fail, ok, type Result } from '@fairlead/core';
import { serve, type Served } from '../serve.ts';
import type { Metrics } from './metrics.ts';

/** `HOST:PORT`, or `PORT` on 127.0.0.1; undefined for `off`. */
export function parseListen(text: string): Result<{ host: string; port: number } | undefined> {
  if (text === 'off') return ok(undefined);
  const [, host = '127.0.0.1', port = ''] = /^(?:\[?([^\]]+)\]?:)?(\d{1,5})$/.exec(text) ?? [];
  return port !== '' && Number(port) <= 65_535
    ? ok({ host, port: Number(port) })
    : fail('invalid', `--metrics ${text}: give HOST:PORT, PORT (on 127.0.0.1), or off`);
}

/** A port that is taken already is the user's to mend. */
export async function serveMetrics(
  metrics: Pick<Metrics, 'text' | 'unready'>,
  at: { host: string; port: number },
): Promise<Result<Served>> {
  const answer = async (request: Request): Promise<Response> => {
    const { pathname } = new URL(request.url);
    if (request.method !== 'GET' && request.method !== 'HEAD') return said('only GET', 405);
    if (pathname === '/healthz') return said('ok', 200);
    if (pathname === '/readyz') {
      const why = metrics.unready();
      return why === undefined ? said('ok', 200) : said(why, 503);
    }
    if (pathname !== '/metrics') return said('there are /metrics, /healthz and /readyz', 404);
    const { text, type } = await metrics.text();
    return new Response(text, { headers: { 'content-type': type } });
  };
  try {
    return ok(await serve(answer, at));
  } catch (error) {
    return fail('taken', `--metrics ${at.host}:${at.port}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

const said = (text: string, status: number): Response =>
  new Response(`${text}\n`, { status, headers: { 'content-type': 'text/plain; charset=utf-8' } });
