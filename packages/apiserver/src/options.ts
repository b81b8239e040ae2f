// The options of a request, from its query: what is refused in them, as the real server words it.
import { isEqual, isTree, type Tree } from './object.ts';
import { forbiddenField, invalidValue, tooLong, unsupported } from './field-error.ts';
import type { Call } from './request.ts';
import { invalid, ok, refuse, type Cause, type Result } from './status.ts';

const kinds: Record<string, string> = { create: 'CreateOptions', update: 'UpdateOptions', patch: 'PatchOptions' };
const validations = ['', 'Ignore', 'Strict', 'Warn'];
const longest = 128;

export const isDryRun = (call: Call): boolean => call.query.getAll('dryRun').includes('All');

/** Refuses options of a create, an update or a patch that the server does not know. */
export function checkOptions(call: Call, isApply = false): Result<void> {
  const { query, target } = call;
  const causes = dryRunCauses(query.getAll('dryRun').filter((value) => value !== ''));
  const manager = query.get('fieldManager') ?? '';
  if (isApply && manager === '')
    causes.push({
      reason: 'FieldValueRequired',
      message: 'Required value: is required for apply patch',
      field: 'fieldManager',
    });
  if (Buffer.byteLength(manager) > longest) causes.push(tooLong('fieldManager', longest));
  const unprintable = [...manager].find((mark) => !/[\P{C}]/u.test(mark));
  if (unprintable !== undefined)
    causes.push(invalidValue('fieldManager', manager, 'should only contain printable characters'));
  if (target.verb === 'patch' && !isApply && query.has('force'))
    causes.push(forbiddenField('force', 'may not be specified for non-apply patch'));
  const validation = query.get('fieldValidation') ?? '';
  if (!validations.includes(validation)) causes.push(unsupported('fieldValidation', validation, validations));
  return asResult(kinds[target.verb] ?? 'CreateOptions', causes);
}

export const asResult = (kind: string, causes: Cause[]): Result<void> =>
  causes.length > 0 ? refuse(invalid({ group: 'meta.k8s.io', kind }, '', causes)) : ok(undefined);

/** `All`, and nothing else, may be asked for. */
const dryRunCauses = (values: unknown[]): Cause[] =>
  values.every((value) => value === 'All') ? [] : [unsupported('dryRun', values, ['All'])];

export interface DeleteOptions {
  gracePeriodSeconds?: number;
  propagationPolicy?: string;
  /** What older clients say instead of a propagation policy, which it was turned into. */
  orphanDependents?: boolean;
  preconditions?: { uid?: string; resourceVersion?: string };
  dryRun?: boolean;
}

const policies = ['Foreground', 'Background', 'Orphan'];

/** Options of a delete, from a `DeleteOptions` or, where it says nothing, the call's query. */
export function deleteOptionsOf(call: Call, body: Tree): Result<DeleteOptions> {
  const said = { ...fromQuery(call.query), ...body };
  const dryRun = Array.isArray(said.dryRun) ? said.dryRun : [];
  const causes = dryRunCauses(dryRun);
  const policy = said.propagationPolicy ?? undefined;
  const isOrphan = said.orphanDependents ?? undefined;
  if (policy !== undefined && isOrphan !== undefined)
    causes.push(
      invalidValue('propagationPolicy', policy, 'orphanDependents and deletionPropagation cannot be both set'),
    );
  else if (policy !== undefined && !policies.includes(String(policy)))
    causes.push(unsupported('propagationPolicy', policy, [...policies, 'nil']));
  const wrong = asResult('DeleteOptions', causes);
  if (!wrong.ok) return wrong;
  const chosen =
    typeof policy === 'string' ? policy : isOrphan === true ? 'Orphan' : isOrphan === false ? 'Background' : undefined;
  const seconds = said.gracePeriodSeconds;
  return ok({
    // A negative grace is taken for the least there is.
    ...(typeof seconds === 'number' ? { gracePeriodSeconds: seconds < 0 ? 1 : seconds } : {}),
    ...(chosen === undefined ? {} : { propagationPolicy: chosen }),
    ...(typeof isOrphan === 'boolean' ? { orphanDependents: isOrphan } : {}),
    ...(isTree(said.preconditions) && !isEqual(said.preconditions, {}) ? { preconditions: said.preconditions } : {}),
    dryRun: dryRun.length > 0,
  });
}

function fromQuery(query: URLSearchParams): Tree {
  const said: Tree = {};
  const seconds = query.get('gracePeriodSeconds');
  if (seconds !== null && /^-?\d+$/.test(seconds)) said.gracePeriodSeconds = Number(seconds);
  const policy = query.get('propagationPolicy');
  if (policy) said.propagationPolicy = policy;
  const orphan = query.get('orphanDependents');
  if (orphan) said.orphanDependents = orphan === 'true' || orphan === '1';
  const dryRun = query.getAll('dryRun').filter((value) => value !== '');
  if (dryRun.length > 0) said.dryRun = dryRun;
  return said;
}

const exact = 'Exact';
const notOlder = 'NotOlderThan';
const matchField = 'resourceVersionMatch';
const initialField = 'sendInitialEvents';

/** Refuses options of a list that contradict each other. */
export function checkListOptions(query: URLSearchParams): Result<void> {
  const match = query.get(matchField) ?? '';
  const causes: Cause[] = [];
  const forbid = (why: string, field = matchField) => causes.push(forbiddenField(field, why));
  if (match !== '') {
    if (!query.get('resourceVersion')) forbid('resourceVersionMatch is forbidden unless resourceVersion is provided');
    if (query.get('continue')) forbid('resourceVersionMatch is forbidden when continue is provided');
    if (match !== exact && match !== notOlder) causes.push(unsupported(matchField, match, [exact, notOlder, '']));
    if (match === exact && query.get('resourceVersion') === '0')
      forbid('resourceVersionMatch "exact" is forbidden for resourceVersion "0"');
  }
  if (query.has(initialField)) forbid('sendInitialEvents is forbidden for list', initialField);
  return asResult('ListOptions', causes);
}

/** Refuses options of a watch that contradict each other. */
export function checkWatchOptions(query: URLSearchParams): Result<void> {
  const match = query.get(matchField) ?? '';
  const hasInitial = query.has(initialField);
  const causes: Cause[] = [];
  const forbid = (why: string) => causes.push(forbiddenField(matchField, why));
  if (hasInitial && match !== notOlder)
    forbid(`sendInitialEvents requires setting resourceVersionMatch to ${notOlder}`);
  if (match !== '') {
    if (!hasInitial) forbid('resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided');
    if (match !== notOlder) causes.push(unsupported(matchField, match, [notOlder]));
    if (query.get('continue')) forbid('resourceVersionMatch is forbidden when continue is provided');
  }
  return asResult('ListOptions', causes);
}
