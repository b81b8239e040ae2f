// `fairlead canary …`: writes what the user wants into an Lbcanary, and shows what the controller makes of it.
import { isCanaryEnded, lbcanaries, lbrules, lbtickets, type Lbcanary, type WeightedService } from '@fairlead/api';
import { fail, ok, type Result } from '@fairlead/core';
import type { Kube } from '@fairlead/kube';
import { lines, nameOf, news, table } from './canary-text.ts';
import { systemClock } from './clock.ts';
import { connectManagement } from './connect.ts';

export interface CanaryOptions {
  kubeconfig: string | undefined;
  management: string;
  /** Of the canary; a name may bring its own. */
  namespace?: string;
  wait?: boolean;
}

export interface StartOptions extends CanaryOptions {
  ticket: string;
  listner: string;
  rule?: string;
  /** `NAME` or `NAME:PORT`. */
  service: string;
  steps?: number[];
  pause?: string;
  maxErrorRatio?: number;
  minRequests?: number;
  minAvailable?: number;
  manual: boolean;
}

export interface StatusOptions extends CanaryOptions {
  watch: boolean;
  output: 'text' | 'json';
}

interface Place {
  kube: Kube;
  at: { namespace: string; name: string };
}

type Work = (place: Place) => Promise<Result<Lbcanary>>;

const fieldManager = 'fairlead-canary';

export const canaryStart = (name: string, options: StartOptions) =>
  wish(name, options, (place) => start(place, options));

export const canaryShift = (name: string, options: CanaryOptions & { step?: number }) =>
  wish(name, options, async (place) => {
    const found = await place.kube.get(lbcanaries, place.at);
    if (!found.ok) return found;
    const { spec, status } = found.value;
    const step = options.step ?? Math.max(spec.step ?? 0, status?.step ?? 0) + 1;
    if (step > spec.steps.length)
      return fail(
        'invalid',
        `step ${step} is beyond the last (${spec.steps.length}); fairlead canary promote gives it everything`,
      );
    return edit(place, { step });
  });

/** Pause, resume, promote and roll back are one field. */
export const canaryState = (name: string, options: CanaryOptions, state: Lbcanary['spec']['state']) =>
  wish(name, options, (place) => edit(place, { state }));

async function wish(name: string, options: CanaryOptions, work: Work): Promise<number> {
  const place = await placeOf(name, options);
  const done = place.ok ? await work(place.value) : place;
  if (!place.ok || !done.ok) return told(done);
  if (options.wait) return follow(place.value, done.value);
  process.stdout.write(`${lines(done.value, systemClock.now()).join('\n')}\n`);
  return 0;
}

async function placeOf(name: string, options: CanaryOptions): Promise<Result<Place>> {
  const management = await connectManagement(options);
  if (!management.ok) return management;
  const [first = '', second] = name.split('/');
  if (second !== undefined && options.namespace !== undefined && options.namespace !== first)
    return fail('invalid', `${name} is in namespace ${first}, and -n says ${options.namespace}: leave one of them out`);
  const { namespace = 'default' } = options;
  const at = second === undefined ? { namespace, name: first } : { namespace: first, name: second };
  return ok({ kube: management.value, at });
}

function told(result: Result<unknown>): number {
  if (result.ok) return 0;
  const { path, message } = result.problem;
  process.stderr.write(`fairlead canary: ${path ? `${path}: ` : ''}${message}\n`);
  return 1;
}

const edit = ({ kube, at }: Place, spec: Partial<Lbcanary['spec']>): Promise<Result<Lbcanary>> =>
  kube.patch(lbcanaries, at, { type: 'merge', body: { spec } }, { fieldManager });

async function start(place: Place, options: StartOptions): Promise<Result<Lbcanary>> {
  const { kube, at } = place;
  const before = await kube.get(lbcanaries, at);
  if (before.ok && !isCanaryEnded(before.value))
    return fail(
      'exists',
      `Lbcanary ${nameOf(before.value)} is at work (${before.value.status?.phase ?? 'new'}): roll it back, finish it, or take another name`,
    );
  if (!before.ok && before.problem.code !== 'missing') return before;
  const [service = '', given] = options.service.split(':');
  const port = given === undefined ? await portOf(place, options, service) : ok(Number(given));
  if (!port.ok) return port;
  if (before.ok) {
    const gone = await kube.remove(lbcanaries, at);
    if (!gone.ok) return gone;
  }
  const { steps, pause, maxErrorRatio, minRequests, minAvailable } = options;
  const spec = {
    lbticket: options.ticket,
    listner: options.listner,
    service,
    port: port.value,
    ...(options.rule === undefined ? {} : { lbrule: options.rule }),
    ...(steps === undefined ? {} : { steps }),
    ...(pause === undefined ? {} : { pause }),
    ...(maxErrorRatio === undefined ? {} : { maxErrorRatio }),
    ...(minRequests === undefined ? {} : { minRequests }),
    ...(minAvailable === undefined ? {} : { minAvailable }),
    ...(options.manual ? { mode: 'manual' } : {}),
  };
  const object = { apiVersion: 'ebcpaas.lb/v1', kind: 'Lbcanary', metadata: at, spec };
  // What is left out gets its default from the server.
  return kube.create(lbcanaries, object as Lbcanary, { fieldManager, fieldValidation: 'Strict' });
}

/** Of a Service that is named without a port: the one that the listner or rule uses. */
async function portOf(place: Place, options: StartOptions, service: string): Promise<Result<number>> {
  const services = await servicesOf(place, {
    lbticket: options.ticket,
    listner: options.listner,
    lbrule: options.rule,
  });
  if (!services.ok) return services;
  const ports = services.value.filter((one) => one.service === service).map(({ port }) => port);
  const [port] = ports;
  if (port !== undefined && ports.length === 1) return ok(port);
  const known = services.value.map((one) => `${one.service}:${one.port}`).join(', ') || 'none';
  return fail(
    'missing',
    `--service ${options.service}: name one of ${known}; a new Service is added there with weight 0 first`,
  );
}

interface Target {
  lbticket: string;
  listner: string;
  lbrule?: string | undefined;
}

async function servicesOf({ kube, at }: Place, target: Target): Promise<Result<WeightedService[]>> {
  if (target.lbrule !== undefined) {
    const rule = await kube.get(lbrules, { ...at, name: target.lbrule });
    return rule.ok ? ok(rule.value.spec.services) : rule;
  }
  const ticket = await kube.get(lbtickets, { ...at, name: target.lbticket });
  if (!ticket.ok) return ticket;
  return ok(ticket.value.spec.listners?.find(({ name }) => name === target.listner)?.services ?? []);
}

/** Writes a promoted canary's weights into its ticket or rule, with the rights of who asks, and removes the canary. */
export async function canaryFinish(name: string, options: CanaryOptions): Promise<number> {
  const place = await placeOf(name, options);
  return told(place.ok ? await finish(place.value) : place);
}

async function finish(place: Place): Promise<Result<unknown>> {
  const { kube, at } = place;
  const found = await kube.get(lbcanaries, at);
  if (!found.ok) return found;
  const canary = found.value;
  const settled = canary.status?.phase === 'promoted' ? await settle(place, canary) : ok('nothing to write');
  if (!settled.ok) return settled;
  if (canary.status?.phase !== 'promoted' && !isCanaryEnded(canary))
    return fail(
      'invalid',
      `Lbcanary ${nameOf(canary)} is at work (${canary.status?.phase ?? 'new'}): promote it, or roll it back, before it is finished`,
    );
  const gone = await kube.remove(lbcanaries, at);
  if (gone.ok) process.stdout.write(`${settled.value}; Lbcanary ${nameOf(canary)} is removed\n`);
  return gone;
}

async function settle({ kube, at }: Place, { spec }: Lbcanary): Promise<Result<string>> {
  const everything = (services: readonly WeightedService[]) =>
    services.map((one) => ({ ...one, weight: one.service === spec.service && one.port === spec.port ? 100 : 0 }));
  if (spec.lbrule !== undefined) {
    const rule = await kube.get(lbrules, { ...at, name: spec.lbrule });
    if (!rule.ok) return rule;
    const { resourceVersion } = rule.value.metadata;
    const body = { metadata: { resourceVersion }, spec: { services: everything(rule.value.spec.services) } };
    const written = await kube.patch(lbrules, { ...at, name: spec.lbrule }, { type: 'merge', body }, { fieldManager });
    return written.ok ? ok(`Lbrule ${spec.lbrule} gives all its requests to ${spec.service}`) : written;
  }
  const ticket = await kube.get(lbtickets, { ...at, name: spec.lbticket });
  if (!ticket.ok) return ticket;
  const { resourceVersion } = ticket.value.metadata;
  const listners = ticket.value.spec.listners?.map((one) =>
    one.name === spec.listner ? { ...one, services: everything(one.services) } : one,
  );
  const body = { metadata: { resourceVersion }, spec: { listners } };
  const written = await kube.patch(
    lbtickets,
    { ...at, name: spec.lbticket },
    { type: 'merge', body },
    { fieldManager },
  );
  return written.ok
    ? ok(`listner ${spec.listner} of Lbticket ${spec.lbticket} gives all its requests to ${spec.service}`)
    : written;
}

export async function canaryStatus(name: string | undefined, options: StatusOptions): Promise<number> {
  if (name === undefined) return listCanaries(options);
  const place = await placeOf(name, options);
  if (!place.ok) return told(place);
  const { kube, at } = place.value;
  const found = await kube.get(lbcanaries, at);
  if (!found.ok) return told(found);
  process.stdout.write(
    options.output === 'json' ? json(found.value) : `${lines(found.value, systemClock.now()).join('\n')}\n`,
  );
  return options.watch ? follow(place.value, found.value) : 0;
}

async function listCanaries({ namespace, output, ...options }: StatusOptions): Promise<number> {
  const management = await connectManagement(options);
  if (!management.ok) return told(management);
  const all = await management.value.list(lbcanaries, namespace === undefined ? {} : { namespace });
  if (!all.ok && all.problem.code === 'denied' && namespace === undefined) {
    const { message } = all.problem;
    return told(
      fail('denied', `${message}; to see those of one namespace give it: fairlead canary status -n NAMESPACE`),
    );
  }
  if (!all.ok) return told(all);
  process.stdout.write(output === 'json' ? json(all.value.items) : `${table(all.value.items).join('\n')}\n`);
  return 0;
}

const json = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;

const between = 1000;

/** Prints what happens until nothing more will by itself. 0: it is as it was wished; 1: the canary went back. */
async function follow({ kube, at }: Place, first: Lbcanary): Promise<number> {
  let before: Lbcanary = first;
  process.stdout.write(`${nameOf(first)}: ${first.spec.state}, steps ${first.spec.steps.join(', ')}\n`);
  for (;;) {
    const end = endOf(before);
    if (end !== undefined) return end;
    await systemClock.sleep(between);
    const got = await kube.get(lbcanaries, at);
    if (!got.ok && got.problem.code === 'missing') return told(got);
    if (!got.ok) continue;
    for (const line of news(before, got.value)) process.stdout.write(`${line}\n`);
    before = got.value;
  }
}

function endOf({ metadata, spec, status }: Lbcanary): number | undefined {
  if (status?.observedGeneration !== metadata.generation) return undefined;
  const isThere = status?.conditions?.some(({ type, status: is }) => type === 'Programmed' && is === 'True');
  if (status?.phase === 'promoted') return isThere ? 0 : undefined;
  if (status?.phase === 'aborted') return 1;
  if (status?.phase === 'rolledback') return isThere ? (spec.state === 'rolledback' ? 0 : 1) : undefined;
  const isByHand = spec.mode === 'manual' || spec.state === 'paused';
  return isByHand && status?.phase === 'shifting' && isThere ? 0 : undefined;
}
