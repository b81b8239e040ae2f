// Health monitors: AS3's own short names where nothing is asked for, a Monitor object otherwise.
import { fail, ok, type Listener, type Monitor, type Pool, type Result } from '@fairlead/core';
import type { Classed } from './application.ts';

const transports = { http: 'tcp', https: 'tcp', tcp: 'tcp', udp: 'udp', icmp: 'any' } as const;

/** A monitor of the other transport says down for members that are well: AS3 takes it, and the pool has no member up. */
export function checkMonitor(pool: Pool, listener: Listener, path: string): Result<void> {
  const asks = transports[pool.monitor.type];
  const carries = transports[listener.protocol];
  if (asks === 'any' || asks === carries) return ok(undefined);
  const why = `pool ${pool.name} of ${listener.protocol} listener ${listener.name} has a ${pool.monitor.type} monitor`;
  return fail('invalid', `${why}; use ${carries === 'udp' ? 'udp' : 'http, https or tcp'}, or icmp`, path);
}

/**
 * What goes in a pool's `monitors`, and the object it points at, if it needs one. A path asks for status 2xx or 3xx, as
 * a kubelet's probe does; without one the device's own monitor of that type is used, which takes any answer. The
 * timeout is 3 intervals and a second when not given: F5's rule, so that the third probe has time to fail.
 */
export function monitor(pool: Pool, path: string): Result<{ use: unknown; objects: Record<string, Classed> }> {
  const { type, path: asked, receive, interval = 5, timeout = 3 * interval + 1 } = pool.monitor;
  if (isPlain(pool.monitor)) return ok({ use: type, objects: {} });
  if (!Number.isInteger(interval) || interval < 1 || interval > 3600)
    return fail('invalid', `the interval of a monitor is 1 to 3600 seconds, not ${interval}`, `${path}.interval`);
  if (!Number.isInteger(timeout) || timeout <= interval || timeout > 900)
    return fail(
      'invalid',
      `the timeout of a monitor is above its interval and at most 900 seconds, not ${timeout}`,
      `${path}.timeout`,
    );
  const name = `${pool.name}_monitor`;
  const object: Classed = { class: 'Monitor', monitorType: type, interval, timeout };
  if (receive !== undefined && (asked === undefined || !/^[A-Za-z0-9 \-._:/<>=,]{1,128}$/.test(receive)))
    return fail(
      'invalid',
      'what a monitor waits for needs a path, and has letters, digits, spaces and -._:/<>=, only',
      `${path}.receive`,
    );
  if (asked === undefined) return ok({ use: { use: name }, objects: { [name]: object } });
  if (type !== 'http' && type !== 'https') return fail('invalid', `a ${type} monitor takes no path`, `${path}.path`);
  // RFC 3986 without quotes: the device sees this inside a quoted string, and AS3 expands backquotes.
  if (!/^\/[A-Za-z0-9\-._~%!&()*+,;=:@/?]{0,254}$/.test(asked))
    return fail(
      'invalid',
      `"${asked}" is no path for a monitor; it begins with "/" and has letters, digits and -._~%!&()*+,;=:@/?`,
      `${path}.path`,
    );
  const http = { send: `GET ${asked} HTTP/1.0\\r\\n\\r\\n`, receive: receive ?? '^HTTP/1[.][01] [23]' };
  return ok({ use: { use: name }, objects: { [name]: { ...object, ...http } } });
}

const isPlain = ({ path, interval, timeout, receive }: Monitor): boolean =>
  path === undefined && receive === undefined && interval === undefined && timeout === undefined;
