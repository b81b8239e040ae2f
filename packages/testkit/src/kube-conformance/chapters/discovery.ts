// What a client finds out first: versions, groups, resources, and where there is nothing.
import { type Chapter, get, post } from '../case.ts';

const aggregated = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json';

/** Groups whose resources the embedded server serves, with the fields of a resource that clients act on. */
const groups = [
  'apps/v1',
  'networking.k8s.io/v1',
  'discovery.k8s.io/v1',
  'coordination.k8s.io/v1',
  'policy/v1',
  'rbac.authorization.k8s.io/v1',
  'authentication.k8s.io/v1',
  'authorization.k8s.io/v1',
  'apiextensions.k8s.io/v1',
  'events.k8s.io/v1',
];

const coreResources = [
  'pods',
  'pods/status',
  'pods/eviction',
  'pods/binding',
  'services',
  'services/status',
  'endpoints',
  'nodes',
  'nodes/status',
  'namespaces',
  'namespaces/finalize',
  'configmaps',
  'secrets',
  'events',
  'serviceaccounts',
  'serviceaccounts/token',
];

export const discovery: Chapter = {
  name: 'discovery',
  needs: 'bare',
  cases: [
    { name: 'the core group has the version v1', steps: [get('/api', { only: ['kind', 'versions'] })] },
    {
      name: 'the list of groups names each with its preferred version',
      steps: [
        get('/apis', {
          only: ['kind', 'apiVersion', ...groups.map((one) => `groups[name=${one.split('/')[0]}]`)],
        }),
      ],
    },
    ...coreResources.map((resource) => ({
      name: `the core group serves ${resource} with its verbs, short names and categories`,
      steps: [get('/api/v1', { only: ['kind', 'groupVersion', `resources[name=${resource}]`] })],
    })),
    ...groups.map((group) => ({
      name: `${group} lists its resources and their verbs`,
      steps: [
        get(`/apis/${group}`, {
          only: ['kind', 'apiVersion', 'groupVersion', 'resources.*.name', 'resources.*.verbs', 'resources.*.kind'],
        }),
      ],
    })),
    {
      name: 'deployments name their scale and status as subresources of other kinds',
      steps: [
        get('/apis/apps/v1', { only: ['resources[name=deployments/scale]', 'resources[name=deployments/status]'] }),
      ],
    },
    { name: 'a group by its name answers its versions', steps: [get('/apis/apps')] },
    { name: 'an unknown group is a plain 404', steps: [get('/apis/nothing.example.com')] },
    { name: 'an unknown version of a group is a plain 404', steps: [get('/apis/apps/v9')] },
    { name: 'an unknown version of the core group is a plain 404', steps: [get('/api/v9')] },
    { name: 'an unknown resource of a group is a plain 404', steps: [get('/apis/apps/v1/nothings')] },
    { name: 'an unknown resource in a namespace is a plain 404', steps: [get('/api/v1/namespaces/<ns>/nothings')] },
    { name: 'an unknown subresource is a plain 404', steps: [get('/api/v1/namespaces/<ns>/configmaps/a/nothing')] },
    { name: 'a path outside the API is a plain 404', steps: [get('/nothing')] },
    { name: 'a post to a discovery document is not allowed', steps: [post('/apis/apps/v1', {})] },
    {
      name: 'aggregated discovery answers groups with their resources in one document',
      steps: [
        get('/apis', {
          accept: aggregated,
          only: ['kind', 'apiVersion', 'items[metadata.name=apps]'],
        }),
      ],
    },
    {
      name: 'aggregated discovery of the core group answers it with an empty name',
      steps: [
        get('/api', {
          accept: aggregated,
          only: ['kind', 'apiVersion', 'items.0.metadata', 'items.0.versions.0.version'],
        }),
      ],
    },
    {
      name: 'readyz, livez and healthz answer ok',
      steps: [get('/readyz'), get('/livez'), get('/healthz')],
    },
    {
      name: 'the version answers major and minor',
      steps: [get('/version', { only: ['major', 'minor', 'gitVersion', 'compiler'] })],
    },
    {
      name: 'OpenAPI v3 lists a document for each group and version',
      steps: [get('/openapi/v3', { only: ['paths.api/v1', 'kind'] })],
      realOnly: 'the addresses carry a hash of a document of all kinds, of which the embedded server has fewer',
    },
  ],
};
