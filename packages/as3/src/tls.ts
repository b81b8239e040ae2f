// TLS of a listener: the profile, and a certificate that stands open until the Secret is filled in.
import { fail, ok, type Listener, type Result } from '@fairlead/core';
import type { Classed } from './application.ts';
import { openFor } from './certificates.ts';

/** Properties of the service, and the objects they point at; both empty without https. */
export function tls(listener: Listener, path: string): Result<{ service: object; objects: Record<string, Classed> }> {
  if (listener.protocol !== 'https') {
    if (listener.tls) return fail('invalid', `a ${listener.protocol} listener takes no tls`, `${path}.tls`);
    return ok({ service: {}, objects: {} });
  }
  // Profiles of the device have certificates of their own.
  if (listener.profiles?.clientTls?.length && !listener.tls) return ok({ service: { redirect80: false }, objects: {} });
  // AS3 takes a Service_HTTPS without it, and the device would then speak plain HTTP on that port.
  if (!listener.tls) return fail('invalid', 'an https listener needs tls.secretName', `${path}.tls.secretName`);
  const { secretName, sni = [] } = listener.tls;
  const named = [{ secretName, host: undefined, at: 'tls' }, ...sni.map((one, i) => ({ ...one, at: `tls.sni[${i}]` }))];
  for (const one of named) {
    if (!secretNames.test(one.secretName))
      return fail('invalid', `"${one.secretName}" cannot be the name of a Secret`, `${path}.${one.at}.secretName`);
    if (one.host !== undefined && !hosts.test(one.host))
      return fail('invalid', `"${one.host}" is no name of a server, such as a.example.com`, `${path}.${one.at}.host`);
  }
  const profile = `${listener.name}_tls`;
  const objects: Record<string, Classed> = {};
  const certificates = named.map(({ secretName: secret, host }, i) => {
    const name = certificateName(listener.name, i === 0 ? undefined : secret);
    objects[name] = { class: 'Certificate', ...openFor({ secret }) };
    // Left out, AS3 makes the first of several the default; said, it stays the default when others come before it.
    const isDefault = i === 0 && sni.length > 0;
    return {
      certificate: name,
      ...(isDefault && { sniDefault: true }),
      ...(host !== undefined && { matchToSNI: host }),
    };
  });
  return ok({
    // Without redirect80 AS3 adds a second virtual server on port 80, which takes the place of an http listener.
    service: { serverTLS: profile, redirect80: false },
    objects: { [profile]: { class: 'TLS_Server', certificates }, ...objects },
  });
}

const secretNames = /^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/;

/** A DNS name in small letters, the first label of which may be `*`. */
const hosts = /^(\*\.)?[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*$/;

/** One for each Secret, however many hosts it serves. */
const certificateName = (listener: string, secret: string | undefined): string =>
  secret === undefined ? `${listener}_certificate` : `${listener}_certificate_${secret}`;
