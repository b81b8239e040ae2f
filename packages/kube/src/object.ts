// The shape that all Kubernetes objects share, and how a kind is named to the client.

export interface OwnerReference {
  apiVersion: string;
  kind: string;
  name: string;
  uid: string;
  controller?: boolean;
  blockOwnerDeletion?: boolean;
}

export interface ObjectMeta {
  name: string;
  namespace?: string;
  generateName?: string;
  uid?: string;
  resourceVersion?: string;
  generation?: number;
  creationTimestamp?: string;
  deletionTimestamp?: string;
  deletionGracePeriodSeconds?: number;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  finalizers?: string[];
  ownerReferences?: OwnerReference[];
  managedFields?: unknown[];
}

export interface KubeObject {
  apiVersion: string;
  kind: string;
  metadata: ObjectMeta;
}

/** A resource as the API server's paths name it. `T` is the object's type; it exists for the compiler alone. */
export interface Kind<T extends KubeObject = KubeObject> {
  /** Empty for the core group. */
  group: string;
  version: string;
  /** As in `kind:`. */
  kind: string;
  /** As in the path, such as `lbtickets`. */
  plural: string;
  namespaced: boolean;
  readonly type?: T;
}
