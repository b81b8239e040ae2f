// Pointers: what one object names must be there, and be of the class that is wanted.
import type { Problem } from '@fairlead/core';
import { isRecord } from '../application.ts';
import { listOf, pointed, pointerText, type Placed, type Scene } from './scene.ts';

interface Pointer {
  from: Placed;
  /** Where in the object: `iRules/0`. */
  at: string;
  to: string;
  classes: readonly string[];
}

/** Names that mean something of AS3's own and not an object. */
const shortNames = new Set(
  'http https http2 icmp tcp tcp-half-open udp cookie destination-address msrdp source-address tls-session-id'.split(
    ' ',
  ),
);

export function pointerProblems(scene: Scene): Problem[] {
  return scene.objects.flatMap(pointersOf).flatMap(({ from, at, to, classes }) => {
    const path = pointed(from, to);
    const found = scene.byPath.get(path);
    const where = `${from.path}/${at}`;
    if (found && !classes.includes(found.object.class))
      return [
        { code: 'invalid', message: `${path} is a ${found.object.class}, not a ${classes.join(' or ')}`, path: where },
      ];
    // What lies in a tenant that is not declared here is on the device, or AS3 says so.
    if (found || !scene.tenants.has(path.split('/')[1] ?? '')) return [];
    return [{ code: 'invalid', message: `there is no ${classes[0]} ${path}`, path: where }];
  });
}

function pointersOf(from: Placed): Pointer[] {
  const { object } = from;
  const one = (at: string, value: unknown, ...classes: string[]): Pointer[] => {
    const to = pointerText(value);
    return to === undefined ? [] : [{ from, at, to, classes }];
  };
  const many = (at: string, ...classes: string[]): Pointer[] =>
    listOf(object[at]).flatMap((value, i) =>
      typeof value === 'string' && shortNames.has(value) ? [] : one(`${at}/${i}`, value, ...classes),
    );
  if (object.class === 'Pool') return many('monitors', 'Monitor');
  if (object.class === 'TLS_Server')
    return listOf(object['certificates']).flatMap((each, i) =>
      isRecord(each) ? one(`certificates/${i}/certificate`, each['certificate'], 'Certificate') : [],
    );
  if (!object.class.startsWith('Service_')) return [];
  const tlsOf = (at: 'serverTLS' | 'clientTLS', name: string) =>
    Array.isArray(object[at]) ? many(at, name) : one(at, object[at], name);
  return [
    ...one('pool', object['pool'], 'Pool'),
    ...many('iRules', 'iRule'),
    ...many('persistenceMethods', 'Persist'),
    ...tlsOf('serverTLS', 'TLS_Server'),
    ...tlsOf('clientTLS', 'TLS_Client'),
  ];
}
