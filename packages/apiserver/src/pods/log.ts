// The log subresource of a pod: asked of the kubelet of the pod's node and passed on as it comes.
import type { Cluster } from '../cluster.ts';
import { invalidValue } from '../field-error.ts';
import { listOf, textOf, treeOf, type KubeObject } from '../object.ts';
import type { Call } from '../request.ts';
import { statusResponse } from '../response.ts';
import { keyOf, part } from '../resource.ts';
import { decode } from '../store.ts';
import { SendError } from '../send.ts';
import { badRequest, failure, invalid, notFound, ok, refuse, unexplained, type Cause, type Result } from '../status.ts';
import { nameOf, type Place } from '../write.ts';

/** GET of a log: the text, as long as the kubelet sends it. 204 for a pod that no node runs yet. */
export async function readLog(place: Place): Promise<Response> {
  const wanted = logUrl(place);
  if (!wanted.ok) return statusResponse(wanted.status);
  if (!wanted.value) return new Response(null, { status: 204 });
  const { cluster, call } = place;
  const answer = await asked(cluster, call, wanted.value);
  if (!answer.ok) return statusResponse(answer.status);
  if (answer.value.status !== 200) return statusResponse(await refusalOf(call, answer.value));
  return new Response(answer.value.body, {
    headers: { 'content-type': 'text/plain', 'cache-control': 'no-cache, private' },
  });
}

async function asked(cluster: Cluster, call: Call, url: URL): Promise<Result<Response>> {
  try {
    return ok(await cluster.send({ method: 'GET', url, isUnverified: true, signal: call.request.signal }));
  } catch (error) {
    if (error instanceof SendError) return refuse(unexplained(error.message));
    throw error;
  }
}

const mostSaid = 64 * 1024;

/** The kubelet's refusal under its own code. */
async function refusalOf({ target }: Call, answer: Response) {
  const said = (await answer.text()).slice(0, mostSaid).trim();
  const unreadable = `the server could not find the requested resource ( pods/log ${target.name})`;
  if (answer.status === 404) return failure(404, 'NotFound', said || unreadable, { name: target.name, kind: 'pods' });
  return answer.status === 400 ? badRequest(said) : unexplained(said);
}

/** Where the log is; undefined while the pod has no node. */
function logUrl(place: Place): Result<URL | undefined> {
  const { cluster, call, resource } = place;
  const { namespace, name } = call.target;
  const causes = optionCauses(call.query);
  if (causes.length > 0) return refuse(invalid({ group: '', kind: 'PodLogOptions' }, name, causes));
  const entry = cluster.store.get(keyOf(resource, namespace, name));
  if (!entry) return refuse(notFound(nameOf(place), name));
  const pod = decode(entry.text);
  const container = containerOf(pod, call.query.get('container') ?? '');
  if (!container.ok) return container;
  const node = textOf(part(pod, 'spec').nodeName);
  if (node === '') return ok(undefined);
  const kubelet = kubeletOf(cluster, node);
  if (!kubelet.ok) return kubelet;
  const path = ['containerLogs', namespace, name, container.value].map(encodeURIComponent).join('/');
  const url = new URL(`${kubelet.value}/${path}`);
  for (const option of passedOn) {
    const value = call.query.get(option);
    if (value !== null && value !== '') url.searchParams.set(option, value);
  }
  return ok(url);
}

const passedOn = ['follow', 'previous', 'sinceSeconds', 'sinceTime', 'timestamps', 'tailLines', 'limitBytes', 'stream'];

function optionCauses(query: URLSearchParams): Cause[] {
  const causes: Cause[] = [];
  for (const [name, least] of [
    ['tailLines', 0],
    ['limitBytes', 1],
    ['sinceSeconds', 1],
  ] as const) {
    const text = query.get(name);
    if (text === null || text === '') continue;
    const why = least === 0 ? 'must be greater than or equal to 0' : 'must be greater than 0';
    if (!(Number(text) >= least)) causes.push(invalidValue(name, Number(text), why));
  }
  if (query.get('sinceSeconds') && query.get('sinceTime'))
    causes.push({
      reason: 'FieldValueForbidden',
      message: 'Forbidden: at most one of `sinceTime` or `sinceSeconds` may be specified',
      field: '',
    });
  return causes;
}

const namesIn = (pod: KubeObject, list: string): string[] =>
  listOf(part(pod, 'spec')[list]).map((one) => textOf(treeOf(one).name));

/** The container named, or the pod's only one. */
function containerOf(pod: KubeObject, wanted: string): Result<string> {
  const [own, initial] = [namesIn(pod, 'containers'), namesIn(pod, 'initContainers')];
  const all = [...own, ...initial, ...namesIn(pod, 'ephemeralContainers')];
  const name = pod.metadata.name ?? '';
  if (wanted !== '')
    return all.includes(wanted) ? ok(wanted) : refuse(badRequest(`container ${wanted} is not valid for pod ${name}`));
  const chosen = pod.metadata.annotations?.['kubectl.kubernetes.io/default-container'];
  if (chosen !== undefined && all.includes(chosen)) return ok(chosen);
  if (own.length === 1 && all.length === 1) return ok(own[0] ?? '');
  const others = initial.length > 0 ? ` or one of the init containers: [${initial.join(' ')}]` : '';
  return refuse(
    badRequest(`a container name must be specified for pod ${name}, choose one of: [${own.join(' ')}]${others}`),
  );
}

// The address that is surely reachable first: a simulated node's host name need not resolve.
const addressTypes = ['InternalIP', 'Hostname', 'InternalDNS', 'ExternalDNS', 'ExternalIP'];

function kubeletOf(cluster: Cluster, name: string): Result<string> {
  const entry = cluster.store.get(keyOf({ group: '', resource: 'nodes', isNamespaced: false }, '', name));
  if (!entry) return refuse(notFound({ group: '', resource: 'pods' }, name));
  const status = part(decode(entry.text), 'status');
  const addresses = listOf(status.addresses).map(treeOf);
  const host = addressTypes
    .map((type) => addresses.find((one) => one.type === type)?.address)
    .find((address) => address !== undefined);
  const port = treeOf(treeOf(status.daemonEndpoints).kubeletEndpoint).Port;
  if (host === undefined) return refuse(unexplained(`no preferred addresses found; known addresses: []`));
  const text = textOf(host);
  return ok(`https://${text.includes(':') ? `[${text}]` : text}:${Number(port ?? 10250)}`);
}
