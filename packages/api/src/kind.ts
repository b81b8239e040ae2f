// What one of our kinds consists of, beside the schema of its fields.
import type { Static, TSchema } from 'typebox';
import type { Rule } from './schema.ts';

/** As every Kubernetes object has it. The same shape as the client's, repeated so that neither package needs the other. */
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
  ownerReferences?: {
    apiVersion: string;
    kind: string;
    name: string;
    uid: string;
    controller?: boolean;
    blockOwnerDeletion?: boolean;
  }[];
  managedFields?: unknown[];
}

/** An object as the API server returns it: fields that have a default are there. */
export interface Resource<Spec, Status> {
  apiVersion: string;
  kind: string;
  metadata: ObjectMeta;
  spec: Spec;
  status?: Status;
}

/** A kind as the API server's paths name it. `type` exists for the compiler alone: it lets the client infer the object's type. */
export interface KindOf<T> {
  group: string;
  version: string;
  kind: string;
  plural: string;
  namespaced: boolean;
  readonly type?: T;
}

/** A column of `kubectl get`. */
export interface Column {
  name: string;
  type: 'string' | 'integer' | 'date';
  description: string;
  /** Where the value is found, such as `.spec.veip`. */
  jsonPath: string;
  /** Shown by `kubectl get -o wide` only. */
  wide?: true;
}

/** All that is known of one kind. CRDs, documentation, checks and forms are made from this. */
export interface Definition<Spec extends TSchema = TSchema, Status extends TSchema = TSchema> {
  kind: KindOf<Resource<Static<Spec>, Static<Status>>>;
  shortName: string;
  description: string;
  spec: Spec;
  status: Status;
  /** Rules that look at spec and status together. */
  rules: Rule<Resource<Static<Spec>, Static<Status>>>[];
  columns: Column[];
}

/** A kind with its status subresource, whose fields are described by `spec` and `status`. */
export const define = <Spec extends TSchema, Status extends TSchema>(
  definition: Definition<Spec, Status>,
): Definition<Spec, Status> => definition;
