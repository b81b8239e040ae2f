// A listener becomes one service and, from its first day, one iRule.
import { fail, ok, parseAddress, formatAddress, reducedWeights, type Listener, type Result } from '@fairlead/core';
import type { Classed } from './application.ts';
import { irule } from './irule/irule.ts';
import { checkName, ruleName } from './names.ts';
import { tls } from './tls.ts';

const classes = { http: 'Service_HTTP', https: 'Service_HTTPS', tcp: 'Service_TCP', udp: 'Service_UDP' } as const;

/** A changed remark makes AS3 delete and recreate the virtual server, so it says nothing that could change. */
const remark = 'Made by Fairlead; edits here are overwritten';

/** The service, its rule and what they point at, by name. `place`: the device's folder, `/tenant/application`. */
export function listenerObjects(listener: Listener, place: string, path: string): Result<Record<string, Classed>> {
  const destination = checkListener(listener, path);
  if (!destination.ok) return destination;
  const secured = tls(listener, path);
  if (!secured.ok) return secured;
  const rule = irule(listener, place, path);
  if (!rule.ok) return rule;
  const weights = reducedWeights(listener.pools, `${path}.pools`);
  if (!weights.ok) return weights;
  const service: Classed = {
    class: classes[listener.protocol],
    remark,
    virtualAddresses: [destination.value],
    virtualPort: listener.port,
    // Left out, it is not "none" but cookie or source-address (spec as3.md §7.3).
    persistenceMethods: listener.persistence === 'none' ? [] : [listener.persistence],
    // Watched by the device for the virtual server's own state, and used should the rule fail.
    pool: weights.value[0]?.pool,
    iRules: [ruleName(listener.name)],
    ...secured.value.service,
  };
  return ok({
    [listener.name]: service,
    // AS3 would otherwise expand backquotes in the text.
    [ruleName(listener.name)]: { class: 'iRule', iRule: rule.value.text, expand: false },
    ...rule.value.lists,
    ...secured.value.objects,
  });
}

/** The address in canonical text. */
function checkListener(listener: Listener, path: string): Result<string> {
  const name = checkName(listener.name, `${path}.name`);
  if (!name.ok) return name;
  const { port, protocol, persistence } = listener;
  if (!Number.isInteger(port) || port < 1 || port > 65535)
    return fail('invalid', `port ${port} of listener ${listener.name} is not 1 to 65535`, `${path}.port`);
  const isHttp = protocol === 'http' || protocol === 'https';
  if (persistence === 'cookie' && !isHttp)
    return fail(
      'invalid',
      `${protocol} listener ${listener.name} cannot keep sessions by cookie; use source-address`,
      `${path}.persistence`,
    );
  if (listener.pickBy === 'x-forwarded-for' && !isHttp)
    return fail(
      'invalid',
      `${protocol} listener ${listener.name} sees no X-Forwarded-For to pick by`,
      `${path}.pickBy`,
    );
  const address = parseAddress(listener.address, `${path}.address`);
  return address.ok ? ok(formatAddress(address.value)) : address;
}
