// TLS of a listener: the profile, and a certificate that stands open until the Secret is filled in.
import { fail, ok, type Listener, type Result } from '@fairlead/core';
import type { Classed } from './application.ts';

/** What stands in a template for a Secret's content: templates lie in ConfigMaps, where no key may be. */
export const certificateOf = (secretName: string): string => `secret:${secretName}/tls.crt`;
export const keyOf = (secretName: string): string => `secret:${secretName}/tls.key`;

/** The Secret that `text` stands for, or undefined when it is no placeholder. */
export const secretOf = (text: unknown): string | undefined =>
  typeof text === 'string' ? /^secret:([a-z0-9.-]+)\/tls\.crt$/.exec(text)?.[1] : undefined;

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
  const { secretName } = listener.tls;
  if (!/^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/.test(secretName))
    return fail('invalid', `"${secretName}" cannot be the name of a Secret`, `${path}.tls.secretName`);
  const profile = `${listener.name}_tls`;
  const certificate = `${listener.name}_certificate`;
  return ok({
    // Without redirect80 AS3 adds a second virtual server on port 80, which takes the place of an http listener.
    service: { serverTLS: profile, redirect80: false },
    objects: {
      [profile]: { class: 'TLS_Server', certificates: [{ certificate }] },
      [certificate]: { class: 'Certificate', certificate: certificateOf(secretName), privateKey: keyOf(secretName) },
    },
  });
}
