import { VERSION } from "../../lib/version.ts";
import { type Behaviour, json } from "./service/behaviours.ts";
import { ReferenceService } from "./service/service.ts";

/**
 * A service whose one thread is `thread-1`, and whose runs are these streams,
 * one after the other.
 */
export function serveStreams(
  ...streams: readonly Behaviour[]
): ReferenceService {
  const service = ReferenceService.start();
  service.misbehave("create thread", json({ thread_id: "thread-1" }));
  for (const stream of streams) addStream(service, stream);
  return service;
}

/** Makes this stream the service's next run. */
export function addStream(service: ReferenceService, stream: Behaviour): void {
  service.misbehave("create run", json({ run_id: "run-1" }));
  service.misbehave("stream", stream);
}

/** The banner's last line: the keys, and how to leave. */
export const KEYS =
  "Alt-Enter starts a line, Ctrl-R searches, Ctrl-C stops, Ctrl-D or exit leaves";

/** The lines above the first prompt if a shell started the client on 80 columns or more. */
export function banner(service: ReferenceService): string[] {
  return [
    "[0]$ agent-gateway",
    `agent-gateway ${VERSION}, agent the-brain, key test...cdef`,
    `service ${service.url}`,
    "thread thread-1",
    KEYS,
    "",
  ];
}

/** The prompts that have reached a service, in order. */
export function promptsOf(service: ReferenceService): readonly unknown[] {
  return service.requests
    .filter(({ operation }) => operation === "create run")
    .map(({ body }) => JSON.parse(body).prompt);
}
