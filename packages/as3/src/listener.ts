// A listener becomes one service and, from its first day, one iRule.
import { fail, ok, parseAddress, formatAddress, reducedWeights, type Listener, type Result } from '@fairlead/core';
import type { Classed } from './application.ts';
import { hostRule } from './irule/host-rule.ts';
import { irule } from './irule/irule.ts';
import { checkName, ruleName } from './names.ts';
import { profileWords } from './profiles.ts';
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
  const profiles = profileWords(listener, path);
  if (!profiles.ok) return profiles;
  const rule = listener.hosts ? hostRule(listener, place, path) : irule(listener, place, path);
  if (!rule.ok) return rule;
  const pool = defaultPool(listener, path);
  if (!pool.ok) return pool;
  const service: Classed = {
    class: classes[listener.protocol],
    remark,
    virtualAddresses: [destination.value],
    virtualPort: listener.port,
    // Left out, it is not "none" but cookie or source-address (spec as3.md §7.3).
    persistenceMethods: listener.persistence === 'none' ? [] : [listener.persistence],
    // Watched by the device for the virtual server's own state, and used should the rule fail.
    ...(pool.value === undefined ? {} : { pool: pool.value }),
    iRules: [...(listener.deviceRules ?? []).map((bigip) => ({ bigip })), ruleName(listener.name)],
    ...secured.value.service,
    ...profiles.value,
  };
  return ok({
    [listener.name]: service,
    // AS3 would otherwise expand backquotes in the text.
    [ruleName(listener.name)]: { class: 'iRule', iRule: rule.value.text, expand: false },
    ...rule.value.lists,
    ...secured.value.objects,
  });
}

/** Of one that goes by host and path: what takes all that no route names. Without it the rule answers itself. */
function defaultPool({ hosts, pools }: Listener, path: string): Result<string | undefined> {
  if (hosts) {
    const rest = hosts.find(({ host, match, path: of }) => host === '' && match === 'prefix' && of === '');
    return ok(rest && !rest.clients && 'pool' in rest.to ? rest.to.pool : undefined);
  }
  const weights = reducedWeights(pools, `${path}.pools`);
  // The first whatever its weight: with another default pool AS3 would make the virtual server anew.
  return weights.ok ? ok(pools[0]?.pool) : weights;
}

/** The address in canonical text. */
function checkListener(listener: Listener, path: string): Result<string> {
  const name = checkName(listener.name, `${path}.name`);
  if (!name.ok) return name;
  const { port, protocol, persistence } = listener;
  if (!Number.isInteger(port) || port < 1 || port > 65535)
    return fail('invalid', `port ${port} of listener ${listener.name} is not 1 to 65535`, `${path}.port`);
  const isHttp = protocol === 'http' || protocol === 'https';
  if (listener.hosts && !isHttp)
    return fail('invalid', `a ${protocol} listener sees no hosts and paths`, `${path}.hosts`);
  if (listener.hosts && (listener.routes.length > 0 || listener.pools.length > 0))
    return fail('invalid', `listener ${listener.name} goes by hosts; routes and pools stay empty`, `${path}.hosts`);
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
  if (listener.stickiness === 'cookie' && !isHttp)
    return fail(
      'invalid',
      `${protocol} listener ${listener.name} carries no cookie to keep a pool by; use stickiness source or random`,
      `${path}.stickiness`,
    );
  const strange = (listener.deviceRules ?? []).findIndex((rule) => !/^(\/[A-Za-z][\w.-]*){2,4}$/.test(rule));
  if (strange >= 0) {
    const why = `"${listener.deviceRules?.[strange]}" is no path of a rule on the device, such as /Common/audit`;
    return fail('invalid', why, `${path}.deviceRules[${strange}]`);
  }
  const address = parseAddress(listener.address, `${path}.address`);
  return address.ok ? ok(formatAddress(address.value)) : address;
}
