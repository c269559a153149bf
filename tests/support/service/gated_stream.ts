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
  readonly #dropped = Promise.withResolvers<void>();
  readonly #queue: (Uint8Array | "end")[] = [];
  #wake: () => void = () => {};

  /** Answers the one request that this stream is for. */
  readonly behaviour: Behaviour = (request) => {
    this.#opened.resolve(request);
    return new Response(
      new ReadableStream<Uint8Array>({
        pull: (controller) => this.#pull(controller),
        cancel: () => this.#dropped.resolve(),
      }, { highWaterMark: 0 }),
      { headers: { "content-type": "text/event-stream" } },
    );
  };

  /** Resolves with the request when the client asks for the stream. */
  get opened(): Promise<RecordedRequest> {
    return soon(this.#opened.promise, () => "a request for the stream");
  }

  /** Resolves when the client, or the service, drops the stream unfinished. */
  get dropped(): Promise<void> {
    return soon(this.#dropped.promise, () => "the end of a dropped stream");
  }

  /** Sends events, text or bytes. They are held until the request arrives. */
  send(...items: readonly StreamItem[]): void {
    for (const item of items) this.#put(encodeItem(item));
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
    this.#put("end");
  }

  #put(entry: Uint8Array | "end"): void {
    this.#queue.push(entry);
    this.#wake();
  }

  async #pull(controller: ReadableStreamDefaultController<Uint8Array>) {
    if (this.#queue.length === 0) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#wake = resolve;
      await promise;
    }
    const entry = this.#queue.shift();
    if (entry === "end") controller.close();
    else if (entry) controller.enqueue(entry);
  }
}
