// Asking who may do what and who one is: access reviews, impersonation, tokens of ServiceAccounts.
import { arranged, type Ask, type Case, type Chapter, core, get, of, post, remove, type Tree } from '../case.ts';
import { access, allowed, may, review } from '../grants.ts';

const joe = { as: 'joe' };

const asks = (rest: Tree = {}): Tree => ({
  resourceAttributes: { namespace: '<ns>', verb: 'get', resource: 'pods', ...rest },
});

const reviews: Case[] = [
  {
    name: 'an admin asks about itself and is allowed',
    steps: [post(`${access}selfsubjectaccessreviews`, review('SelfSubjectAccessReview', asks()))],
  },
  {
    name: 'another asks about itself and is not',
    steps: [post(`${access}selfsubjectaccessreviews`, review('SelfSubjectAccessReview', asks()), joe)],
  },
  {
    name: 'a review names the role and binding that allow',
    steps: [
      ...allowed('joe', may(['get'], ['pods'])),
      post(`${access}selfsubjectaccessreviews`, review('SelfSubjectAccessReview', asks()), joe),
    ],
  },
  {
    name: 'a review of a path',
    steps: [
      post(
        `${access}selfsubjectaccessreviews`,
        review('SelfSubjectAccessReview', { nonResourceAttributes: { path: '/apis/apps', verb: 'get' } }),
        joe,
      ),
    ],
  },
  {
    name: 'a review of resource and path at once is Invalid',
    steps: [
      post(
        `${access}selfsubjectaccessreviews`,
        review('SelfSubjectAccessReview', { ...asks(), nonResourceAttributes: { path: '/x', verb: 'get' } }),
      ),
    ],
  },
  {
    name: 'a review of nothing is Invalid',
    steps: [post(`${access}selfsubjectaccessreviews`, review('SelfSubjectAccessReview', {}))],
  },
  {
    name: 'a review of another by an admin',
    steps: [
      ...allowed('joe', may(['get'], ['pods'])),
      post(`${access}subjectaccessreviews`, review('SubjectAccessReview', { ...asks(), user: 'joe' })),
    ],
  },
  {
    name: 'a review of nobody is Invalid',
    steps: [post(`${access}subjectaccessreviews`, review('SubjectAccessReview', asks()))],
  },
  {
    name: 'a review of another is not for everybody',
    steps: [post(`${access}subjectaccessreviews`, review('SubjectAccessReview', { ...asks(), user: 'ann' }), joe)],
  },
  {
    name: 'a local review in its namespace',
    steps: [
      post(
        of('authorization.k8s.io/v1', 'localsubjectaccessreviews'),
        review('LocalSubjectAccessReview', { ...asks(), user: 'ann' }),
      ),
    ],
  },
  {
    name: 'a local review of another namespace is Invalid',
    steps: [
      post(
        of('authorization.k8s.io/v1', 'localsubjectaccessreviews'),
        review('LocalSubjectAccessReview', { ...asks({ namespace: 'other' }), user: 'ann' }),
      ),
    ],
  },
  {
    name: 'the rules of oneself in a namespace',
    steps: [
      ...allowed('joe', may(['get'], ['pods'])),
      post(`${access}selfsubjectrulesreviews`, review('SelfSubjectRulesReview', { namespace: '<ns>' }), {
        ...joe,
        only: ['status.resourceRules', 'status.incomplete'],
      }),
    ],
  },
  {
    name: 'the rules of oneself need a namespace',
    steps: [post(`${access}selfsubjectrulesreviews`, review('SelfSubjectRulesReview', {}), joe)],
  },
  {
    name: 'who am I answers name and groups',
    steps: [
      post('/apis/authentication.k8s.io/v1/selfsubjectreviews', review('SelfSubjectReview', {}), {
        ...joe,
        only: ['kind', 'status.userInfo.username', 'status.userInfo.groups'],
      }),
    ],
  },
  {
    name: 'a token review of a good token',
    steps: [
      post('/apis/authentication.k8s.io/v1/tokenreviews', review('TokenReview', { token: 'joe' }), {
        only: ['kind', 'status.authenticated', 'status.user.username', 'status.user.groups'],
      }),
    ],
  },
  {
    name: 'a token review of a wrong token',
    steps: [post('/apis/authentication.k8s.io/v1/tokenreviews', review('TokenReview', { token: 'wrong' }))],
  },
  {
    name: 'a token review of nothing is a bad request',
    steps: [post('/apis/authentication.k8s.io/v1/tokenreviews', review('TokenReview', {}))],
  },
];

const whoAmI = (headers: Record<string, string>, as = 'admin'): Ask =>
  post('/apis/authentication.k8s.io/v1/selfsubjectreviews', review('SelfSubjectReview', {}), { headers, as });

const impersonation: Case[] = [
  { name: 'an admin may be another', steps: [whoAmI({ 'impersonate-user': 'ann' })] },
  {
    name: 'an admin may be another of a group',
    steps: [whoAmI({ 'impersonate-user': 'ann', 'impersonate-group': 'friends' })],
  },
  {
    name: 'an admin may be another with extra words',
    steps: [whoAmI({ 'impersonate-user': 'ann', 'impersonate-extra-scope': 'a' })],
  },
  {
    name: 'an admin may be a ServiceAccount, with its groups',
    steps: [whoAmI({ 'impersonate-user': 'system:serviceaccount:<ns>:sa' })],
  },
  { name: 'a group to be without a user is an internal error', steps: [whoAmI({ 'impersonate-group': 'friends' })] },
  { name: 'another may not be somebody else', steps: [whoAmI({ 'impersonate-user': 'ann' }, 'joe')] },
  {
    name: 'an uid may be taken on with the name',
    steps: [whoAmI({ 'impersonate-user': 'ann', 'impersonate-uid': 'u1' })],
  },
];

const tokens: Case[] = [
  {
    name: 'a token made for a ServiceAccount lets it in',
    steps: [
      arranged(post(core('serviceaccounts'), { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'sa' } })),
      arranged(
        post(core('serviceaccounts/sa/token'), {
          apiVersion: 'authentication.k8s.io/v1',
          kind: 'TokenRequest',
          spec: {},
        }),
        { token: 'status.token' },
      ),
      post('/apis/authentication.k8s.io/v1/selfsubjectreviews', review('SelfSubjectReview', {}), {
        headers: { authorization: 'Bearer <token>' },
        only: ['status.userInfo.username', 'status.userInfo.groups'],
      }),
      get(core('configmaps'), { headers: { authorization: 'Bearer <token>' } }),
    ],
  },
  {
    name: 'a token of a ServiceAccount that is gone is Unauthorized',
    steps: [
      arranged(post(core('serviceaccounts'), { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'sa' } })),
      arranged(
        post(core('serviceaccounts/sa/token'), {
          apiVersion: 'authentication.k8s.io/v1',
          kind: 'TokenRequest',
          spec: {},
        }),
        { token: 'status.token' },
      ),
      arranged(remove(core('serviceaccounts/sa'))),
      get(core('configmaps'), { headers: { authorization: 'Bearer <token>' }, until: { status: 401 } }),
    ],
  },
];

export const reviewing: Chapter = { name: 'review', needs: 'bare', cases: [...reviews, ...impersonation, ...tokens] };
