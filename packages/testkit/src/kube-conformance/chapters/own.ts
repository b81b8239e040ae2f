// Our own kinds as they are shipped: their definitions, the quickstart's objects, and what users get wrong.
import { readdirSync, readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { apply, arranged, type Ask, type Case, type Chapter, get, type Json, patch, post, type Tree } from '../case.ts';
import { access, bindingsAt, review, rolesAt } from '../grants.ts';
import { changed, type Changes, rbac } from '../objects.ts';
import { partOf } from '../part.ts';

const repository = new URL('../../../../../', import.meta.url);
const yaml = (path: string): Tree => parse(readFileSync(new URL(path, repository), 'utf8')) as Tree;

const crds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const definitions = readdirSync(new URL('deploy/crds/', repository))
  .filter((file) => file.endsWith('.yaml'))
  .sort()
  .map((file) => yaml(`deploy/crds/${file}`));

/** Of the quickstart, which is of the seed; in the case's own namespace. */
const example = (file: string): Tree => yaml(`examples/quickstart/management/${file}`);
const loadbalancer = example('01-loadbalancer.yaml');
const ticket = changed(example('02-lbticket.yaml'), { 'metadata.namespace': undefined });
const rule = changed(example('03-lbrule.yaml'), { 'metadata.namespace': undefined });

const lbs = '/apis/ebcpaas.lb/v1/loadbalancers';
const tickets = '/apis/ebcpaas.io/v1/namespaces/<ns>/lbtickets';
const lbrules = '/apis/ebcpaas.lb/v1/namespaces/<ns>/lbrules';

const kinds: [string, string, Tree][] = [
  ['Loadbalancer', lbs, loadbalancer],
  ['Lbticket', tickets, ticket],
  ['Lbrule', lbrules, rule],
];

const wrong: [string, string, Tree, Changes][] = [
  ['a Loadbalancer with a network of 33 bits', lbs, loadbalancer, { 'spec.ve.cidr': '10.0.0.0/33' }],
  ['a Loadbalancer without a network', lbs, loadbalancer, { 'spec.ltm.cidr': undefined }],
  ['a Loadbalancer without a cluster', lbs, loadbalancer, { 'spec.cluster': undefined }],
  ['a Loadbalancer whose LTM is at no address', lbs, loadbalancer, { 'spec.ltm.url': 'nowhere' }],
  ['a Loadbalancer without a spec', lbs, loadbalancer, { spec: undefined }],
  ['a Lbticket with a weight of 101', tickets, ticket, { 'spec.listners.0.services.0.weight': 101 }],
  ['a Lbticket with a weight of -1', tickets, ticket, { 'spec.listners.0.services.0.weight': -1 }],
  ['a Lbticket with a weight that is a text', tickets, ticket, { 'spec.listners.0.services.0.weight': '60' }],
  ['a Lbticket with a port of 0', tickets, ticket, { 'spec.listners.0.port': 0 }],
  ['a Lbticket with a port of 65536', tickets, ticket, { 'spec.listners.0.port': 65_536 }],
  ['a Lbticket with a listner name used twice', tickets, ticket, { 'spec.listners.1.name': 'lsnr1' }],
  ['a Lbticket with an unknown protocol', tickets, ticket, { 'spec.listners.0.protocal': 'icmp' }],
  ['a Lbticket without a load balancer', tickets, ticket, { 'spec.loadbalancer': undefined }],
  ['a Lbticket whose listner has no services', tickets, ticket, { 'spec.listners.0.services': [] }],
  ['a Lbticket of an unknown session', tickets, ticket, { 'spec.listners.0.session': 'always' }],
  ['a Lbrule with an unknown type of condition', lbrules, rule, { 'spec.rules.0.type': 'weather' }],
  ['a Lbrule with an unknown operator', lbrules, rule, { 'spec.rules.0.values.0.operator': 'near' }],
  ['a Lbrule with a range that is none', lbrules, rule, { 'spec.rules.1.values.1.value': 'some' }],
  ['a Lbrule without a ticket', lbrules, rule, { 'spec.lbticket': undefined }],
];

/** What the schema cannot see, or passes over by Kubernetes' own rules. */
const tolerated: typeof wrong = [
  ['a Loadbalancer with an unknown field', lbs, loadbalancer, { 'spec.color': 'red' }],
  ['a Lbticket with an address that is none', tickets, ticket, { 'spec.veip': '20.1.0.256' }],
  ['a Lbticket with an unknown field', tickets, ticket, { 'spec.listners.0.protocol': 'http' }],
  ['a Lbticket without listners', tickets, ticket, { 'spec.listners': [] }],
  [
    'a Lbrule with a regular expression that does not compile',
    lbrules,
    rule,
    { 'spec.rules.0.values.0': { operator: 'regexp', value: '(' } },
  ],
  [
    'a Lbrule with a value that tries to leave its quotes',
    lbrules,
    rule,
    { 'spec.rules.0.values.0.value': '"]; exec rm -rf /; [' },
  ],
];

const definitionParts = [
  'spec.group',
  'spec.names',
  'spec.scope',
  'spec.conversion',
  'spec.preserveUnknownFields',
  'spec.versions.*.name',
  'spec.versions.*.served',
  'spec.versions.*.storage',
  'spec.versions.*.subresources',
  'spec.versions.*.additionalPrinterColumns',
  'spec.versions.*.selectableFields',
  'status.acceptedNames',
  'status.conditions.*.type',
  'status.conditions.*.status',
];

const named = (path: string, { metadata }: Tree): string => `${path}/${String((metadata as Tree)['name'])}`;
const created = (path: string, object: Tree): Ask => arranged(post(path, object));

const lives = kinds.flatMap(([kind, path, object]): Case[] => [
  { name: `the seed's ${kind} is taken and its fields are given`, steps: [post(path, object)] },
  {
    name: `a ${kind} is applied by the server, and its fields are owned`,
    steps: [
      apply('kubectl', named(path, object), object, { only: ['spec', 'metadata.managedFields'], hasManagers: true }),
    ],
  },
  {
    name: `a ${kind} is printed in its columns, the wide ones too`,
    steps: [
      created(path, object),
      get(`${path}?fieldSelector=metadata.name%3D${String((object['metadata'] as Tree)['name'])}`, {
        accept: 'application/json;as=Table;v=v1;g=meta.k8s.io',
        only: ['columnDefinitions', 'rows.*.cells'],
      }),
    ],
  },
  {
    name: `the status of a ${kind} is written through its subresource`,
    steps: [
      created(path, object),
      patch(
        'merge-patch',
        `${named(path, object)}/status`,
        {
          status: {
            conditions: [
              {
                type: 'Ready',
                status: 'True',
                reason: 'Fine',
                message: 'it is',
                lastTransitionTime: '2020-01-01T00:00:00Z',
              },
            ],
          },
        },
        { only: ['status', 'metadata.generation'] },
      ),
    ],
  },
]);

const update = (name: string, [path, object]: [string, Tree], spec: Json): Case => ({
  name,
  steps: [created(path, object), patch('merge-patch', named(path, object), { spec })],
});

const served: Ask[] = [lbs, '/apis/ebcpaas.io/v1/lbtickets', '/apis/ebcpaas.lb/v1/lbrules'].map((path) => ({
  ...get(path),
  until: { status: 200 },
}));

const rbacAt = '/apis/rbac.authorization.k8s.io/v1';
const roles = readdirSync(new URL('deploy/rbac/', repository))
  .filter((file) => file.endsWith('.yaml'))
  .sort()
  .map((file) => yaml(`deploy/rbac/${file}`));
const nameOf = (object: Tree): string => String((object['metadata'] as Tree)['name']);

/** What a holder of each shipped role is asked about: verb, group, resource. */
const questions: [string, string, string][] = ['get', 'create', 'update', 'patch', 'delete'].flatMap((verb) =>
  [
    ['ebcpaas.lb', 'loadbalancers'],
    ['ebcpaas.lb', 'loadbalancers/status'],
    ['ebcpaas.io', 'lbtickets'],
    ['ebcpaas.io', 'lbtickets/status'],
    ['ebcpaas.lb', 'lbrules'],
    ['', 'secrets'],
    ['', 'configmaps'],
    ['', 'services'],
    ['networking.k8s.io', 'ingresses/status'],
  ].map(([group = '', resource = '']): [string, string, string] => [verb, group, resource]),
);

/** Group and resource of a role's first rule: all of ours may be read. */
function firstOf(role: Tree): [group: string, resource: string] {
  const [rule] = role['rules'] as { apiGroups: string[]; resources: string[] }[];
  return [rule?.apiGroups[0] ?? '', rule?.resources[0] ?? ''];
}

const granted = roles.map((object): Case => {
  const user = `holder-of-${nameOf(object)}`;
  // A Role counts in the namespace it is made in, which is here the case's own.
  const kind = String(object['kind']);
  const made = kind === 'Role' ? changed(object, { 'metadata.namespace': undefined }) : object;
  const bound = rbac(`${kind}Binding`, '<ns>-own', {
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind, name: nameOf(object) },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: user }],
  });
  const ask = (verb: string, group: string, name: string): Ask => {
    const [resource = '', subresource = ''] = name.split('/');
    const attributes = { namespace: '<ns>', verb, group, resource, subresource };
    return post(
      `${access}subjectaccessreviews`,
      review('SubjectAccessReview', { user, resourceAttributes: attributes }),
    );
  };
  return {
    name: `the shipped role ${nameOf(object)} grants what it is to grant`,
    steps: [
      arranged(post(kind === 'Role' ? rolesAt : `${rbacAt}/clusterroles`, made)),
      arranged(post(kind === 'Role' ? bindingsAt : `${rbacAt}/clusterrolebindings`, bound)),
      arranged({ ...ask('get', ...firstOf(object)), until: { 'body.status.allowed': true } }),
      ...questions.map(([verb, group, resource]) => ({
        ...ask(verb, group, resource),
        only: ['spec.resourceAttributes', 'status.allowed'],
      })),
    ],
  };
});

export const own: Chapter = {
  name: 'own',
  before: [...definitions.map((object) => post(crds, object)), ...served],
  cases: [
    ...definitions.map((object): Case => ({
      name: `our definition ${String((object['metadata'] as Tree)['name'])} is taken whole: nothing of it is pruned or given`,
      steps: [
        get(`${crds}/${String((object['metadata'] as Tree)['name'])}`, {
          only: definitionParts,
          // It may grow without the rule being another.
          sent: { 'spec.versions.0.schema': partOf(object, 'spec.versions.0.schema') ?? null },
        }),
      ],
    })),
    ...lives,
    ...granted,
    ...wrong.map(([what, path, object, changes]): Case => ({
      name: `${what} is refused by its schema`,
      steps: [post(path, changed(object, changes))],
    })),
    ...tolerated.map(([what, path, object, changes]): Case => ({
      name: `${what} passes the schema: checking it is our admission's part`,
      steps: [post(path, changed(object, changes))],
    })),
    update('a ticket may be moved to another load balancer, as far as the schema goes', [tickets, ticket], {
      loadbalancer: 'other',
    }),
    update('a ticket may ask for another address', [tickets, ticket], { veip: '20.1.0.11' }),
    update('a rule may be moved to another ticket', [lbrules, rule], { lbticket: 'other' }),
    update('the listners of a ticket may be replaced', [tickets, ticket], {
      listners: [
        { name: 'lsnr1', port: 80, protocal: 'http', services: [{ service: 'svc01', port: 8080, weight: 1 }] },
      ],
    }),
  ],
};
