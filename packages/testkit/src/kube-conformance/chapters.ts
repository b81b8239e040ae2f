// The list of the suite's chapters.
import type { Chapter } from './case.ts';
import { applying } from './chapters/apply.ts';
import { body } from './chapters/body.ts';
import { discovery } from './chapters/discovery.ts';
import { lists } from './chapters/list.ts';
import { object } from './chapters/object.ts';
import { patches } from './chapters/patch.ts';
import { removal } from './chapters/removal.ts';
import { subresources } from './chapters/subresource.ts';
import { watching } from './chapters/watch.ts';

export const chapters: readonly Chapter[] = [
  discovery,
  object,
  body,
  lists,
  watching,
  removal,
  patches,
  applying,
  subresources,
];
