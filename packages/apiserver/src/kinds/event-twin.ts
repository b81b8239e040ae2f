// An Event has two faces: of the core group, as which it is kept, and of events.k8s.io. Whatever is written by one is
// read by the other.
import type { KubeObject, Tree } from '../object.ts';
import type { Twin } from '../resource.ts';

/*
   events.k8s.io             | core
   --------------------------+---------------------
   regarding                 | involvedObject
   note                      | message
   deprecatedSource          | source
   deprecatedFirstTimestamp  | firstTimestamp
   deprecatedLastTimestamp   | lastTimestamp
   deprecatedCount           | count
   reportingController       | reportingComponent
   anything else             | the same
*/
const names: [told: string, kept: string][] = [
  ['regarding', 'involvedObject'],
  ['note', 'message'],
  ['deprecatedSource', 'source'],
  ['deprecatedFirstTimestamp', 'firstTimestamp'],
  ['deprecatedLastTimestamp', 'lastTimestamp'],
  ['deprecatedCount', 'count'],
  ['reportingController', 'reportingComponent'],
];

const toKept = new Map(names);
const toTold = new Map(names.map(([told, kept]) => [kept, told]));
/** The core group always names the reporter, if only by an empty text. */
const reporters = ['reportingController', 'reportingInstance'];

function renamed(object: KubeObject, by: ReadonlyMap<string, string>, apiVersion: string): KubeObject {
  const { kind, metadata, apiVersion: _, ...rest } = object;
  const fields: Tree = Object.fromEntries(Object.entries(rest).map(([name, value]) => [by.get(name) ?? name, value]));
  return { kind, apiVersion, metadata: { ...metadata }, ...fields };
}

export const eventTwin: Twin = {
  group: '',
  resource: 'events',
  kept(object) {
    const event = renamed(object, toKept, 'v1');
    event.involvedObject ??= {};
    for (const reporter of ['reportingComponent', 'reportingInstance']) event[reporter] ??= '';
    return event;
  },
  told(object) {
    const event = renamed(object, toTold, 'events.k8s.io/v1');
    for (const reporter of reporters) if (event[reporter] === '') delete event[reporter];
    return event;
  },
};
