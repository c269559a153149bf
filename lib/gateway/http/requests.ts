import type { ServiceId, Unchanged } from "../../text.ts";
import { VERSION } from "../../version.ts";

/** The single agent of the service (interface 1.4). */
export const AGENT_NAME = "the-brain";

export interface ServiceRequest {
  /** The path after the base URL, with a leading slash, percent-encoded. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly body?: Blob;
}

export function headersOf(
  { headers }: ServiceRequest,
  apiKey: string,
  requestId: string,
): Readonly<Record<string, string>> {
  return {
    "accept": "application/json",
    ...headers,
    "user-agent": `agent-gateway/${VERSION}`,
    "x-api-key": apiKey,
    "x-request-id": requestId,
  };
}

export const THREAD_REQUEST: ServiceRequest = { path: "/threads" };

export function runRequest(
  threadId: ServiceId,
  prompt: Unchanged,
  { headers }: Pick<ServiceRequest, "headers">,
): ServiceRequest {
  const json = JSON.stringify({ agentName: AGENT_NAME, prompt, wait: false });
  return {
    path: runsPath(threadId),
    headers: { ...headers, "content-type": "application/json" },
    // A Blob, because fetch repeats a request by itself if its body is a string
    // (denoland/deno#32566), and never if it is a Blob.
    body: new Blob([json], { type: "application/json" }),
  };
}

export function streamRequest(
  threadId: ServiceId,
  runId: ServiceId,
  { headers }: Pick<ServiceRequest, "headers">,
): ServiceRequest {
  return {
    path: `${runsPath(threadId)}/${encodeURIComponent(runId)}/stream`,
    headers: {
      ...headers,
      "accept": "text/event-stream",
      "accept-encoding": "identity", // compressing proxies delay events
    },
  };
}

function runsPath(threadId: ServiceId): string {
  return `/threads/${encodeURIComponent(threadId)}/runs`;
}
