// The annotations of an Ingress that F5's controller reads (spec/f5.md §2.2), as options. Pure.
import {
  fail,
  isHostText,
  isPathText,
  ok,
  parseAddressRange,
  type Balance,
  type Monitor,
  type Result,
} from '@fairlead/core';

const prefix = 'virtual-server.f5.com/';

export interface HealthCheck {
  /** Host and path of the rule it is for, as written there. */
  place: string;
  monitor: Omit<Monitor, 'type'>;
}

/** By `host/path`: what members see instead, or where requests are sent to. */
export type Rewrites = ReadonlyMap<string, { host?: string | undefined; path?: string | undefined }>;

export interface IngressOptions {
  httpPort: number;
  httpsPort: number;
  balance: Balance;
  health: HealthCheck[];
  clientTls?: string[] | undefined;
  serverTls?: string | undefined;
  firewall?: string | undefined;
  translateAddress?: boolean | undefined;
  /** By host: the path that requests for `/` are sent to. */
  appRoots: ReadonlyMap<string, string>;
  rewrites: Rewrites;
  clients?: string[] | undefined;
  sslRedirect: boolean;
  allowHttp: boolean;
}

type Annotations = Readonly<Record<string, string>>;

/** Problems are `invalid`, with the annotation as the path. */
export function readOptions(annotations: Annotations): Result<IngressOptions> {
  const reader = new Reader(annotations);
  const options: IngressOptions = {
    httpPort: reader.port('http-port', 80),
    httpsPort: reader.port('https-port', 443),
    balance: reader.balance(),
    health: reader.health(),
    clientTls: reader.profiles('clientssl'),
    serverTls: reader.profiles('serverssl')?.[0],
    firewall: reader.path('waf'),
    translateAddress: reader.boolean(`${prefix}translate-server-address`),
    appRoots: reader.appRoots(),
    rewrites: reader.rewrites(),
    clients: reader.clients(),
    // F5's defaults for an Ingress with TLS: plain requests are sent to https.
    sslRedirect: reader.boolean('ingress.kubernetes.io/ssl-redirect') ?? true,
    allowHttp: reader.boolean('ingress.kubernetes.io/allow-http') ?? false,
  };
  if (reader.boolean(`${prefix}secure-serverssl`) && options.serverTls === undefined)
    reader.refuse(`${prefix}secure-serverssl`, 'names no profile to verify servers with; give serverssl');
  return reader.wrong ? { ok: false, problem: reader.wrong } : ok(options);
}

const balances: Record<string, Balance> = {
  'round-robin': 'round-robin',
  'least-connections-member': 'least-connections-member',
  'ratio-member': 'ratio-member',
};

/** Reads one annotation after the other, and keeps the first thing that is wrong. */
class Reader {
  wrong: ReturnType<typeof fail>['problem'] | undefined;
  readonly #annotations: Annotations;

  constructor(annotations: Annotations) {
    this.#annotations = annotations;
  }

  refuse(name: string, why: string): undefined {
    const path = `metadata.annotations[${name}]`;
    this.wrong ??= fail('invalid', `"${(this.#annotations[name] ?? '').slice(0, 200)}" ${why}`, path).problem;
  }

  port(word: string, otherwise: number): number {
    const text = this.#annotations[prefix + word];
    if (text === undefined) return otherwise;
    const port = /^[1-9][0-9]{0,4}$/.test(text) ? Number(text) : 0;
    if (port < 1 || port > 65_535) this.refuse(prefix + word, 'is no port from 1 to 65535');
    return port;
  }

  balance(): Balance {
    const text = this.#annotations[`${prefix}balance`] ?? 'round-robin';
    const balance = balances[text];
    if (!balance) this.refuse(`${prefix}balance`, `is not served; use ${Object.keys(balances).join(', ')}`);
    return balance ?? 'round-robin';
  }

  boolean(name: string): boolean | undefined {
    const text = this.#annotations[name];
    if (text === undefined || text === 'true' || text === 'false')
      return text === undefined ? undefined : text === 'true';
    return this.refuse(name, 'is neither true nor false');
  }

  path(word: string): string | undefined {
    const text = this.#annotations[prefix + word];
    return text === undefined || isDevicePath(text)
      ? text
      : this.refuse(prefix + word, 'is no path on the device, such as /Common/name');
  }

  /** One path, several between commas, or F5's `[{"bigIpProfile": "/Common/name"}]`. */
  profiles(word: string): string[] | undefined {
    const text = this.#annotations[prefix + word];
    if (text === undefined) return undefined;
    const listed = json(text);
    const names = Array.isArray(listed)
      ? listed.map((one) => (isRecord(one) ? String(one['bigIpProfile']) : String(one)))
      : split(text);
    const given = names.map((name) => (name.startsWith('/') ? name : `/${name}`));
    if (given.length > 0 && given.every(isDevicePath)) return given;
    return this.refuse(prefix + word, 'names no profile on the device, such as /Common/clientssl');
  }

  clients(): string[] | undefined {
    const name = ['allow-source-range', 'whitelist-source-range']
      .map((word) => prefix + word)
      .find((one) => this.#annotations[one] !== undefined);
    if (name === undefined) return undefined;
    const ranges = split(this.#annotations[name] ?? '');
    const isSound = ranges.length > 0 && ranges.every((range) => !range.includes('-') && parseAddressRange(range).ok);
    return isSound
      ? [...new Set(ranges)].sort()
      : this.refuse(name, 'is no list of CIDRs, such as 10.0.0.0/8,2001:db8::/32');
  }

  /** `foo.com=/approot1,bar.com=/approot2` */
  appRoots(): Map<string, string> {
    const name = `${prefix}rewrite-app-root`;
    const roots = new Map<string, string>();
    for (const entry of split(this.#annotations[name] ?? '')) {
      const [host = '', path = '', ...rest] = entry.split('=');
      if (rest.length > 0 || !isHostText(host) || path === '' || path === '/' || !isPathText(path))
        this.refuse(name, 'is not of the form host=/path,host=/path');
      roots.set(host.toLowerCase(), path);
    }
    return roots;
  }

  /** `foo.com/foo=bar.com/bar,foo.com/x=/y` */
  rewrites(): Map<string, { host?: string; path?: string }> {
    const name = `${prefix}rewrite-target-url`;
    const rewrites = new Map<string, { host?: string; path?: string }>();
    for (const entry of split(this.#annotations[name] ?? '')) {
      const [from = '', to = '', ...rest] = entry.split('=');
      const [host = '', path = ''] = cut(to);
      const isSound =
        rest.length === 0 && from !== '' && to !== '' && (host === '' || isHostText(host)) && isPathText(path);
      if (!isSound) this.refuse(name, 'is not of the form host/path=host/path');
      rewrites.set(placeText(from), { ...(host && { host }), ...(path && { path }) });
    }
    return rewrites;
  }

  /** `[{"path": "host/path", "send": "HTTP GET /health", "recv": "…", "interval": 5, "timeout": 16}]` */
  health(): HealthCheck[] {
    const name = `${prefix}health`;
    const text = this.#annotations[name];
    if (text === undefined) return [];
    const listed = json(text);
    if (!Array.isArray(listed)) return this.refuse(name, 'is no JSON list') ?? [];
    return listed.flatMap((one) => this.#healthCheck(name, isRecord(one) ? one : {}));
  }

  #healthCheck(name: string, { path, send, recv, interval, timeout }: Record<string, unknown>): HealthCheck[] {
    const asked = typeof send === 'string' ? /^(?:HTTP )?GET (\S+)/.exec(send)?.[1] : '/';
    const isNumber = (value: unknown) => value === undefined || Number.isInteger(value);
    if (typeof path !== 'string') return this.refuse(name, 'has a check without "path": the host/path of a rule') ?? [];
    if (asked === undefined) return this.refuse(name, 'has a check whose "send" is not of the form GET /path') ?? [];
    if (!isNumber(interval) || !isNumber(timeout))
      return this.refuse(name, 'has a check whose seconds are no whole numbers') ?? [];
    const monitor: HealthCheck['monitor'] = {
      path: asked,
      ...(interval !== undefined && { interval: Number(interval) }),
      ...(timeout !== undefined && { timeout: Number(timeout) }),
      ...(typeof recv === 'string' && recv !== '' && { receive: recv }),
    };
    return [{ place: placeText(path), monitor }];
  }
}

/** `host/path` for comparison: the host is empty where all are meant, and there is no slash at the end. */
export const placeText = (text: string): string =>
  text
    .replace(/^\*(?=\/|$)/, '')
    .replace(/\/+$/, '')
    .replace(/^[^/]*/, (host) => host.toLowerCase());

const cut = (text: string): [string, string] => {
  const at = text.indexOf('/');
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at)];
};

const isDevicePath = (text: string): boolean => /^\/[A-Za-z][\w.-]*(?:\/[A-Za-z][\w.-]*){1,2}$/.test(text);

const split = (text: string): string[] =>
  text
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '');

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function json(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    // A plain list of names is no JSON, and who needs a list says so.
    return undefined;
  }
}
