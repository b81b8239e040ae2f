// What the server answers when it refuses: Kubernetes' Status object, one maker per reason, with the real server's words.
import type { Tree } from './object.ts';

export interface Cause {
  reason?: string;
  message?: string;
  field?: string;
}

export interface StatusDetails {
  name?: string;
  group?: string;
  kind?: string;
  uid?: string;
  causes?: Cause[];
  retryAfterSeconds?: number;
}

/** A `v1` Status of a failure. */
export interface Status {
  kind: 'Status';
  apiVersion: 'v1';
  metadata: Tree;
  status: 'Failure';
  message: string;
  reason?: string;
  details?: StatusDetails;
  code: number;
}

export type Result<T> = { ok: true; value: T } | { ok: false; status: Status };

export const ok = <T>(value: T): Result<T> => ({ ok: true, value });
export const refuse = (status: Status): { ok: false; status: Status } => ({ ok: false, status });

/** The group and plural of a resource: all a message needs to name it. */
export interface ResourceName {
  group: string;
  resource: string;
}

/** `deployments.apps`, or `pods` in the core group. */
export const qualified = ({ group, resource }: ResourceName): string => (group ? `${resource}.${group}` : resource);

export function failure(code: number, reason: string, message: string, details?: StatusDetails): Status {
  const status: Status = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message, reason, code };
  if (details) status.details = details;
  return status;
}

const detailsOf = (at: ResourceName, name: string): StatusDetails => ({
  ...(name ? { name } : {}),
  ...(at.group ? { group: at.group } : {}),
  kind: at.resource,
});

export const notFound = (at: ResourceName, name: string): Status =>
  failure(404, 'NotFound', `${qualified(at)} "${name}" not found`, detailsOf(at, name));

export const noSuchResource = (): Status =>
  failure(404, 'NotFound', 'the server could not find the requested resource', {});

export const alreadyExists = (at: ResourceName, name: string): Status =>
  failure(409, 'AlreadyExists', `${qualified(at)} "${name}" already exists`, detailsOf(at, name));

/** The same of a name that is to become free: its object is on its way out. */
export function stillExists(at: ResourceName, name: string): Status {
  const status = alreadyExists(at, name);
  return { ...status, message: `object is being deleted: ${status.message}` };
}

export const conflict = (at: ResourceName, name: string, why: string): Status =>
  failure(409, 'Conflict', `Operation cannot be fulfilled on ${qualified(at)} "${name}": ${why}`, detailsOf(at, name));

export const modified = (at: ResourceName, name: string): Status =>
  conflict(at, name, 'the object has been modified; please apply your changes to the latest version and try again');

export const badRequest = (message: string): Status => failure(400, 'BadRequest', message);
/** An object without the name that the URL says it has. */
export const unnamed = (name: string): Status =>
  badRequest(`the name of the object (${name} based on URL) was undeterminable: name must be provided`);
export const unauthorized = (): Status => failure(401, 'Unauthorized', 'Unauthorized');
export const methodNotAllowed = (): Status =>
  failure(405, 'MethodNotAllowed', 'the server does not allow this method on the requested resource', {});
export const tooLarge = (limit: number): Status =>
  failure(413, 'RequestEntityTooLarge', `Request entity too large: limit is ${limit}`);
export const unsupportedMedia = (wanted: string[]): Status =>
  failure(
    415,
    'UnsupportedMediaType',
    `the body of the request was in an unknown format - accepted media types include: ${wanted.join(', ')}`,
  );
export const expired = (message: string): Status => failure(410, 'Expired', message);
export const internal = (message: string): Status =>
  failure(500, 'InternalError', `Internal error occurred: ${message}`, { causes: [{ message }] });

/** A failure of something behind the server, told as it came: no reason is known for it. */
export function unexplained(message: string): Status {
  const { reason: _, ...status } = failure(500, '', message);
  return status;
}

export function forbidden(at: ResourceName, name: string, why: string): Status {
  const subject = name ? `${qualified(at)} "${name}" is forbidden` : `${qualified(at)} is forbidden`;
  return failure(403, 'Forbidden', `${subject}: ${why}`, detailsOf(at, name));
}

/** A revision the server has not reached: the client is to try again in a second. */
export const tooNew = (wanted: number, current: number): Status =>
  failure(504, 'Timeout', `Timeout: Too large resource version: ${wanted}, current: ${current}`, {
    causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
    retryAfterSeconds: 1,
  });

/** 422 with one cause per field, as `kubectl` prints them. */
export function invalid(at: { group: string; kind: string }, name: string, causes: Cause[]): Status {
  const lines = causes.map((cause) => `${cause.field ? `${cause.field}: ` : ''}${cause.message ?? ''}`);
  // The message says what is wrong once, however often it was found; the causes keep each finding.
  const said = asList([...new Set(lines)]);
  const kind = at.group ? `${at.kind}.${at.group}` : at.kind;
  return failure(422, 'Invalid', `${kind} "${name}" is invalid: ${said}`, {
    ...(name ? { name } : {}),
    ...(at.group ? { group: at.group } : {}),
    ...(at.kind ? { kind: at.kind } : {}),
    causes,
  });
}

const asList = (lines: string[]): string => (lines.length === 1 ? (lines[0] ?? '') : `[${lines.join(', ')}]`);
