import { expect, test } from 'vitest';
import type { Client } from '../kube/client.ts';
import { kinds } from '../kube/kinds.ts';
import type { OwnerReference, Pod, ReplicaSet } from '../kube/objects.ts';
import { claim } from './owners.ts';

const owner: ReplicaSet = {
  metadata: { name: 'web', namespace: 'a', uid: 'ours', resourceVersion: '1' },
  spec: { selector: { matchLabels: { app: 'web' } }, template: { spec: { containers: [] } } },
};

const by = (uid: string): OwnerReference => ({
  apiVersion: 'apps/v1',
  kind: 'ReplicaSet',
  name: uid,
  uid,
  controller: true,
});

test.each([
  { controller: 'ours', app: 'web', deleting: false, want: 'owned' },
  { controller: 'ours', app: 'web', deleting: true, want: 'owned' },
  { controller: 'ours', app: 'other', deleting: false, want: 'released' },
  { controller: 'ours', app: 'other', deleting: true, want: 'left' },
  { controller: undefined, app: 'web', deleting: false, want: 'adopted' },
  { controller: undefined, app: 'web', deleting: true, want: 'left' },
  { controller: undefined, app: 'other', deleting: false, want: 'left' },
  { controller: 'another', app: 'web', deleting: false, want: 'left' },
  { controller: 'another', app: 'other', deleting: false, want: 'left' },
])('controlled by $controller, app=$app, deleting=$deleting: $want', async ({ controller, app, deleting, want }) => {
  const metadata = {
    name: 'p',
    namespace: 'a',
    uid: 'p',
    resourceVersion: '7',
    labels: { app },
    ...(deleting && { deletionTimestamp: 'now' }),
  };
  const pod: Pod = {
    metadata: { ...metadata, ownerReferences: controller ? [by(controller)] : [] },
    spec: { containers: [] },
  };
  const patches: { metadata: { uid: string; resourceVersion: string; ownerReferences: OwnerReference[] } }[] = [];
  const patch = async (_kind: unknown, _place: unknown, body: (typeof patches)[number]) => {
    patches.push(body);
    return { ok: true, value: { ...pod, ...body } };
  };
  const client = { patch } as unknown as Client;
  const { owned } = await claim({ client, ownerKind: kinds.replicaSet, owner, kind: kinds.pod, candidates: [pod] });
  const references = patches[0]?.metadata.ownerReferences.map((one) => one.uid);
  const told =
    references === undefined
      ? owned.length === 1
        ? 'owned'
        : 'left'
      : references.includes('ours')
        ? 'adopted'
        : 'released';
  expect([told, owned.length]).toEqual([want, want === 'owned' || want === 'adopted' ? 1 : 0]);
  // Without these the patch could hit another object of the same name, or undo somebody's change.
  if (patches[0]) expect(patches[0].metadata).toMatchObject({ uid: 'p', resourceVersion: '7' });
});
