// Pools: a template that the members of a Service are filled into (spec f5.md §3.1).
import { fail, ok, type Pool, type Result } from '@fairlead/core';
import type { Classed } from './application.ts';
import { monitor } from './monitor.ts';
import { checkName } from './names.ts';

/**
 * The pool and what it points at, by name. `shareNodes` is always given: without it CIS writes null, which AS3 refuses.
 */
export function poolObjects(pool: Pool, path: string): Result<Record<string, Classed>> {
  const name = checkName(pool.name, `${path}.name`);
  if (!name.ok) return name;
  const { port } = pool.service;
  if (!Number.isInteger(port) || port < 1 || port > 65535)
    return fail('invalid', `port ${port} of Service ${pool.service.name} is not 1 to 65535`, `${path}.service.port`);
  const watched = monitor(pool, `${path}.monitor`);
  if (!watched.ok) return watched;
  const object: Classed = {
    class: 'Pool',
    loadBalancingMode: pool.balance,
    monitors: [watched.value.use],
    members: [{ servicePort: port, serverAddresses: [], shareNodes: false }],
  };
  return ok({ [pool.name]: object, ...watched.value.objects });
}
