import type { RemoteGateway, Wait } from "../../lib/gateway.ts";
import { json } from "./service/behaviours.ts";
import { ReferenceService } from "./service/service.ts";

/** A service whose threads are all `t`, and whose runs are all `r`. */
export function startService(): ReferenceService {
  const service = ReferenceService.start();
  service.misbehave("create thread", json({ thread_id: "t" }), Infinity);
  service.misbehave("create run", json({ run_id: "r" }), Infinity);
  return service;
}

/** The outcome of a turn. */
export interface Turn {
  /** The nodes and the reply that were delivered. */
  readonly delivered: readonly string[];
  /** The pauses before retries. */
  readonly waits: readonly Wait[];
  /** The error of a turn that failed. */
  readonly error: unknown;
}

/** Creates a thread and runs a turn on it. */
export async function takeTurn(gateway: RemoteGateway): Promise<Turn> {
  const delivered: string[] = [];
  const waits: Wait[] = [];
  const onWait = (wait: Wait) => waits.push(wait);
  try {
    const threadId = await gateway.createThread();
    for await (const events of gateway.runTurn(threadId, "hello", { onWait })) {
      for (const event of events) {
        delivered.push(event.event === "progress" ? event.node : event.reply);
      }
    }
    return { delivered, waits, error: undefined };
  } catch (error) {
    return { delivered, waits, error };
  }
}

/** The `Last-Event-ID` of each request for a stream, its UTF-8 decoded. */
export function cursors(service: ReferenceService): (string | null)[] {
  return service.requests
    .filter(({ operation }) => operation === "stream")
    .map(({ headers }) => headers.get("last-event-id"))
    .map((id) => id && new TextDecoder().decode(latin1(id)));
}

function latin1(text: string): Uint8Array {
  return Uint8Array.from(text, (character) => character.charCodeAt(0));
}
