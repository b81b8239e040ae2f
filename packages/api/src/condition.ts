// What every kind's status has: conditions in the form Kubernetes gives them, and the generation they speak of.
import { type Static, Type } from 'typebox';
import type { Column } from './kind.ts';
import { choice, listMap } from './schema.ts';

const condition = Type.Object(
  {
    type: Type.String({ title: 'Type', description: 'What the condition is about, such as Ready.', maxLength: 316 }),
    status: choice(['True', 'False', 'Unknown'], { title: 'Status', description: 'Whether it holds.' }),
    observedGeneration: Type.Optional(
      Type.Integer({
        title: 'Observed generation',
        description: 'The metadata.generation this was found for.',
        format: 'int64',
        minimum: 0,
      }),
    ),
    lastTransitionTime: Type.String({
      title: 'Since',
      description: 'When the status last changed.',
      format: 'date-time',
      maxLength: 64,
    }),
    reason: Type.String({
      title: 'Reason',
      description: 'Why, as one word for programs.',
      minLength: 1,
      maxLength: 1024,
      pattern: '^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$',
    }),
    message: Type.String({
      title: 'Message',
      description: 'Why, and what to do about it, for people.',
      maxLength: 32_768,
    }),
  },
  { title: 'Condition', description: 'One fact about the object as last observed.' },
);

export type Condition = Static<typeof condition>;

export const conditions = (types: string) =>
  listMap(condition, ['type'], {
    title: 'Conditions',
    description: `What was last observed. Types: ${types}.`,
    maxItems: 32,
  });

export const observedGeneration = Type.Integer({
  title: 'Observed generation',
  description:
    'The metadata.generation that this status speaks of; lower than the present one means that an edit is still waiting.',
  format: 'int64',
  minimum: 0,
});

const ready = (field: string): string => `.status.conditions[?(@.type=="Ready")].${field}`;

/** Columns of what has a condition Ready: whether it works, why not, and its age. */
export const readiness: Column[] = [
  { name: 'Ready', type: 'string', description: 'Whether it works.', jsonPath: ready('status') },
  { name: 'Reason', type: 'string', description: 'Why not.', jsonPath: ready('reason') },
  { name: 'Age', type: 'date', description: 'Since when there is one.', jsonPath: '.metadata.creationTimestamp' },
];

export const whatToDo: Column = {
  name: 'Message',
  type: 'string',
  description: 'What to do.',
  jsonPath: ready('message'),
  wide: true,
};
