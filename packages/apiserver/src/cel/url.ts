// The URL type of Kubernetes' CEL.
import type { Environment } from '@marcbachmann/cel-js';

class CelUrl {
  readonly url: URL;
  readonly hasHost: boolean;
  constructor(url: URL, hasHost: boolean) {
    this.url = url;
    this.hasHost = hasHost;
  }
}

const nowhere = 'http://a.invalid';
// Absolute, or a path from the root: what Go's ParseRequestURI takes.
const isUrl = (text: string): boolean =>
  /^[a-zA-Z][a-zA-Z0-9+.-]*:/.test(text) ? URL.canParse(text) : text.startsWith('/') && URL.canParse(text, nowhere);

export function addUrl(environment: Environment): void {
  environment
    .registerType('kubernetes.URL', { ctor: CelUrl, fields: {} })
    .registerFunction('isURL(string): bool', isUrl)
    .registerFunction('url(string): kubernetes.URL', urlOf)
    .registerFunction('kubernetes.URL.getScheme(): string', ({ url, hasHost }: CelUrl) =>
      hasHost ? url.protocol.slice(0, -1) : '',
    )
    .registerFunction('kubernetes.URL.getHost(): string', ({ url, hasHost }: CelUrl) => (hasHost ? url.host : ''))
    .registerFunction('kubernetes.URL.getHostname(): string', ({ url, hasHost }: CelUrl) =>
      hasHost ? url.hostname.replace(/^\[|\]$/g, '') : '',
    )
    .registerFunction('kubernetes.URL.getPort(): string', ({ url }: CelUrl) => url.port)
    .registerFunction('kubernetes.URL.getEscapedPath(): string', ({ url }: CelUrl) => url.pathname)
    .registerFunction('kubernetes.URL.getQuery(): map', ({ url }: CelUrl) =>
      Object.fromEntries([...new Set(url.searchParams.keys())].map((key) => [key, url.searchParams.getAll(key)])),
    );
}

function urlOf(text: string): CelUrl {
  if (!isUrl(text)) throw new Error(`URL parse error during conversion from string: ${JSON.stringify(text)}`);
  const hasHost = !text.startsWith('/');
  return new CelUrl(hasHost ? new URL(text) : new URL(text, nowhere), hasHost);
}
