// What a patch cannot ask for, in the real server's words: strategic merges without a key, values no schema reads.
import { expect, test } from 'vitest';
import { known } from '../kinds/fields.ts';
import { applyJsonPatch } from './json-patch.ts';
import { strategicProblem } from './strategic-problem.ts';
import { typedProblem } from './typed.ts';

const pod = known('io.k8s.api.core.v1.Pod');
const live = { spec: { nodeSelector: {}, containers: [{ name: 'web', ports: [{ containerPort: 80 }] }] } };

test.each([
  [
    { spec: { containers: [{ name: 'web', ports: [{ name: 'x' }] }] } },
    'map: map[name:x] does not contain declared merge key: containerPort',
  ],
  [{ spec: { containers: [{ image: 'x' }] } }, 'map: map[image:x] does not contain declared merge key: name'],
  [
    { spec: { containers: [{ $patch: 'delete' }] } },
    'map: map[$patch:delete] does not contain declared merge key: name',
  ],
  [{ spec: { containers: [{ $patch: 'merge' }] } }, 'merging lists cannot yet be specified in the patch'],
  [
    { spec: { containers: [{ name: 'web', $patch: 'grow' }] } },
    'unknown patch type: grow in map: map[$patch:grow name:web]',
  ],
  [{ spec: { containers: ['web'] } }, 'expected a map[string]interface {}, but received a string'],
  [{ spec: { $patch: 'merge', a: [1, null] } }, 'unknown patch type: merge in map: map[$patch:merge a:[1 <nil>]]'],
  [{ spec: { $retainKeys: ['a'], b: 1 } }, 'invalid patch format of retainKeys'],
  [{ spec: { '$setElementOrder/containers': 'web' } }, 'invalid patch format of setElementOrder list'],
])('a strategic patch %j: %s', (patch, message) => {
  expect(strategicProblem(live, patch, pod)?.message).toBe(message);
});

test.each([
  { spec: { containers: [{ $patch: 'replace' }, { image: 'x' }] } },
  { spec: { containers: [{ name: 'web', $patch: 'delete' }] } },
  { spec: { initContainers: [{ image: 'taken as it is, for there are none' }] } },
  { spec: { nodeSelector: { $patch: 'replace', a: 'b' } } },
])('a strategic patch %j can be merged', (patch) => {
  expect(strategicProblem(live, patch, pod)).toBeUndefined();
});

test.each([
  [
    { spec: { nodeName: { a: 1 } } },
    '.spec.nodeName: expected string, got &value.valueUnstructured{Value:map[string]interface {}{"a":1}}',
  ],
  [{ spec: { hostNetwork: 'yes' } }, '.spec.hostNetwork: expected boolean, got &{yes}'],
  [{ spec: { priority: true } }, '.spec.priority: expected numeric (int or float), got bool'],
  [{ spec: [1] }, '.spec: expected map, got &{[1]}'],
  [{ spec: { containers: {} } }, '.spec.containers: expected list, got &{map[]}'],
  [
    { spec: { containers: [{ name: 'a' }, null] } },
    '.spec.containers: element 1: associative list with keys may not have a null element',
  ],
  [{ spec: { containers: [{ name: 'a' }, { name: 'a' }] } }, '.spec.containers: duplicate entries for key [name="a"]'],
  [
    { spec: { containers: [{ name: 'a', args: [1] }] } },
    '.spec.containers[name="a"].args[0]: expected string, got &value.valueUnstructured{Value:1}',
  ],
  [{ metadata: { name: 'a', lables: {} } }, '.metadata.lables: field not declared in schema'],
])('an applied %j cannot be read: %s', (fields, why) => {
  const object = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a' }, ...fields };
  expect(typedProblem(object, pod, '/v1, Kind=Pod')).toBe(
    `failed to create typed patch object (/a; /v1, Kind=Pod): ${why}`,
  );
});

test('texts that may be numbers are read as either', () => {
  const spec = {
    containers: [{ name: 'a', resources: { limits: { cpu: 1 } }, livenessProbe: { httpGet: { port: 80 } } }],
  };
  expect(typedProblem({ apiVersion: 'v1', kind: 'Pod', metadata: {}, spec }, pod, '')).toBeUndefined();
});

test.each([
  ['/data/x~1y', { data: { 'x/y': 1 } }],
  ['/nothing/x', undefined],
  ['/list/3', undefined],
])('a JSON patch that replaces %s', (path, value) => {
  const target = { data: {}, list: [1] };
  const patched = applyJsonPatch(target, [{ op: 'replace', path, value: 1 }]);
  expect(patched).toEqual(
    value ? { ok: true, value: { ...target, ...value } } : expect.objectContaining({ ok: false }),
  );
});
