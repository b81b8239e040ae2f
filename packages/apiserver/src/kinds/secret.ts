// The rules of Secrets: what a secret of each type must hold, and what its writer is told of it.
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { invalidValue, required } from '../field-error.ts';
import { parseJson } from '../json.ts';
import { textOf, type KubeObject } from '../object.ts';
import { subdomainProblems } from '../names.ts';
import { part, type Rules } from '../resource.ts';
import type { Cause } from '../status.ts';
import { base64Causes, dataCauses, immutableCauses } from './contents.ts';

const accountAnnotation = 'kubernetes.io/service-account.name';

/*
   type                                | must hold
   ------------------------------------+---------------------------------------------------
   kubernetes.io/tls                   | tls.crt and tls.key
   kubernetes.io/ssh-auth              | ssh-privatekey
   kubernetes.io/basic-auth            | username or password
   kubernetes.io/dockerconfigjson      | .dockerconfigjson, which is JSON
   kubernetes.io/dockercfg             | .dockercfg, which is JSON
   kubernetes.io/service-account-token | the annotation kubernetes.io/service-account.name
*/
const keysOf: Record<string, string[]> = {
  'kubernetes.io/tls': ['tls.crt', 'tls.key'],
  'kubernetes.io/ssh-auth': ['ssh-privatekey'],
  'kubernetes.io/dockerconfigjson': ['.dockerconfigjson'],
  'kubernetes.io/dockercfg': ['.dockercfg'],
};
const jsonTypes = ['kubernetes.io/dockerconfigjson', 'kubernetes.io/dockercfg'];

export const secret: Rules = {
  nameProblems: subdomainProblems,
  fill(object) {
    // stringData is for writing only: it becomes data, over what data says.
    const texts = Object.entries(part(object, 'stringData'));
    if (texts.length > 0) {
      const coded = texts.map(([key, value]) => [key, Buffer.from(textOf(value)).toString('base64')]);
      object.data = { ...part(object, 'data'), ...Object.fromEntries(coded) };
    }
    delete object.stringData;
  },
  validate(object, old) {
    const causes = [
      ...dataCauses(object, ['data'], 'data'),
      ...base64Causes(object, 'data'),
      ...immutableCauses(object, old, ['data']),
    ];
    if (old && old.type !== object.type) causes.push(invalidValue('type', object.type, 'field is immutable'));
    return [...causes, ...typeCauses(object)];
  },
  warnings: (object) => (object.type === 'kubernetes.io/tls' ? pairProblems(object) : []),
  fields: { type: (object) => textOf(object.type) },
};

function typeCauses(object: KubeObject): Cause[] {
  const type = textOf(object.type);
  const has = (key: string): boolean => Object.hasOwn(part(object, 'data'), key);
  const missing = (key: string): Cause => required(`data[${key}]`);
  if (type === 'kubernetes.io/service-account-token') {
    const account = object.metadata.annotations?.[accountAnnotation];
    return account ? [] : [required(`metadata.annotations[${accountAnnotation}]`)];
  }
  if (type === 'kubernetes.io/basic-auth')
    return has('username') || has('password') ? [] : ['username', 'password'].map(missing);
  const causes = (keysOf[type] ?? []).filter((key) => !has(key)).map(missing);
  return jsonTypes.includes(type) && causes.length === 0 ? jsonCauses(object, keysOf[type]?.[0] ?? '') : causes;
}

function jsonCauses(object: KubeObject, key: string): Cause[] {
  const parsed = parseJson(decoded(object, key));
  // The contents stay out of the message: it ends up in logs.
  return parsed.ok ? [] : [invalidValue(`data[${key}]`, '<secret contents redacted>', parsed.message)];
}

const decoded = (object: KubeObject, key: string): string =>
  Buffer.from(textOf(part(object, 'data')[key]), 'base64').toString();

/** Why the certificate and the key cannot be served with; the secret is taken all the same. */
function pairProblems(object: KubeObject): string[] {
  const certificate = decoded(object, 'tls.crt');
  const key = decoded(object, 'tls.key');
  if (!certificate.includes('-----BEGIN ')) return ['tls: failed to find any PEM data in certificate input'];
  if (!key.includes('-----BEGIN ')) return ['tls: failed to find any PEM data in key input'];
  try {
    const isPair = new X509Certificate(certificate).checkPrivateKey(createPrivateKey(key));
    return isPair ? [] : ['tls: private key does not match public key'];
  } catch (problem) {
    return [`tls: ${problem instanceof Error ? problem.message : String(problem)}`];
  }
}
