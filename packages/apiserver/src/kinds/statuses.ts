// What the status of a kind may say when it is written through its subresource; its spec is not looked at again.
import { isIP } from 'node:net';
import { duplicate, forbiddenField, invalidValue, required, tooLong, unsupported } from '../field-error.ts';
import { qualifiedProblems, subdomainProblems } from '../names.ts';
import { listOf, textOf, treeOf, type KubeObject, type Tree } from '../object.ts';
import { part, type Rules } from '../resource.ts';
import type { Cause } from '../status.ts';
import { negativeCauses } from './amounts.ts';
import { addressCauses } from './ip.ts';

type StatusRule = NonNullable<Rules['validateStatus']>;

const numberIn = (status: Tree, field: string): number => Number(status[field] ?? 0);

/** Of counts: those that may be no more than all pods, and which of them the available ones are among. */
interface Counts {
  fields: string[];
  withinAll: string[];
  ready: string;
  /** Counted on, never back. */
  collisions: boolean;
}

const countsRule =
  ({ fields, withinAll, ready, collisions }: Counts): StatusRule =>
  (object, old) => {
    const status = part(object, 'status');
    const causes = negativeCauses(status, 'status', ...fields);
    for (const field of withinAll)
      if (numberIn(status, field) > numberIn(status, 'replicas'))
        causes.push(beyond(status, field, 'cannot be greater than status.replicas'));
    if (withinAll.length > 0 && numberIn(status, 'availableReplicas') > numberIn(status, 'readyReplicas'))
      causes.push(beyond(status, 'availableReplicas', `cannot be greater than ${ready}`));
    if (collisions && numberIn(status, 'collisionCount') < numberIn(part(old, 'status'), 'collisionCount'))
      causes.push(beyond(status, 'collisionCount', 'cannot be decremented'));
    return causes;
  };

const beyond = (status: Tree, field: string, why: string): Cause =>
  invalidValue(`status.${field}`, numberIn(status, field), why);

export const deploymentStatus = countsRule({
  fields: [
    'observedGeneration',
    'replicas',
    'updatedReplicas',
    'readyReplicas',
    'availableReplicas',
    'unavailableReplicas',
    'terminatingReplicas',
    'collisionCount',
  ],
  withinAll: ['updatedReplicas', 'readyReplicas', 'availableReplicas'],
  ready: 'readyReplicas',
  collisions: true,
});

export const replicaSetStatus = countsRule({
  fields: [
    'replicas',
    'fullyLabeledReplicas',
    'readyReplicas',
    'availableReplicas',
    'observedGeneration',
    'terminatingReplicas',
  ],
  withinAll: ['fullyLabeledReplicas', 'readyReplicas', 'availableReplicas'],
  ready: 'readyReplicas',
  collisions: false,
});

export const statefulSetStatus = countsRule({
  fields: [
    'replicas',
    'readyReplicas',
    'currentReplicas',
    'updatedReplicas',
    'availableReplicas',
    'observedGeneration',
    'collisionCount',
  ],
  withinAll: ['readyReplicas', 'currentReplicas', 'updatedReplicas', 'availableReplicas'],
  ready: 'status.readyReplicas',
  collisions: true,
});

export const daemonSetStatus = countsRule({
  fields: [
    'currentNumberScheduled',
    'numberMisscheduled',
    'desiredNumberScheduled',
    'numberReady',
    'observedGeneration',
    'updatedNumberScheduled',
    'numberAvailable',
    'numberUnavailable',
    'collisionCount',
  ],
  withinAll: [],
  ready: '',
  collisions: true,
});

const ingressPath = 'status.loadBalancer.ingress';
const entriesOf = (object: KubeObject): Tree[] =>
  listOf(treeOf(part(object, 'status').loadBalancer).ingress).map(treeOf);

export const serviceStatus: StatusRule = (object, old) => {
  const entries = entriesOf(object);
  if (entries.length > 0 && part(object, 'spec').type !== 'LoadBalancer')
    return [forbiddenField(ingressPath, "may only be used when `spec.type` is 'LoadBalancer'")];
  return entries.flatMap((entry, i) => [
    ...entryAddressCauses(entry, old, `${ingressPath}[${i}]`),
    ...modeCauses(entry, `${ingressPath}[${i}].ipMode`),
    ...entryNameCauses(entry, `${ingressPath}[${i}]`),
  ]);
};

export const ingressStatus: StatusRule = (object, old) =>
  entriesOf(object).flatMap((entry, i) => [
    ...entryAddressCauses(entry, old, `${ingressPath}[${i}]`),
    ...entryNameCauses(entry, `${ingressPath}[${i}]`),
  ]);

/** An address that was there before may stay, whatever it is. */
function entryAddressCauses({ ip }: Tree, old: KubeObject, path: string): Cause[] {
  const address = textOf(ip);
  const isKept = entriesOf(old).some((before) => before.ip === address);
  return address === '' || isKept ? [] : addressCauses(address, `${path}.ip`);
}

const modes = ['Proxy', 'VIP'];

function modeCauses({ ip, ipMode }: Tree, path: string): Cause[] {
  if (!ip) return ipMode === undefined ? [] : [forbiddenField(path, 'may not be specified when `ip` is not set')];
  if (ipMode === undefined) return [required(path, 'must be specified when `ip` is set')];
  return modes.includes(textOf(ipMode)) ? [] : [unsupported(path, ipMode, modes)];
}

function entryNameCauses({ hostname }: Tree, path: string): Cause[] {
  const name = textOf(hostname);
  if (name === '') return [];
  const causes = subdomainProblems(name).map((why) => invalidValue(`${path}.hostname`, name, why));
  return isIP(name) === 0
    ? causes
    : [...causes, invalidValue(`${path}.hostname`, name, 'must be a DNS name, not an IP address')];
}

export const namespaceStatus: StatusRule = (object) => {
  const isGoing = object.metadata.deletionTimestamp !== undefined;
  const wanted = isGoing ? 'Terminating' : 'Active';
  const { phase = '' } = part(object, 'status');
  const why = `may only be '${wanted}' if \`deletionTimestamp\` is ${isGoing ? 'not ' : ''}empty`;
  return phase === wanted ? [] : [invalidValue('status.Phase', phase, why)];
};

export const budgetStatus: StatusRule = (object) => {
  const status = part(object, 'status');
  return [
    ...conditionsCauses(listOf(status.conditions).map(treeOf), 'status.conditions'),
    ...negativeCauses(status, 'status', 'disruptionsAllowed', 'currentHealthy', 'desiredHealthy', 'expectedPods'),
  ];
};

export const policyStatus: StatusRule = (object) => {
  const status = part(object, 'status');
  const warnings = listOf(treeOf(status.typeChecking).expressionWarnings).map(treeOf);
  const at = 'status.typeChecking.expressionWarnings';
  return [
    ...warnings.flatMap(({ warning, fieldRef }, i) => [
      ...(textOf(warning) === '' ? [required(`${at}[${i}].warning`)] : []),
      ...(textOf(fieldRef).trim() === '' ? [required(`${at}[${i}].fieldRef`)] : []),
    ]),
    ...conditionsCauses(listOf(status.conditions).map(treeOf), 'status.conditions'),
  ];
};

const statuses = ['False', 'True', 'Unknown'];
const reasonForm = /^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$/;
const reasonProblem =
  "a condition reason must start with alphabetic character, optionally followed by a string of alphanumeric characters or '_,:', and must end with an alphanumeric character or '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName',  or 'ReasonA,ReasonB',  or 'ReasonA:ReasonB', regex used for validation is '[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?')";

/** Conditions of the common shape: each type once, and each whole. */
function conditionsCauses(conditions: Tree[], path: string): Cause[] {
  const seen = new Set<unknown>();
  return conditions.flatMap((condition, i) => {
    const causes = conditionCauses(condition, `${path}[${i}]`);
    if (seen.has(condition.type)) causes.unshift(duplicate(`${path}[${i}].type`, condition.type));
    seen.add(condition.type);
    return causes;
  });
}

function conditionCauses(condition: Tree, path: string): Cause[] {
  const type = textOf(condition.type);
  const reason = textOf(condition.reason);
  const causes = qualifiedProblems(type).map((why) => invalidValue(`${path}.type`, type, why));
  if (!statuses.includes(textOf(condition.status)))
    causes.push(unsupported(`${path}.status`, textOf(condition.status), statuses));
  if (numberIn(condition, 'observedGeneration') < 0)
    causes.push(
      invalidValue(`${path}.observedGeneration`, condition.observedGeneration, 'must be greater than or equal to zero'),
    );
  if (!condition.lastTransitionTime) causes.push(required(`${path}.lastTransitionTime`));
  if (reason === '') causes.push(required(`${path}.reason`));
  else if (!reasonForm.test(reason)) causes.push(invalidValue(`${path}.reason`, reason, reasonProblem));
  if (reason.length > 1024) causes.push(tooLong(`${path}.reason`, 1024));
  if (textOf(condition.message).length > 32 * 1024) causes.push(tooLong(`${path}.message`, 32 * 1024));
  return causes;
}
