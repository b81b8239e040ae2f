// Lbticket: a user's claim to a pair of addresses and, later, the listners on it.
import { type Static, Type } from 'typebox';
import { conditions, observedGeneration, readiness, whatToDo } from './condition.ts';
import { type KindOf, type Resource, define } from './kind.ts';
import { listners } from './listner.ts';
import { type Rule, atomicList, choice, label, nullable, objectName, ruled } from './schema.ts';

const address = (title: string, layer: string) =>
  nullable(
    {
      title,
      description: `Address on the ${layer}, inside its network. Empty: one is chosen, and written here.`,
    },
    { maxLength: 45, pattern: '^([0-9A-Fa-f.:]+)?$' },
  );

const spec = ruled(
  Type.Object(
    {
      loadbalancer: objectName({
        title: 'Load balancer',
        description: 'Name of the Loadbalancer to get addresses from.',
      }),
      namespace: label({ title: 'Namespace', description: 'Namespace in the target cluster, where the Services are.' }),
      veip: Type.Optional(address('VE address', 'second layer')),
      ltmip: Type.Optional(address('LTM address', 'first layer')),
      lbtype: choice(['listner', 'ingress'], {
        title: 'Use',
        description: 'What the addresses are for: listners of this ticket, or F5 Ingresses.',
        default: 'listner',
      }),
      claimer: Type.Optional(
        Type.String({
          title: 'Claimer',
          description: 'Who asks, as the approver knows them.',
          maxLength: 253,
          pattern: '^[^\\x00-\\x1f\\x7f]*$',
        }),
      ),
      state: choice(['enabled', 'disabled', 'deleted'], {
        title: 'Wanted state',
        description:
          'disabled: keep addresses and network policy, withdraw the configuration. deleted (from disabled or failed): release everything.',
        default: 'enabled',
      }),
      listners: Type.Optional(listners),
    },
    { title: 'Spec', description: 'The addresses wanted, and the listners on them.' },
  ),
  {
    cel: "self.lbtype == 'listner' || !has(self.listners) || size(self.listners) == 0",
    message:
      'a ticket with lbtype ingress has no listners of its own: remove the listners, or file a ticket with lbtype listner for them',
    zh: 'lbtype 为 ingress 的工单没有自己的监听器:请删除 listners,或为其另行申请 lbtype 为 listner 的工单',
    field: '.listners',
    holds: (s) => s.lbtype === 'listner' || s.listners === undefined || s.listners.length === 0,
  },
);

const words = { title: 'State', description: 'Where the ticket is in its life.' };
const states = ['created', 'apply', 'enabled', 'failed', 'disabled', 'deleted'] as const;

/** What the status has room for of a user's name. */
export const longestUser = 1024;

const transition = Type.Object(
  {
    when: Type.String({ title: 'When', description: 'When it changed.', format: 'date-time', maxLength: 64 }),
    who: Type.Optional(
      Type.String({
        title: 'Who',
        description:
          'The user that caused it, where admission saw one. Who removed the object is not told here: the audit log of the API server knows.',
        maxLength: longestUser,
      }),
    ),
    from: Type.Optional(
      choice([...states], { title: 'From', description: 'The state before; absent for a new ticket.' }),
    ),
    to: choice([...states], { title: 'To', description: 'The state after.' }),
    why: Type.String({ title: 'Why', description: 'The reason, for people.', maxLength: 4096 }),
  },
  { title: 'Transition', description: 'One change of state.' },
);

const filing = Type.Object(
  {
    loadbalancer: Type.String({
      title: 'Load balancer',
      description: 'The Loadbalancer whose spec.policy named the approver, and whose token is used there.',
      maxLength: 253,
    }),
    provider: choice(['auto', 'manual', 'http'], { title: 'Provider', description: 'spec.policy.provider of then.' }),
    url: Type.Optional(
      Type.String({ title: 'URL', description: 'spec.policy.url of then, for provider http.', maxLength: 2048 }),
    ),
    cluster: Type.String({ title: 'Cluster', description: 'The cluster that it names.', maxLength: 253 }),
    namespace: Type.String({ title: 'Namespace', description: 'The namespace that it names.', maxLength: 253 }),
    claimer: Type.Optional(
      Type.String({ title: 'Claimer', description: 'The claimer that it names.', maxLength: 253 }),
    ),
  },
  {
    title: 'Filing',
    description:
      'Where the application is filed, or is being filed, and what it says: there it is asked about and withdrawn, whatever the Loadbalancer names by now.',
  },
);

const status = Type.Object(
  {
    observedGeneration: Type.Optional(observedGeneration),
    process: Type.Optional(choice([...states], words)),
    veip: Type.Optional(
      Type.String({ title: 'VE address', description: 'Second-layer address that the ticket holds.', maxLength: 45 }),
    ),
    ltmip: Type.Optional(
      Type.String({ title: 'LTM address', description: 'First-layer address that the ticket holds.', maxLength: 45 }),
    ),
    application: Type.Optional(
      Type.String({
        title: 'Application',
        description: 'Id of the network policy application at the approver.',
        maxLength: 256,
      }),
    ),
    filing: Type.Optional(filing),
    refiled: Type.Optional(
      Type.Integer({
        title: 'Filed anew',
        description: 'How often an application was given up for another. Each has an Idempotency-Key of its own.',
        format: 'int64',
        minimum: 0,
      }),
    ),
    answeredBy: Type.Optional(
      Type.String({
        title: 'Answered by',
        description: 'By admission: the user who answered the application in this status, until it is in the history.',
        maxLength: longestUser,
      }),
    ),
    history: Type.Optional(
      atomicList(transition, {
        title: 'History',
        description: 'The last 20 changes of state, oldest first.',
        maxItems: 20,
      }),
    ),
    conditions: Type.Optional(
      conditions('Allocated, NetworkPolicyOpen, Programmed, CertificatesValid, ServicesFound, LabelConflict, Ready'),
    ),
  },
  { title: 'Status', description: 'What the controller last observed.' },
);

export type LbticketSpec = Static<typeof spec>;
export type LbticketStatus = Static<typeof status>;
export type Lbticket = Resource<LbticketSpec, LbticketStatus>;
/** Where a ticket is in its life. */
export type Process = (typeof states)[number];
export type Transition = Static<typeof transition>;
/** Where an application is filed, and what it says besides ticket and addresses. */
export type Filing = Static<typeof filing>;

export const lbtickets: KindOf<Lbticket> = {
  group: 'ebcpaas.io',
  version: 'v1',
  kind: 'Lbticket',
  plural: 'lbtickets',
  namespaced: true,
};

/** Setting this annotation to "true" lets an enabled ticket be disabled though it has listners. */
export const forceAnnotation = 'fairlead.io/force';

/** On a ticket, by admission alone: the user whose write last changed what is asked for. What users put there is replaced. */
export const changedByAnnotation = 'fairlead.io/changed-by';

/** What a person answered an application, where the approver is one: in the condition NetworkPolicyOpen. */
export function answerIn({ status }: Lbticket): 'opened' | 'rejected' | undefined {
  const found = status?.conditions?.find(({ type }) => type === 'NetworkPolicyOpen');
  if (found?.status === 'True') return 'opened';
  return found?.reason.toLowerCase() === 'rejected' ? 'rejected' : undefined;
}

/** On a ticket, by the controller: the addresses that it chose, `<VE>,<LTM>`. */
export const allocatedAnnotation = 'fairlead.io/allocated';

/** Fields that only created and failed tickets may change: elsewhere they are promises made to the network and the device. */
const frozenFields = ['loadbalancer', 'namespace', 'veip', 'ltmip', 'lbtype'] as const;

/** May the fields above change in this state? A ticket that no controller has seen yet counts as created. */
export const isOpen = (ticket: Lbticket): boolean =>
  ticket.status?.process === undefined || ticket.status.process === 'created' || ticket.status.process === 'failed';

const openCel = `!has(oldSelf.status) || !has(oldSelf.status.process) || oldSelf.status.process in ['created', 'failed']`;

// CEL reserves the word namespace, so the API server offers the field under an escaped name.
const celName = (field: string) => (field === 'namespace' ? '__namespace__' : field);

const valueCel = (side: string, field: string) =>
  `(has(${side}.spec.${celName(field)}) ? ${side}.spec.${celName(field)} : '')`;

const frozen = (field: (typeof frozenFields)[number]): Rule<Lbticket> => ({
  cel: `${openCel} || ${valueCel('self', field)} == ${valueCel('oldSelf', field)}`,
  message: `${field} can change only while the ticket is created or failed: put the old value back, or file another ticket`,
  zh: `只有已创建(created)或已失败(failed)状态的工单才能更改 ${field}:请恢复原值,或另行申请工单`,
  field: `.spec.${field}`,
  onChange: true,
  holds: (self, old) => isOpen(old) || (self.spec[field] ?? '') === (old.spec[field] ?? ''),
});

export const lbticket = define({
  kind: lbtickets,
  shortName: 'lbt',
  description: 'A claim to a pair of addresses (LTM and VE) of a Loadbalancer, and the listners on it.',
  spec,
  status,
  rules: [
    ...frozenFields.map(frozen),
    {
      cel: "oldSelf.spec.state != 'deleted' || self.spec.state == 'deleted'",
      message: 'a deleted ticket stays deleted, its addresses may belong to someone else by now: file another ticket',
      zh: '已删除的工单不能恢复,其地址可能已分配给他人:请另行申请工单',
      field: '.spec.state',
      onChange: true,
      holds: (self, old) => old.spec.state !== 'deleted' || self.spec.state === 'deleted',
    },
    {
      cel: "self.spec.state != 'deleted' || oldSelf.spec.state == 'deleted' || (has(oldSelf.status) && has(oldSelf.status.process) && oldSelf.status.process in ['disabled', 'failed', 'deleted'])",
      message:
        'only disabled and failed tickets can be deleted: set state to disabled first, and wait for process disabled',
      zh: '只有已禁用(disabled)或已失败(failed)的工单才能删除:请先将 state 设为 disabled,待 process 变为 disabled 后再删除',
      field: '.spec.state',
      onChange: true,
      holds: (self, old) => self.spec.state !== 'deleted' || old.spec.state === 'deleted' || isDeletable(old),
    },
  ],
  columns: [
    { name: 'State', type: 'string', description: 'Where the ticket is in its life.', jsonPath: '.status.process' },
    { name: 'VEIP', type: 'string', description: 'Second-layer address.', jsonPath: '.spec.veip' },
    { name: 'LTMIP', type: 'string', description: 'First-layer address.', jsonPath: '.spec.ltmip' },
    {
      name: 'Loadbalancer',
      type: 'string',
      description: 'Where the addresses come from.',
      jsonPath: '.spec.loadbalancer',
    },
    ...readiness,
    {
      name: 'Target',
      type: 'string',
      description: 'Namespace in the target cluster.',
      jsonPath: '.spec.namespace',
      wide: true,
    },
    { name: 'Use', type: 'string', description: 'What the addresses are for.', jsonPath: '.spec.lbtype', wide: true },
    { name: 'Wanted', type: 'string', description: 'The state the user wants.', jsonPath: '.spec.state', wide: true },
    { name: 'Claimer', type: 'string', description: 'Who asked.', jsonPath: '.spec.claimer', wide: true },
    whatToDo,
  ],
});

/** May the ticket be given up (state deleted), or its object removed? */
export const isDeletable = (ticket: Lbticket): boolean =>
  ticket.status?.process === 'disabled' || ticket.status?.process === 'failed' || ticket.status?.process === 'deleted';
