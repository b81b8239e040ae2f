// The list of the suite's chapters.
import type { Chapter } from './case.ts';
import { accesses } from './chapters/access.ts';
import { applying } from './chapters/apply.ts';
import { body } from './chapters/body.ts';
import { customs } from './chapters/custom.ts';
import { definitions } from './chapters/definition.ts';
import { discovery } from './chapters/discovery.ts';
import { lists } from './chapters/list.ts';
import { object } from './chapters/object.ts';
import { own } from './chapters/own.ts';
import { patches } from './chapters/patch.ts';
import { policies } from './chapters/policy.ts';
import { pods } from './chapters/pod.ts';
import { removal } from './chapters/removal.ts';
import { reviewing } from './chapters/review.ts';
import { services } from './chapters/service.ts';
import { small } from './chapters/small.ts';
import { subresources } from './chapters/subresource.ts';
import { tables } from './chapters/table.ts';
import { watching } from './chapters/watch.ts';
import { webhooks } from './chapters/webhook.ts';
import { workloads } from './chapters/workload.ts';

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
  pods,
  services,
  workloads,
  small,
  tables,
  accesses,
  reviewing,
  definitions,
  customs,
  own,
  webhooks,
  policies,
];
