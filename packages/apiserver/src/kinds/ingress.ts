// The rules of Ingress and IngressClass.
import { isIP } from 'node:net';
import { invalidValue, required } from '../field-error.ts';
import { listOf, textOf, treeOf, type Tree } from '../object.ts';
import { dns1035Problems, subdomainProblems } from '../names.ts';
import { part, type Rules } from '../resource.ts';
import type { Cause } from '../status.ts';
import { ingressStatus } from './statuses.ts';

const classAnnotation = 'kubernetes.io/ingress.class';

export const ingress: Rules = {
  nameProblems: subdomainProblems,
  hasGeneration: true,
  fill(object) {
    object.status = { loadBalancer: {}, ...part(object, 'status') };
  },
  validateStatus: ingressStatus,
  validate(object, old) {
    const spec = part(object, 'spec');
    const causes: Cause[] = [];
    const chosen = object.metadata.annotations?.[classAnnotation];
    if (!old && chosen !== undefined && spec.ingressClassName && chosen !== spec.ingressClassName)
      causes.push(
        invalidValue(`annotations.${classAnnotation}`, chosen, 'must match `ingressClassName` when both are specified'),
      );
    if (listOf(spec.rules).length === 0 && !spec.defaultBackend)
      causes.push(invalidValue('spec', null, 'either `defaultBackend` or `rules` must be specified'));
    if (spec.defaultBackend) causes.push(...backendCauses(treeOf(spec.defaultBackend), 'spec.defaultBackend'));
    for (const [i, rule] of listOf(spec.rules).entries()) causes.push(...ruleCauses(treeOf(rule), `spec.rules[${i}]`));
    for (const [i, tls] of listOf(spec.tls).entries())
      for (const [j, host] of listOf(treeOf(tls).hosts).entries())
        causes.push(...hostNameCauses(textOf(host), `spec.tls[${i}].hosts[${j}]`));
    const name = spec.ingressClassName;
    if (typeof name === 'string')
      causes.push(...subdomainProblems(name).map((why) => invalidValue('spec.ingressClassName', name, why)));
    return causes;
  },
};

function ruleCauses(rule: Tree, path: string): Cause[] {
  const host = textOf(rule.host);
  const causes = host === '' ? [] : hostCauses(host, `${path}.host`);
  if (!rule.http) return causes;
  const paths = listOf(treeOf(rule.http).paths);
  if (paths.length === 0) causes.push(required(`${path}.http.paths`));
  for (const [i, entry] of paths.entries()) causes.push(...pathCauses(treeOf(entry), `${path}.http.paths[${i}]`));
  return causes;
}

const hostCauses = (host: string, path: string): Cause[] =>
  isIP(host) ? [invalidValue(path, host, 'must be a DNS name, not an IP address')] : hostNameCauses(host, path);

const wildcardHint =
  "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character (e.g. '*.example.com', regex used for validation is '\\*\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";

function hostNameCauses(host: string, path: string): Cause[] {
  if (!host.includes('*')) return subdomainProblems(host).map((why) => invalidValue(path, host, why));
  const isFit = host.startsWith('*.') && subdomainProblems(host.slice(2)).length === 0;
  return isFit ? [] : [invalidValue(path, host, wildcardHint)];
}

const badParts = ['//', '/./', '/../', '%2f', '%2F'];

function pathCauses(entry: Tree, path: string): Cause[] {
  const causes: Cause[] = [];
  const text = textOf(entry.path);
  if (!entry.pathType) causes.push(required(`${path}.pathType`, 'pathType must be specified'));
  else if (entry.pathType === 'ImplementationSpecific') {
    if (text !== '' && !text.startsWith('/'))
      causes.push(invalidValue(`${path}.path`, text, 'must be an absolute path'));
  } else if (!text.startsWith('/')) causes.push(invalidValue(`${path}.path`, text, 'must be an absolute path'));
  else {
    const found = badParts.filter((part) => text.includes(part));
    causes.push(...found.map((part) => invalidValue(`${path}.path`, text, `must not contain '${part}'`)));
  }
  return [...causes, ...backendCauses(treeOf(entry.backend), `${path}.backend`)];
}

function backendCauses(backend: Tree, path: string): Cause[] {
  if (backend.resource) {
    const why = 'cannot set both resource and service backends';
    return backend.service ? [invalidValue(path, '', why)] : [];
  }
  if (!backend.service) return [invalidValue(path, '', 'resource or service backend is required')];
  const service = treeOf(backend.service);
  const name = textOf(service.name);
  const causes =
    name === ''
      ? [required(`${path}.service.name`)]
      : dns1035Problems(name).map((why) => invalidValue(`${path}.service.name`, name, why));
  const port = treeOf(service.port);
  if (port.name && port.number) causes.push(invalidValue(path, '', 'cannot set both port name & port number'));
  else if (!port.name && !port.number) causes.push(required(path, 'port name or number is required'));
  else if (typeof port.number === 'number' && (port.number < 1 || port.number > 65535))
    causes.push(invalidValue(`${path}.service.port.number`, port.number, 'must be between 1 and 65535, inclusive'));
  return causes;
}

export const ingressClass: Rules = {
  nameProblems: subdomainProblems,
  hasGeneration: true,
  validate(object, old) {
    const controller = textOf(part(object, 'spec').controller);
    if (old && part(old, 'spec').controller !== controller)
      return [invalidValue('spec.controller', controller, 'field is immutable')];
    return controller === '' ? [required('spec.controller')] : [];
  },
};
