import type { Operation } from "./recorded_request.ts";

/** The operation and ids in a request's path. */
export interface Target {
  readonly operation: Operation;
  /** The one method that the operation has. */
  readonly method: string;
  readonly threadId: string | undefined;
  readonly runId: string | undefined;
}

interface Route {
  readonly operation: Operation;
  readonly method: string;
  readonly pattern: RegExp;
}

const ROUTES: readonly Route[] = [
  { operation: "create thread", method: "POST", pattern: /^\/threads$/ },
  {
    operation: "create run",
    method: "POST",
    pattern: /^\/threads\/([^/?]+)\/runs$/,
  },
  {
    operation: "stream",
    method: "GET",
    pattern: /^\/threads\/([^/?]+)\/runs\/([^/?]+)\/stream$/,
  },
];

/** Finds the operation of a path that is still percent-encoded. */
export function route(path: string, prefix: string): Target | undefined {
  if (!path.startsWith(prefix)) return undefined;
  const rest = path.slice(prefix.length);
  for (const { operation, method, pattern } of ROUTES) {
    const match = pattern.exec(rest);
    if (!match) continue;
    const [, threadId, runId] = match;
    return {
      operation,
      method,
      threadId: threadId && decode(threadId),
      runId: runId && decode(runId),
    };
  }
  return undefined;
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
