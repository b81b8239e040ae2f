// The authorizer of Kubernetes' CEL: `authorizer.group('apps').resource('deployments').namespace('a').check('get').allowed()`.
import type { Environment } from '@marcbachmann/cel-js';
import type { Action, Decision } from '../access/authorize.ts';

/** Whether somebody may; `account` is a service account (namespace and name) asked about in place of the user. */
export type MayHe = (action: Action, account?: { namespace: string; name: string }) => Decision;

type Ask = (action: Action) => Decision;

const nothing: Action = { verb: '', group: '', resource: '', subresource: '', namespace: '', name: '', path: '' };

export class ResourceCheck {
  readonly ask: Ask;
  readonly action: Action;
  constructor(ask: Ask, action: Action) {
    this.ask = ask;
    this.action = action;
  }
  with(changes: Partial<Action>): ResourceCheck {
    return new ResourceCheck(this.ask, { ...this.action, ...changes });
  }
}

class GroupCheck {
  readonly ask: Ask;
  readonly group: string;
  constructor(ask: Ask, group: string) {
    this.ask = ask;
    this.group = group;
  }
}

class PathCheck {
  readonly ask: Ask;
  readonly path: string;
  constructor(ask: Ask, path: string) {
    this.ask = ask;
    this.path = path;
  }
}

class Answer {
  readonly decision: Decision;
  constructor(decision: Decision) {
    this.decision = decision;
  }
}

/** What `authorizer` is in an expression; `requestResource` is what the write is about. */
export class Authorizer {
  readonly may: MayHe;
  readonly ask: Ask;
  readonly requestResource: ResourceCheck;
  constructor(may: MayHe, request: Partial<Action>, account?: { namespace: string; name: string }) {
    this.may = may;
    this.ask = (action) => may(action, account);
    this.requestResource = new ResourceCheck(this.ask, { ...nothing, ...request });
  }
}

const kind = (name: string): string => `kubernetes.authorization.${name}`;
const [authorizer, path, group, resource, answer] = [
  kind('Authorizer'),
  kind('PathCheck'),
  kind('GroupCheck'),
  kind('ResourceCheck'),
  kind('Decision'),
];
export const authorizerType = authorizer;

export function addAuthorizer(environment: Environment): void {
  const checked = (one: ResourceCheck, verb: string) => new Answer(one.ask({ ...one.action, verb }));
  environment
    .registerType(answer, { ctor: Answer, fields: {} })
    .registerType(resource, { ctor: ResourceCheck, fields: {} })
    .registerType(group, { ctor: GroupCheck, fields: {} })
    .registerType(path, { ctor: PathCheck, fields: {} })
    .registerType(authorizer, { ctor: Authorizer, fields: { requestResource: resource } })
    .registerFunction(
      `${authorizer}.path(string): ${path}`,
      ({ ask }: Authorizer, to: string) => new PathCheck(ask, to),
    )
    .registerFunction(
      `${authorizer}.group(string): ${group}`,
      ({ ask }: Authorizer, name: string) => new GroupCheck(ask, name),
    )
    .registerFunction(
      `${authorizer}.serviceAccount(string, string): ${authorizer}`,
      ({ may, requestResource }: Authorizer, namespace: string, name: string) =>
        new Authorizer(may, requestResource.action, { namespace, name }),
    )
    .registerFunction(
      `${path}.check(string): ${answer}`,
      (one: PathCheck, verb: string) => new Answer(one.ask({ ...nothing, path: one.path, verb })),
    )
    .registerFunction(
      `${group}.resource(string): ${resource}`,
      (one: GroupCheck, name: string) => new ResourceCheck(one.ask, { ...nothing, group: one.group, resource: name }),
    )
    .registerFunction(`${resource}.subresource(string): ${resource}`, (one: ResourceCheck, subresource: string) =>
      one.with({ subresource }),
    )
    .registerFunction(`${resource}.namespace(string): ${resource}`, (one: ResourceCheck, namespace: string) =>
      one.with({ namespace }),
    )
    .registerFunction(`${resource}.name(string): ${resource}`, (one: ResourceCheck, name: string) => one.with({ name }))
    // RBAC does not look at selectors.
    .registerFunction(`${resource}.fieldSelector(string): ${resource}`, (one: ResourceCheck) => one)
    .registerFunction(`${resource}.labelSelector(string): ${resource}`, (one: ResourceCheck) => one)
    .registerFunction(`${resource}.check(string): ${answer}`, checked)
    .registerFunction(`${answer}.allowed(): bool`, ({ decision }: Answer) => decision.isAllowed)
    .registerFunction(`${answer}.reason(): string`, ({ decision }: Answer) => decision.reason)
    .registerFunction(`${answer}.errored(): bool`, () => false)
    .registerFunction(`${answer}.error(): string`, () => '');
}
