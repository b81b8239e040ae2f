// The rules of Events, of both their groups.
import { invalidValue, required } from '../field-error.ts';
import { isEqual, isTree, textOf, type KubeObject } from '../object.ts';
import { qualifiedProblems, subdomainProblems } from '../names.ts';
import { part, type Rules } from '../resource.ts';
import type { Cause } from '../status.ts';
import { eventTwin } from './event-twin.ts';

/** Of an Event as it is kept or as events.k8s.io tells it: selectors meet both. */
const eventFields = (reference: string): NonNullable<Rules['fields']> => {
  const about = (object: KubeObject) => part(object, object.regarding === undefined ? 'involvedObject' : 'regarding');
  return Object.fromEntries([
    ...['kind', 'namespace', 'name', 'uid', 'apiVersion', 'resourceVersion', 'fieldPath'].map((field) => [
      `${reference}.${field}`,
      (object: KubeObject) => textOf(about(object)[field]),
    ]),
    ['reason', (object: KubeObject) => textOf(object.reason)],
    ['type', (object: KubeObject) => textOf(object.type)],
  ]);
};

const coreFields: NonNullable<Rules['fields']> = {
  ...eventFields('involvedObject'),
  ...Object.fromEntries([
    ['reportingComponent', (object: KubeObject) => textOf(object.reportingComponent)],
    ['source', (object: KubeObject) => textOf(part(object, 'source').component ?? object.reportingComponent)],
  ]),
};

export const event: Rules = {
  nameProblems: subdomainProblems,
  fill(object) {
    object.source ??= {};
    for (const reporter of ['reportingComponent', 'reportingInstance']) object[reporter] ??= '';
  },
  validate: (object) => legacyCauses(object, 'reportingComponent'),
  fields: coreFields,
};

/** Of events.k8s.io: it tells of one moment, and of who did what then. */
export const newEvent: Rules = {
  nameProblems: subdomainProblems,
  refusedAs: { group: '', kind: 'Event' },
  fill(object) {
    object.deprecatedSource ??= {};
  },
  validate(object, old) {
    // Told in the words of the core group, in which it is kept.
    const [event, before] = [eventTwin.kept(object), old && eventTwin.kept(old)];
    const causes = legacyCauses(event, 'reportingController');
    return [...causes, ...(before ? changeCauses(event, before) : newCauses(event))];
  },
  fields: {
    ...eventFields('regarding'),
    reportingController: (object) => textOf(object.reportingController ?? object.reportingComponent),
  },
};

const types = ['Normal', 'Warning'];

/** What every Event is held to, whichever its name. */
function legacyCauses(event: KubeObject, reporter: string): Cause[] {
  const about = textOf(part(event, 'involvedObject').namespace);
  const own = event.metadata.namespace ?? '';
  // An event is kept beside what it is about; what has no namespace is told of in `default`.
  const isApart = event.eventTime
    ? about === '' && own !== 'default' && own !== 'kube-system'
    : own !== (about || 'default');
  const causes = isApart ? [invalidValue('involvedObject.namespace', about, 'does not match event.namespace')] : [];
  return event.eventTime ? [...causes, ...reportCauses(event, reporter)] : causes;
}

const longest = 128;
const longestNote = 1024;

function reportCauses(event: KubeObject, reporter: string): Cause[] {
  const name = textOf(event.reportingComponent);
  const causes = name === '' ? [required(reporter)] : [];
  causes.push(...qualifiedProblems(name).map((why) => invalidValue(reporter, name, why)));
  for (const field of ['reportingInstance', 'action', 'reason']) {
    const text = textOf(event[field]);
    if (text === '') causes.push(required(field));
    causes.push(...lengthCauses(text, field, longest));
  }
  return [...causes, ...lengthCauses(textOf(event.message), 'message', longestNote)];
}

const lengthCauses = (text: string, field: string, most: number): Cause[] =>
  Buffer.byteLength(text) > most ? [invalidValue(field, '', `can have at most ${most} characters`)] : [];

/** A new one tells of one moment: the fields that tell of several are of old. */
function newCauses(event: KubeObject): Cause[] {
  const causes = seriesCauses(event);
  if (!event.eventTime) causes.push(required('eventTime'));
  const type = textOf(event.type);
  if (!types.includes(type)) causes.push(invalidValue('type', '', `has invalid value: ${type}`));
  const { component, host } = part(event, 'source');
  const unset = { firstTimestamp: event.firstTimestamp, lastTimestamp: event.lastTimestamp, count: event.count };
  for (const [field, value] of Object.entries({ ...unset, source: component || host }))
    if (value) causes.push(invalidValue(field, '', 'needs to be unset'));
  return causes;
}

function seriesCauses({ series }: KubeObject): Cause[] {
  if (!isTree(series)) return [];
  const causes = Number(series.count ?? 0) < 2 ? [invalidValue('series.count', '', 'should be at least 2')] : [];
  return series.lastObservedTime ? causes : [...causes, required('series.lastObservedTime')];
}

const fixedTexts = ['reason', 'message'];
const fixedLater = ['type', 'eventTime', 'action'];
const reference = ['kind', 'namespace', 'name', 'uid', 'apiVersion', 'resourceVersion', 'fieldPath'];

/** Only the series of an Event goes on. */
function changeCauses(event: KubeObject, before: KubeObject): Cause[] {
  const causes = isEqual(event.series, before.series) ? [] : seriesCauses(event);
  const kept = (field: string, value: unknown): void => {
    if (!isEqual(event[field] ?? null, before[field] ?? null))
      causes.push(invalidValue(field, value ?? null, 'field is immutable'));
  };
  const referenceForm = (of: unknown) =>
    isTree(of) ? Object.fromEntries(reference.map((field) => [goName(field), of[field] ?? ''])) : null;
  const { component = '', host = '' } = part(event, 'source');
  kept('involvedObject', referenceForm(event.involvedObject));
  for (const field of fixedTexts) kept(field, event[field] ?? '');
  kept('source', { Component: component, Host: host });
  for (const field of ['firstTimestamp', 'lastTimestamp']) kept(field, event[field]);
  kept('count', event.count ?? 0);
  // Told twice by the real server.
  kept('reason', event.reason ?? '');
  for (const field of fixedLater) kept(field, event[field] ?? '');
  kept('related', referenceForm(event.related));
  if (event.reportingComponent !== before.reportingComponent)
    causes.push(invalidValue('reportingController', event.reportingComponent, 'field is immutable'));
  kept('reportingInstance', event.reportingInstance ?? '');
  return causes;
}

const goName = (field: string): string =>
  field === 'uid' ? 'UID' : field === 'apiVersion' ? 'APIVersion' : `${field[0]?.toUpperCase()}${field.slice(1)}`;
