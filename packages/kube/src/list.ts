// A whole list, page by page.
import type { Caller } from './call.ts';
import type { KubeResult, WatchOptions } from './kube.ts';
import type { Kind, KubeObject } from './object.ts';
import { nonsense } from './problem.ts';
import { list as listRequest, type KubeRequest, type Page } from './request.ts';

export interface Listed<T> {
  items: T[];
  resourceVersion: string;
}

interface Raw<T> {
  items?: T[] | null;
  metadata?: { resourceVersion?: string; continue?: string };
}

/** Objects per page: a page of large objects stays within a few MB, so memory peaks low. */
const pageSize = 500;

/**
 * Reads all pages. A token that has expired (410) says that the snapshot is gone; then the list starts over in one
 * piece, which cannot expire half-way. Items are projected page by page, so that no two lists are in memory at once.
 */
export async function list<T extends KubeObject>(
  caller: Caller,
  kind: Kind<T>,
  options: WatchOptions<T>,
  signal?: AbortSignal,
): Promise<KubeResult<Listed<T>>> {
  let items: T[] = [];
  let page: Page = { limit: pageSize };
  for (;;) {
    const request = listRequest(kind, options, page);
    if (!request.ok) return request;
    const answer = await pageOf(caller, kind, request.value, signal);
    if (!answer.ok && answer.problem.code === 'gone' && page.continue) {
      items = [];
      page = {};
      continue;
    }
    if (!answer.ok) return answer;
    for (const item of answer.value.items) items.push(options.project ? options.project(item) : item);
    const { resourceVersion, next } = answer.value;
    if (!next) return { ok: true, value: { items, resourceVersion } };
    // A server that repeats its token would be asked for ever.
    if (next === page.continue) return nonsense(request.value, 'a next page: the continue token repeats');
    page = { limit: pageSize, continue: next };
  }
}

interface PageAnswer<T> extends Listed<T> {
  next: string | undefined;
}

async function pageOf<T extends KubeObject>(
  caller: Caller,
  kind: Kind<T>,
  request: KubeRequest,
  signal?: AbortSignal,
): Promise<KubeResult<PageAnswer<T>>> {
  const answer = await caller.call(request, signal);
  if (!answer.ok) return answer;
  const { items, metadata } = (answer.value ?? {}) as Raw<T>;
  if ((items !== null && !Array.isArray(items)) || typeof metadata?.resourceVersion !== 'string')
    return nonsense(request, `a list of ${kind.plural}`);
  const { resourceVersion, continue: next } = metadata;
  return { ok: true, value: { items: (items ?? []).map((item) => named(kind, item)), resourceVersion, next } };
}

/** Items of built-in lists come without `apiVersion` and `kind`; a watch gives both, and readers want one shape. */
function named<T extends KubeObject>(kind: Kind<T>, item: T): T {
  if (item.kind) return item;
  return { ...item, apiVersion: kind.group ? `${kind.group}/${kind.version}` : kind.version, kind: kind.kind };
}
