// What a service takes from the device itself, by reference: profiles and policies that somebody made there.
import { fail, ok, type Listener, type Result } from '@fairlead/core';

/** Words of the service. Problems are `invalid`: AS3 would put any text into its script. */
export function profileWords({ profiles = {}, protocol, tls }: Listener, path: string): Result<object> {
  const { clientTls, serverTls, firewall, translateAddress } = profiles;
  for (const [field, names] of Object.entries({ clientTls, serverTls: some(serverTls), firewall: some(firewall) })) {
    const wrong = names?.find((name) => !/^\/[A-Za-z][\w.-]*(?:\/[A-Za-z][\w.-]*){1,2}$/.test(name));
    if (wrong !== undefined)
      return fail(
        'invalid',
        `"${wrong}" is no path on the device, such as /Common/${field}`,
        `${path}.profiles.${field}`,
      );
  }
  if (clientTls && (protocol !== 'https' || tls))
    return fail('invalid', 'profiles of TLS take the place of a Secret, on https only', `${path}.profiles.clientTls`);
  const reference = (name: string) => ({ bigip: name });
  const [first, ...others] = clientTls ?? [];
  return ok({
    ...(first !== undefined && { serverTLS: others.length > 0 ? clientTls?.map(reference) : reference(first) }),
    ...(serverTls !== undefined && { clientTLS: reference(serverTls) }),
    ...(firewall !== undefined && { policyWAF: reference(firewall) }),
    ...(translateAddress !== undefined && { translateServerAddress: translateAddress }),
  });
}

const some = (name: string | undefined): string[] | undefined => (name === undefined ? undefined : [name]);
