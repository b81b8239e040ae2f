// What people write in policies: the usual expressions over a Deployment, each with what it gives or how it fails.
import { post } from '../case.ts';
import { deployment } from '../objects.ts';
import { rule } from '../policies.ts';
import { rules, telling, told, type Trial, type Trials, validations } from '../policy-trial.ts';

const of = { ...rule, apiGroups: ['apps'], resources: ['deployments'] };

const written = (name: string) =>
  deployment('web', {
    'metadata.labels': { policy: name, team: 'a-team' },
    'metadata.annotations': { since: '2026-01-02T03:04:05Z', size: '12', host: 'https://a.example.com:8443/x?y=z' },
    'spec.replicas': 3,
    'spec.template.spec.containers': [
      {
        name: 'web',
        image: 'registry.example.com/web:1.27',
        ports: [{ containerPort: 80 }, { containerPort: 8443 }],
        resources: { limits: { cpu: '1500m', memory: '1Gi' }, requests: { cpu: '1' } },
      },
      { name: 'log', image: 'nginx:latest', env: [{ name: 'A', value: '1' }] },
    ],
  });

const variables = [
  { name: 'containers', expression: 'object.spec.template.spec.containers' },
  { name: 'images', expression: 'variables.containers.map(c, c.image)' },
  { name: 'since', expression: 'timestamp(object.metadata.annotations.since)' },
];

const trial = (name: string, says: string, policy: Trial['policy']): Trial => ({
  rule: says,
  policy: { ...rules(of), 'spec.variables': variables, ...policy },
  steps: [post('/apis/apps/v1/namespaces/<ns>/deployments', written(name))],
});

const results: Record<string, string[]> = {
  lists: [
    'variables.containers.all(c, has(c.resources.limits))',
    "variables.images.exists(i, i.startsWith('registry.example.com/'))",
    "variables.containers.filter(c, c.image.endsWith(':latest')).size()",
    "variables.containers.map(c, c.name).join(',')",
    "variables.containers.exists_one(c, c.name == 'web')",
    'variables.containers[0].ports.map(p, p.containerPort).sum()',
    'variables.containers[0].ports.map(p, p.containerPort).isSorted()',
    "variables.images.indexOf('nginx:latest')",
    "sets.contains(['web', 'log', 'x'], variables.containers.map(c, c.name))",
  ],
  maps: [
    "has(object.metadata.labels) && 'team' in object.metadata.labels",
    "object.metadata.labels.exists(k, k.startsWith('te'))",
    "object.metadata.labels.all(k, object.metadata.labels[k] != '')",
    "object.metadata.?labels[?'team'].orValue('none')",
    "object.metadata.?labels[?'owner'].orValue('none')",
    'object.?spec.?nothing.hasValue()',
    'size(object.metadata.labels)',
    'object.spec.selector.matchLabels == object.spec.template.metadata.labels',
  ],
  texts: [
    "variables.images.all(i, i.matches('^[a-z./:0-9]+$'))",
    "variables.images[0].split('/')[1].split(':')[0].upperAscii()",
    'variables.images[0].substring(0, 8)',
    "variables.images[0].lastIndexOf(':')",
    "variables.images[0].replace('registry', 'r')",
    "'%s has %d of %s'.format([object.metadata.name, object.spec.replicas, variables.images])",
    "' a '.trim() + 'b'.charAt(0)",
    "object.metadata.name.contains('e') ? 'yes' : 'no'",
  ],
  sums: [
    'object.spec.replicas * 2 + 1',
    'object.spec.replicas > 2 && object.spec.replicas <= 5',
    'int(object.metadata.annotations.size) / 5',
    'double(object.spec.replicas) / 2.0',
    'object.spec.replicas in [1, 3, 5]',
    'object.spec.replicas == 3.0',
    'quantity(variables.containers[0].resources.limits.cpu).isGreaterThan(quantity(variables.containers[0].resources.requests.cpu))',
    'isQuantity(variables.containers[0].resources.limits.memory)',
    "quantity('1Gi').asInteger()",
    'type(object.spec.replicas) == int',
    'object.spec.strategy.rollingUpdate.maxSurge',
  ],
  others: [
    'variables.since.getFullYear()',
    "variables.since < timestamp('2026-02-01T00:00:00Z')",
    "variables.since + duration('1h')",
    'isURL(object.metadata.annotations.host)',
    'url(object.metadata.annotations.host).getHostname()',
    "cidr('10.0.0.0/8').containsIP('10.1.2.3')",
    "ip('::1').family()",
    "dyn(1) == 1 || dyn('a') == 'a'",
    'oldObject == null || oldObject.spec.replicas == object.spec.replicas',
    "namespaceObject.metadata.?labels['team'].hasValue()",
    'has(object.spec.template.spec.hostNetwork)',
    "request.userInfo.groups.exists(g, g.startsWith('system:'))",
  ],
  formats: [
    'format.dns1123Label().validate(object.metadata.name).hasValue()',
    "format.dns1123Label().validate('A b').value().size()",
    "format.named('uuid').value().validate('x').value()[0]",
    "format.named('nothing').hasValue()",
    "format.dns1123LabelPrefix().validate('a-').hasValue()",
    "format.date().validate('2026').orValue(['fine'])[0]",
    "'%s %s'.format([{'b': 1, 'a': ['x', true, null]}, duration('90s')])",
    "'%s'.format([[timestamp('2026-01-02T03:04:05.5Z'), duration('1.5s')]])",
    "string(duration('1h'))",
  ],
};

const failing: Record<string, string> = {
  'a key that is not there': 'object.spec.nothing.deep == 1',
  'an index beyond a list': "variables.containers[5].name == 'x'",
  'a comparison of a text with a number': 'object.metadata.name > 1',
  'a text that is no number': 'int(object.metadata.name) == 1',
  'a text that is no moment': 'timestamp(object.metadata.name) == variables.since',
  'a text that is no quantity': "quantity(object.metadata.name).isGreaterThan(quantity('1'))",
  'a division by zero': 'object.spec.replicas / 0 == 1',
  'a key that is not there in one of a list': 'variables.containers.all(c, c.ports.size() > 0)',
  'a pattern that is none': "object.metadata.name.matches('(' + object.metadata.name)",
  'an object where a truth belongs': 'object.spec && true',
  'null where an object belongs': 'oldObject.spec.replicas == 1',
  'a list where a text belongs': "variables.containers.startsWith('x')",
};

export const cookbook: Trials = Object.fromEntries([
  ...Object.entries(results).map(([name, list]): [string, Trial] => [
    name,
    trial(name, `a policy reckons with ${name}`, telling(told(...list))),
  ]),
  ...Object.entries(failing).map(([what, expression], i): [string, Trial] => [
    `fails${i}`,
    trial(`fails${i}`, `a validation that meets ${what} tells so`, validations({ expression })),
  ]),
]);
