/**
 * The requests of the three remote operations (interface 4.1).
 *
 * @module
 */

import type { ServiceRequest } from "./http/service_client.ts";

/** The single agent of the service (interface 1.4). */
export const AGENT_NAME = "the-brain";

/** A run of a thread. */
export interface RunIds {
  readonly threadId: string;
  readonly runId: string;
}

/** Creates a thread. */
export const THREAD_REQUEST: ServiceRequest = {
  operation: "create thread",
  path: "/threads",
};

/** Triggers a run. */
export function runRequest(
  threadId: string,
  prompt: string,
  { headers }: Pick<ServiceRequest, "headers">,
): ServiceRequest {
  return {
    operation: "create run",
    path: runsPath(threadId),
    headers: { ...headers, "content-type": "application/json" },
    body: JSON.stringify({ agentName: AGENT_NAME, prompt, wait: false }),
  };
}

/** Asks for the stream of a run. */
export function streamRequest(
  { threadId, runId }: RunIds,
  { headers }: Pick<ServiceRequest, "headers">,
): ServiceRequest {
  return {
    operation: "stream run",
    path: `${runsPath(threadId)}/${encodeURIComponent(runId)}/stream`,
    headers: {
      ...headers,
      "accept": "text/event-stream",
      "accept-encoding": "identity", // compressing proxies delay events
    },
    runId,
  };
}

// The thread's id is valid: callers check it, or get it from createThread().
function runsPath(threadId: string): string {
  return `/threads/${encodeURIComponent(threadId)}/runs`;
}
