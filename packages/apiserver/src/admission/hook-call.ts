// A call of somebody's webhook, for admission or conversion: where it is, how long it may take, how much it may say.
import { notAnObject, parseText, unregistered } from '../body.ts';
import type { Cluster } from '../cluster.ts';
import { isTree, textOf, treeOf, type Tree } from '../object.ts';
import { SendError, type Outgoing } from '../send.ts';
import { endpointOf } from './endpoint.ts';

export type Reply = { ok: true; body: Tree } | { ok: false; why: string };

export interface HookCall {
  /** `url` or `service`, and `caBundle`. */
  clientConfig: Tree;
  seconds: number;
  /** What is posted, and of which kind its answer is to be. */
  review: Tree & { kind: string; apiVersion: string };
  /** The API versions that kind has. */
  versions: readonly string[];
}

/** A review is at most an object and a patch of it; more than this is no answer. */
const most = 8 * 1024 * 1024;

/** Posts the review and reads the one that comes back. Never takes longer than `seconds`. */
export async function callHook(
  cluster: Cluster,
  { clientConfig, seconds, review, versions }: HookCall,
): Promise<Reply> {
  const place = placeOf(cluster, clientConfig);
  if (!place.ok) return place;
  place.value.url.searchParams.set('timeout', `${seconds}s`);
  const body = JSON.stringify(review);
  const headers = { 'content-type': 'application/json', accept: 'application/json' };
  const text = await within(cluster, seconds * 1000, (signal) =>
    posted(cluster, { ...place.value, method: 'POST', headers, body, signal }),
  );
  return text.ok ? reviewIn(text.value, review.kind, versions) : text;
}

/** The review in an answer; one that says nothing of its kind is taken for one. */
function reviewIn(text: string, kind: string, versions: readonly string[]): Reply {
  const parsed = parseText(text, !text.trimStart().startsWith('{'));
  if (!parsed.ok) return failed(`couldn't get version/kind; json parse error: ${parsed.message}`);
  const value = parsed.value ?? {};
  if (!isTree(value)) return failed(`couldn't get version/kind; json parse error: ${notAnObject(value)}`);
  const said = { kind: textOf(value.kind), apiVersion: textOf(value.apiVersion) };
  const isKnown = (said.kind || kind) === kind && (said.apiVersion === '' || versions.includes(said.apiVersion));
  return isKnown ? { ok: true, body: value } : failed(unregistered(said.kind || kind, said.apiVersion));
}

type Place = { ok: true; value: Pick<Outgoing, 'url' | 'connectTo' | 'ca'> } | { ok: false; why: string };

function placeOf(cluster: Cluster, config: Tree): Place {
  const ca = config.caBundle ? { ca: Buffer.from(textOf(config.caBundle), 'base64').toString('utf8') } : {};
  if (!isTree(config.service)) {
    const text = textOf(config.url);
    return URL.canParse(text)
      ? { ok: true, value: { url: new URL(text), ...ca } }
      : failed(`invalid URL ${JSON.stringify(text)}`);
  }
  const { name, namespace, path, port } = treeOf(config.service);
  const number = Number(port ?? 443);
  const host = `${textOf(name)}.${textOf(namespace)}.svc`;
  const url = new URL(`https://${host}:${number}${textOf(path) || '/'}`);
  const endpoint = endpointOf(cluster, { namespace: textOf(namespace), name: textOf(name), port: number });
  if (!endpoint.ok) return failed(`Post "https://${host}:${number}${textOf(path)}": ${endpoint.why}`);
  return { ok: true, value: { url, connectTo: endpoint.value, ...ca } };
}

/** Runs `work` with a signal that ends it after `ms`. */
async function within<T>(cluster: Cluster, ms: number, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const [end, over] = [new AbortController(), new AbortController()];
  void cluster.clock.sleep(ms, over.signal).then(() => end.abort());
  try {
    return await work(end.signal);
  } finally {
    over.abort();
  }
}

type Text = { ok: true; value: string } | { ok: false; why: string };

async function posted(cluster: Cluster, outgoing: Outgoing): Promise<Text> {
  try {
    const response = await cluster.send(outgoing);
    const text = await textWithin(response, outgoing.signal);
    if (text === undefined) return failed('the answer is too large');
    if (response.status >= 200 && response.status <= 299) return { ok: true, value: text };
    const type = response.headers.get('content-type') ?? '';
    return failed(statusText(response.status, type === '' || type.startsWith('text/') ? text.trim() : ''));
  } catch (error) {
    if (error instanceof SendError) return failed(error.message);
    // The answer had begun, and broke off or came to its time limit.
    if (outgoing.signal.aborted) return failed(`Post "${outgoing.url.href}": context deadline exceeded`);
    if (error instanceof Error && 'code' in error) return failed(error.message);
    throw error;
  }
}

const failed = (why: string): { ok: false; why: string } => ({ ok: false, why });

function statusText(status: number, text: string): string {
  if (status === 404) return 'the server could not find the requested resource';
  const said = text === '' ? 'unknown' : text.slice(0, 1024);
  return status >= 500
    ? `an error on the server (${JSON.stringify(said)}) has prevented the request from succeeding`
    : `the server responded with the status code ${status} but did not return more information`;
}

/** The whole text, or undefined when there is too much of it. */
async function textWithin(response: Response, signal: AbortSignal): Promise<string | undefined> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  if (!response.body) return '';
  const reader = response.body.getReader();
  const cancel = () => void reader.cancel();
  signal.addEventListener('abort', cancel, { once: true });
  for (;;) {
    const { done, value } = await reader.read();
    if (signal.aborted) throw new SendError(`Post "${response.url}": context deadline exceeded`);
    if (done) break;
    size += value.byteLength;
    if (size > most) {
      await reader.cancel();
      return undefined;
    }
    chunks.push(value);
  }
  signal.removeEventListener('abort', cancel);
  return Buffer.concat(chunks).toString('utf8');
}
