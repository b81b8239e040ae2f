// Certificates in an application: templates that stand open for a Secret, as no key may lie in a ConfigMap or in a plan.
import { keyPairId, type KeyPair, type OpenCertificate } from '@fairlead/core';
import { byText, isClassed, isRecord, objectsOf, type Application, type Classed } from './application.ts';

/** What a certificate stands open for. With `digest`, for what the Secret held at one time. */
export interface Stand {
  secret: string;
  digest?: string | undefined;
}

/** The two properties of an open certificate: `secret:shop-tls/tls.crt`, or `secret:shop-tls/tls.crt#<digest>`. */
export function openFor({ secret, digest }: Stand): { certificate: string; privateKey: string } {
  const rest = digest === undefined ? '' : `#${digest}`;
  return { certificate: `secret:${secret}/tls.crt${rest}`, privateKey: `secret:${secret}/tls.key${rest}` };
}

/** Undefined when `text` stands for no Secret. */
function standOf(text: unknown): Stand | undefined {
  const found = typeof text === 'string' ? /^secret:([a-z0-9.-]+)\/tls\.crt(?:#([0-9a-f]+))?$/.exec(text) : null;
  const [, secret, digest] = found ?? [];
  return secret === undefined ? undefined : { secret, digest };
}

/** Names of the Secrets that certificates stand open for, sorted. */
export function secretsOf(application: Application): string[] {
  const names = objectsOf(application).flatMap(([, { certificate }]) => standOf(certificate)?.secret ?? []);
  return [...new Set(names)].toSorted(byText);
}

/** Says of open certificates what their Secret holds now; those of other Secrets are left as they are. */
export function pinned(application: Application, digests: Readonly<Record<string, string>>): Application {
  const said: Application = { ...application };
  for (const [name, object] of objectsOf(application)) {
    const stand = standOf(object['certificate']);
    const digest = stand && digests[stand.secret];
    if (stand && digest !== undefined) said[name] = { ...object, ...openFor({ secret: stand.secret, digest }) };
  }
  return said;
}

/** Without what the Secrets hold: for a comparison that knows nothing of them. */
export function unpinned(application: Application): Application {
  const said: Application = { ...application };
  for (const [name, object] of objectsOf(application)) {
    const stand = standOf(object['certificate']);
    if (stand) said[name] = { ...object, ...openFor({ secret: stand.secret }) };
  }
  return said;
}

/**
 *   certificate of `wanted`          | in `found`, under its name | then
 *   ---------------------------------+----------------------------+-------------------------------------------------
 *   no Secret, or its digest is there| –                          | as wanted
 *   the Secret cannot be used now    | a certificate              | that one stays
 *   the Secret cannot be used now    | nothing                    | left out, and with it the listeners that have no
 *                                    |                            | other; the other listeners are as wanted
 */
export function withoutOpen(
  wanted: Application,
  found: Application | undefined,
): { form: Application; open: OpenCertificate[] } {
  const form: Application = { ...wanted };
  const open: OpenCertificate[] = [];
  for (const [name, object] of objectsOf(wanted)) {
    const stand = standOf(object['certificate']);
    if (!stand || stand.digest !== undefined) continue;
    const present = found?.[name];
    const kept = isClassed(present) && present.class === object.class;
    if (kept) form[name] = present;
    else delete form[name];
    open.push({ name, secret: stand.secret, kept });
  }
  const gone = new Set(open.filter(({ kept }) => !kept).map(({ name }) => name));
  return { form: gone.size > 0 ? without(form, gone) : form, open };
}

/** Takes out what leans on certificates that are not there. */
function without(application: Application, gone: ReadonlySet<string>): Application {
  const left: Application = { ...application };
  const bare = new Set<string>();
  for (const [name, object] of objectsOf(application)) {
    if (object.class !== 'TLS_Server' || !Array.isArray(object['certificates'])) continue;
    const certificates = object['certificates'].filter((one: unknown) => !namesOne(one, gone));
    if (certificates.length === object['certificates'].length) continue;
    if (certificates.length > 0) left[name] = { ...object, certificates };
    else bare.add(name);
  }
  for (const name of bare) delete left[name];
  for (const [name, object] of objectsOf(application))
    if (typeof object['serverTLS'] === 'string' && bare.has(object['serverTLS'])) delete left[name];
  return left;
}

const namesOne = (entry: unknown, names: ReadonlySet<string>): boolean =>
  isRecord(entry) && typeof entry['certificate'] === 'string' && names.has(entry['certificate']);

/** What certificates() put in for an open certificate, and how it was before. */
export interface Opened {
  name: string;
  certificate: unknown;
  privateKey?: unknown;
  /** The chain is the Secret's, and not of the template. */
  chain?: true;
}

/** `object` with the texts of its Secret, when `keyPairs` has them. */
export function closed(
  name: string,
  object: Classed,
  keyPairs: ReadonlyMap<string, KeyPair>,
): { object: Classed; opened: Opened } | undefined {
  const stand = standOf(object['certificate']);
  const pair = stand && keyPairs.get(stand.digest === undefined ? stand.secret : keyPairId(stand.secret, stand.digest));
  if (!pair) return undefined;
  const { certificate, privateKey, ...rest } = object;
  const hasChain = pair.chain !== undefined && rest['chainCA'] === undefined;
  return {
    object: {
      ...rest,
      class: object.class,
      certificate: pair.certificate,
      privateKey: pair.privateKey,
      ...(hasChain && { chainCA: pair.chain }),
    },
    opened: { name, certificate, ...(privateKey !== undefined && { privateKey }), ...(hasChain && { chain: true }) },
  };
}

/** `object` as it was before closed(). */
export function reopened(object: Classed, { name: _name, chain, ...before }: Record<string, unknown>): Classed {
  const { certificate: _certificate, privateKey: _key, chainCA, ...rest } = object;
  return { ...rest, class: object.class, ...(chain !== true && chainCA !== undefined && { chainCA }), ...before };
}

/** The texts that a place has in a filled application, by what stands for them in the template. */
export function keyPairsIn(application: Application): Map<string, KeyPair> {
  const pairs = new Map<string, KeyPair>();
  const { constants } = application;
  const opened = isRecord(constants) && Array.isArray(constants['certificates']) ? constants['certificates'] : [];
  for (const one of opened as unknown[]) {
    const { name, certificate: template, chain } = isRecord(one) ? one : {};
    const { certificate, privateKey, chainCA } = recordOf(application[String(name)]);
    const stand = standOf(template);
    if (stand?.digest === undefined || typeof certificate !== 'string' || typeof privateKey !== 'string') continue;
    const own = chain === true && typeof chainCA === 'string' ? { chain: chainCA } : {};
    pairs.set(keyPairId(stand.secret, stand.digest), { certificate, privateKey, ...own });
  }
  return pairs;
}

const recordOf = (value: unknown): Record<string, unknown> => (isRecord(value) ? value : {});
