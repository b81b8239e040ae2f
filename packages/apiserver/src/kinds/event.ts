// The rules of Events, of both their groups.
import { invalidValue, required } from '../field-error.ts';
import { textOf, type KubeObject } from '../object.ts';
import { qualifiedProblems, subdomainProblems } from '../names.ts';
import { part, type Rules } from '../resource.ts';
import type { Cause } from '../status.ts';

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
  validate(object, old) {
    if (old) return [];
    const about = 'involvedObject';
    return [...namespaceCauses(object, about), ...(object.eventTime ? reportCauses(object, 'reportingComponent') : [])];
  },
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
    if (old) return [];
    if (!object.eventTime) return [required('eventTime')];
    const causes = [...namespaceCauses(object, 'regarding'), ...reportCauses(object, 'reportingController')];
    const type = textOf(object.type);
    if (!types.includes(type)) causes.push(invalidValue('type', '', `has invalid value: ${type}`));
    return causes;
  },
  fields: {
    ...eventFields('regarding'),
    reportingController: (object) => textOf(object.reportingController ?? object.reportingComponent),
  },
};

const types = ['Normal', 'Warning'];

/** An event is kept beside what it is about; what has no namespace is told of in `default`. */
function namespaceCauses(object: KubeObject, reference: string): Cause[] {
  const { namespace } = part(object, reference);
  if (object.metadata.namespace === (textOf(namespace) || 'default')) return [];
  return [invalidValue('involvedObject.namespace', namespace ?? '', 'does not match event.namespace')];
}

const longest = 128;

function reportCauses(object: KubeObject, reporter: string): Cause[] {
  const name = textOf(object[reporter]);
  const causes = name === '' ? [required('reportingController')] : [];
  causes.push(...qualifiedProblems(name).map((why) => invalidValue('reportingController', name, why)));
  for (const field of ['reportingInstance', 'action', 'reason']) {
    const text = textOf(object[field]);
    if (text === '') causes.push(required(field));
    if (text.length > longest) causes.push(invalidValue(field, '', `can have at most ${longest} characters`));
  }
  return causes;
}
