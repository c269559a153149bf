import {
  type Behaviour,
  complete,
  encodeItem,
  progress,
  type StreamItem,
} from "./behaviours.ts";
import { soon } from "../waits.ts";
import type { RecordedRequest } from "./exchange.ts";

/**
 * One stream whose events are sent by the test.
 *
 * @example
 * ```ts
 * const gate = new GatedStream();
 * service.misbehave("stream", gate.behaviour);
 * await gate.opened;
 * gate.progress("plan", "started");
 * gate.complete("Done.");
 * ```
 */
export class GatedStream {
  readonly #opened = Promise.withResolvers<RecordedRequest>();
  readonly #pipe = new TransformStream<Uint8Array, Uint8Array>();
  readonly #writer = this.#pipe.writable.getWriter();

  /** Answers the one request that this stream is for. */
  readonly behaviour: Behaviour = (request) => {
    this.#opened.resolve(request);
    const headers = { "content-type": "text/event-stream" };
    return new Response(this.#pipe.readable, { headers });
  };

  /** Resolves with the request when the client asks for the stream. */
  get opened(): Promise<RecordedRequest> {
    return soon(this.#opened.promise, () => "a request for the stream");
  }

  /** Resolves when the client, or the service, drops the stream unfinished. */
  get dropped(): Promise<unknown> {
    const dropped = this.#writer.closed
      .then(() => Promise.reject(new Error("It has ended")), () => {});
    return soon(dropped, () => "the end of a dropped stream");
  }

  /** Sends events, text or bytes. They are held until the request arrives. */
  send(...items: readonly StreamItem[]): void {
    for (const item of items) {
      this.#writer.write(encodeItem(item)).catch(() => {}); // It was dropped.
    }
  }

  /** Sends a `progress` event. */
  progress(node: string, status: string): void {
    this.send(progress(node, status));
  }

  /** Sends a `complete` event with this reply, and ends the stream. */
  complete(reply: string): void {
    this.send(complete(reply));
    this.end();
  }

  /** Ends the stream correctly. */
  end(): void {
    this.#writer.close().catch(() => {}); // It was dropped.
  }
}
