// How a configuration or a definition says where its webhook is, and which reviews it understands: what is refused.
import { invalidValue, required } from '../field-error.ts';
import { dns1035Problems, subdomainProblems } from '../names.ts';
import { isTree, listOf, textOf, treeOf, type Tree } from '../object.ts';
import type { Cause } from '../status.ts';

/** The client of a webhook, which is told of at `path`. */
export function clientCauses(config: Tree, path: string): Cause[] {
  const hasUrl = config.url !== undefined;
  if (hasUrl === isTree(config.service)) return [required(path, 'exactly one of url or service is required')];
  return hasUrl
    ? urlCauses(textOf(config.url), `${path}.url`)
    : serviceCauses(treeOf(config.service), `${path}.service`);
}

function serviceCauses(service: Tree, path: string): Cause[] {
  const causes = ['name', 'namespace'].filter((field) => !service[field]).map((field) => required(`${path}.${field}`));
  const port = Number(service.port ?? 443);
  if (port < 1 || port > 65535)
    causes.push(
      invalidValue(`${path}.port`, service.port, 'port is not valid: must be between 1 and 65535, inclusive'),
    );
  const at = textOf(service.path);
  if (at === '' || at === '/') return causes;
  const wrong = (why: string): Cause => invalidValue(`${path}.path`, at, why);
  if (at === '//') return [...causes, wrong('segment[0] may not be empty')];
  if (!at.startsWith('/')) causes.push(wrong("must start with a '/'"));
  for (const [i, step] of at.slice(1).replace(/\/$/, '').split('/').entries()) {
    if (step === '') causes.push(wrong(`segment[${i}] may not be empty`));
    else causes.push(...subdomainProblems(step).map((why) => wrong(`segment[${i}]: ${why}`)));
  }
  return causes;
}

function urlCauses(text: string, path: string): Cause[] {
  const form = '; desired format: https://host[/path]';
  if (!URL.canParse(text)) return [required(path, `url must be a valid URL${form}`)];
  const url = new URL(text);
  const causes: Cause[] = [];
  if (url.protocol !== 'https:')
    causes.push(invalidValue(path, url.protocol.slice(0, -1), `'https' is the only allowed URL scheme${form}`));
  if (url.hostname === '') causes.push(invalidValue(path, '', `host must be specified${form}`));
  if (url.username !== '' || url.password !== '')
    causes.push(invalidValue(path, url.username, 'user information is not permitted in the URL'));
  if (url.hash !== '') causes.push(invalidValue(path, url.hash.slice(1), 'fragments are not permitted in the URL'));
  if (url.search !== '')
    causes.push(invalidValue(path, url.search.slice(1), 'query parameters are not permitted in the URL'));
  return causes;
}

const reviewVersions = ['v1', 'v1beta1'];

/** The versions of a review a webhook understands, of which there must be one that the server knows; `why` when there are none. */
export function reviewVersionCauses(versions: unknown, path: string, why = ''): Cause[] {
  const list = listOf(versions).map(textOf);
  if (list.length === 0) return [required(path, why)];
  const causes = list.flatMap((version, i) =>
    list.indexOf(version) < i
      ? [invalidValue(`${path}[${i}]`, version, 'duplicate version')]
      : dns1035Problems(version).map((problem) => invalidValue(`${path}[${i}]`, version, problem)),
  );
  if (list.some((version) => reviewVersions.includes(version))) return causes;
  return [...causes, invalidValue(path, list, `must include at least one of ${reviewVersions.join(', ')}`)];
}
