// Lbcanary: shifts the requests of one listner, or of one Lbrule, step by step to a new Service, and back when it fails.
import { type Static, Type } from 'typebox';
import { conditions, observedGeneration } from './condition.ts';
import { type KindOf, type Resource, define } from './kind.ts';
import { atomicList, choice, identifier, label, objectName, port, ruled } from './schema.ts';

const percent = (words: { title: string; description: string; default?: number }, minimum = 0) =>
  Type.Integer({ ...words, format: 'int32', minimum, maximum: 100 });

const count = (words: { title: string; description: string }) =>
  Type.Integer({ ...words, format: 'int64', minimum: 0 });

const mostSteps = 10;

/** CEL has no sorted list without Kubernetes' own functions, which not everyone who runs the rule has. */
const risingCel = Array.from(
  { length: mostSteps - 1 },
  (_, i) => `(size(self) < ${i + 2} || self[${i}] < self[${i + 1}])`,
).join(' && ');

const steps = ruled(
  atomicList(percent({ title: 'Share', description: 'Share of the requests for the canary, in percent.' }, 1), {
    title: 'Steps',
    description: 'The shares of the canary, one after the other. After the last it is promoted, and gets everything.',
    minItems: 1,
    maxItems: mostSteps,
  }),
  {
    cel: risingCel,
    message: 'each step must be greater than the one before: write them rising, such as 5, 20, 50, 100',
    zh: '每一步必须大于前一步:请按升序填写,例如 5, 20, 50, 100',
    holds: (list) => list.every((share, i) => i === 0 || share > (list[i - 1] ?? 0)),
  },
);

const states = ['running', 'paused', 'promoted', 'rolledback'] as const;

const spec = Type.Object(
  {
    lbticket: objectName({ title: 'Ticket', description: 'Name of the Lbticket, in the same namespace.' }),
    listner: identifier({ title: 'Listner', description: 'Name of the listner of that ticket.' }),
    lbrule: Type.Optional(
      objectName({
        title: 'Rule',
        description: "Name of an Lbrule on that listner whose weights are shifted. Absent: the listner's own.",
      }),
    ),
    service: label({
      title: 'Service',
      description: 'The canary: one of the Services of the listner or rule. Put it there with weight 0 before.',
    }),
    port: port({ title: 'Port', description: 'Port of that Service, 1 to 65535.' }),
    steps: Object.assign(steps, { default: [5, 20, 50, 100] }),
    pause: Type.String({
      title: 'Pause',
      description:
        'How long each step is watched, counted from when the device has it; so is the baseline before the first.',
      default: '60s',
      maxLength: 32,
      pattern: '^([0-9]+(\\.[0-9]+)?(ms|s|m|h))+$',
    }),
    mode: choice(['automatic', 'manual'], {
      title: 'Mode',
      description: 'automatic: go on after each pause. manual: go on when step is raised.',
      default: 'automatic',
    }),
    state: choice([...states], {
      title: 'Wanted state',
      description:
        'paused: stay at the present step. promoted: everything to the canary. rolledback: back to the weights in the ticket.',
      default: 'running',
    }),
    step: Type.Optional(
      Type.Integer({
        title: 'Step',
        description: 'Go to this step at least (1 is the first), without waiting for the pause.',
        format: 'int32',
        minimum: 1,
        maximum: mostSteps,
      }),
    ),
    maxErrorRatio: percent({
      title: 'Error ratio',
      description:
        "Percentage points by which the canary's errors may exceed the baseline's; more aborts. Only http and https listners are counted.",
      default: 5,
    }),
    minRequests: Type.Integer({
      title: 'Requests',
      description: 'A step is not judged, and not left, before the canary had so many requests. 0: time alone decides.',
      default: 20,
      format: 'int32',
      minimum: 0,
      maximum: 1_000_000,
    }),
    minAvailable: percent({
      title: 'Available members',
      description:
        "Percentage of the canary's members that must be available; fewer abort, unless the baseline is as badly off.",
      default: 50,
    }),
  },
  { title: 'Spec', description: 'What is shifted, how fast, and what ends it.' },
);

const phases = ['pending', 'baseline', 'shifting', 'promoted', 'aborted', 'rolledback'] as const;

const transition = Type.Object(
  {
    when: Type.String({ title: 'When', description: 'When it changed.', format: 'date-time', maxLength: 64 }),
    from: Type.Optional(Type.String({ title: 'From', description: 'Phase and share before.', maxLength: 64 })),
    to: Type.String({ title: 'To', description: 'Phase and share after.', maxLength: 64 }),
    why: Type.String({ title: 'Why', description: 'The reason, for people.', maxLength: 4096 }),
  },
  { title: 'Transition', description: 'One change.' },
);

const window = (description: string) =>
  Type.Object(
    {
      requests: count({ title: 'Requests', description: 'Requests of the listner; connections for tcp and udp.' }),
      errors: count({ title: 'Errors', description: 'Of these, answered with 5xx or not at all.' }),
      canaryRequests: count({ title: 'Canary requests', description: "Requests that went to the canary's pool." }),
    },
    { title: 'Counts', description },
  );

const mark = Type.Object(
  {
    requests: count({ title: 'Requests', description: 'Requests of the listner; connections for tcp and udp.' }),
    errors: count({ title: 'Errors', description: 'Of these, answered with 5xx.' }),
    unanswered: Type.Integer({
      title: 'Unanswered',
      description: 'Of these, not answered: broken off, or under way then.',
      format: 'int64',
    }),
    canaryRequests: count({ title: 'Canary requests', description: "Requests that went to the canary's pool." }),
  },
  { title: 'Mark', description: "The device's counters when this step began." },
);

const pools = Type.Object(
  {
    canaryAvailable: count({ title: 'Canary available', description: "The canary's members that take requests." }),
    canaryMembers: count({ title: 'Canary members', description: "The canary's members, drained ones left out." }),
    baselineAvailable: count({ title: 'Baseline available', description: 'The same of the other Services.' }),
    baselineMembers: count({ title: 'Baseline members', description: 'The same of the other Services.' }),
  },
  { title: 'Members', description: 'What the device last said of the members.' },
);

const status = Type.Object(
  {
    observedGeneration: Type.Optional(observedGeneration),
    phase: Type.Optional(choice([...phases], { title: 'Phase', description: 'Where the canary is in its life.' })),
    step: Type.Optional(count({ title: 'Step', description: 'The present step, 1 is the first; 0 before it.' })),
    weight: Type.Optional(
      percent({
        title: 'Weight',
        description: 'Share of the canary in percent. Absent: the weights in the ticket or rule are in force.',
      }),
    ),
    since: Type.Optional(
      Type.String({
        title: 'Since',
        description: 'When the device had this step; absent while it is on its way.',
        format: 'date-time',
        maxLength: 64,
      }),
    ),
    mark: Type.Optional(mark),
    measured: Type.Optional(window('Counted in this step.')),
    unanswered: Type.Optional(
      count({
        title: 'Unanswered',
        description: 'Requests of this step without an answer at the last look, beyond those that may be under way.',
      }),
    ),
    baseline: Type.Optional(window('Counted before the first step.')),
    members: Type.Optional(pools),
    history: Type.Optional(
      atomicList(transition, { title: 'History', description: 'The last 40 changes, oldest first.', maxItems: 40 }),
    ),
    conditions: Type.Optional(conditions('Accepted, Programmed, Measured, Healthy')),
  },
  { title: 'Status', description: 'What the controller last observed.' },
);

export type LbcanarySpec = Static<typeof spec>;
export type LbcanaryStatus = Static<typeof status>;
export type Lbcanary = Resource<LbcanarySpec, LbcanaryStatus>;
export type CanaryPhase = (typeof phases)[number];
export type CanaryCounts = Static<ReturnType<typeof window>>;
export type CanaryMark = Static<typeof mark>;
export type CanaryMembers = Static<typeof pools>;
export type CanaryTransition = Static<typeof transition>;

export const lbcanaries: KindOf<Lbcanary> = {
  group: 'ebcpaas.lb',
  version: 'v1',
  kind: 'Lbcanary',
  plural: 'lbcanaries',
  namespaced: true,
};

/** Aborted and rolled back ones have ended: they shift nothing, and another may be started on their target. */
export const isCanaryEnded = ({ status: said }: Lbcanary): boolean =>
  said?.phase === 'aborted' || said?.phase === 'rolledback';

const target = ['lbticket', 'listner', 'lbrule', 'service', 'port'] as const;

/** What is shifted, as text: two canaries with the same may not run at once. */
export const canaryTarget = ({ metadata, spec: { lbticket, listner, lbrule } }: Lbcanary): string =>
  `${metadata.namespace ?? ''}/${lbticket}/${listner}/${lbrule ?? ''}`;

const valueCel = (side: string, field: string) => `(has(${side}.spec.${field}) ? dyn(${side}.spec.${field}) : dyn(''))`;

export const lbcanary = define({
  kind: lbcanaries,
  shortName: 'lbc',
  description: 'Shifts the requests of a listner or rule to a new Service in steps, watched, and back when it fails.',
  spec,
  status,
  rules: [
    {
      cel: target.map((field) => `${valueCel('self', field)} == ${valueCel('oldSelf', field)}`).join(' && '),
      message: 'what is shifted, and to which Service, cannot change: roll this one back, and start another',
      zh: '转移的对象和目标 Service 不能更改:请回滚此灰度发布,再新建一个',
      field: '.spec',
      onChange: true,
      holds: (self, old) => target.every((field) => (self.spec[field] ?? '') === (old.spec[field] ?? '')),
    },
    {
      cel: "!has(oldSelf.status) || !has(oldSelf.status.phase) || !(oldSelf.status.phase in ['aborted', 'rolledback']) || self.spec.state == oldSelf.spec.state",
      message: 'it has ended, aborted or rolled back: delete it, and start another',
      zh: '该灰度发布已结束(中止或回滚):请删除,再新建一个',
      field: '.spec.state',
      onChange: true,
      holds: (self, old) => !isCanaryEnded(old) || self.spec.state === old.spec.state,
    },
    {
      cel: "oldSelf.spec.state != 'promoted' || self.spec.state in ['promoted', 'rolledback']",
      message: 'a promoted canary can only be rolled back: set state to rolledback, or start another',
      zh: '已完成(promoted)的灰度发布只能回滚:请将 state 设为 rolledback,或新建一个',
      field: '.spec.state',
      onChange: true,
      holds: (self, old) => old.spec.state !== 'promoted' || ['promoted', 'rolledback'].includes(self.spec.state),
    },
    {
      cel: '!has(self.spec.step) || self.spec.step <= size(self.spec.steps)',
      message: 'step is beyond the last of steps: name an earlier one, or set state to promoted',
      zh: 'step 超出了 steps 的最后一步:请填写较早的一步,或将 state 设为 promoted',
      field: '.spec.step',
      holds: (self) => (self.spec.step ?? 1) <= self.spec.steps.length,
    },
  ],
  columns: [
    { name: 'Lbticket', type: 'string', description: 'The ticket.', jsonPath: '.spec.lbticket' },
    { name: 'Listner', type: 'string', description: 'The listner of the ticket.', jsonPath: '.spec.listner' },
    { name: 'Canary', type: 'string', description: 'The Service requests are shifted to.', jsonPath: '.spec.service' },
    { name: 'Phase', type: 'string', description: 'Where it is in its life.', jsonPath: '.status.phase' },
    { name: 'Weight', type: 'integer', description: 'Its share in percent.', jsonPath: '.status.weight' },
    {
      name: 'Healthy',
      type: 'string',
      description: 'Whether it is no worse than the baseline.',
      jsonPath: '.status.conditions[?(@.type=="Healthy")].status',
    },
    { name: 'Since', type: 'date', description: 'When the device had this step.', jsonPath: '.status.since' },
    { name: 'Age', type: 'date', description: 'Since when there is one.', jsonPath: '.metadata.creationTimestamp' },
    { name: 'Rule', type: 'string', description: 'The rule, if it is one.', jsonPath: '.spec.lbrule', wide: true },
    { name: 'Wanted', type: 'string', description: 'The state the user wants.', jsonPath: '.spec.state', wide: true },
    {
      name: 'Message',
      type: 'string',
      description: 'How it compares.',
      jsonPath: '.status.conditions[?(@.type=="Healthy")].message',
      wide: true,
    },
  ],
});
