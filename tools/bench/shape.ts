/**
 * The shape of a run's stream. The prompt that starts the run contains it as
 * JSON, so the service need not remember it.
 *
 * @module
 */

/** The shape of a stream: `progress` events, then `complete`. */
export interface Shape {
  /** How many `progress` events there are. */
  readonly events: number;
  /** The bytes of each of them on the wire. The default is the minimum. */
  readonly eventBytes?: number;
  /** The bytes of an HTTP chunk, which is one write. The default is {@linkcode CHUNK_BYTES}. */
  readonly chunkBytes?: number;
  /** How many times the same events are sent. The default is 1. */
  readonly repeat?: number;
  /**
   * Events per second. Each is a chunk of its own, and its status is the
   * {@linkcode clock} at the moment it was sent. By default all at once.
   */
  readonly rate?: number;
  /** How many streams with a rate begin together. The default is 1. */
  readonly together?: number;
}

/** The default size of an HTTP chunk, in bytes. */
export const CHUNK_BYTES = 64 * 1024;

const encoder = new TextEncoder();

/** A clock in milliseconds that all processes of a machine share. */
export function clock(): number {
  return performance.timeOrigin + performance.now();
}

/** How many events the stream holds, the last one included. */
export function countEvents({ events, repeat = 1 }: Shape): number {
  return events * repeat + 1;
}

/** How many bytes the stream holds, without HTTP's own. */
export function countBytes(shape: Shape): number {
  const { events, repeat = 1 } = shape;
  return progressEvent(shape).length * events * repeat + COMPLETE.length;
}

/** The bytes of a `progress` event, in the size of the shape. */
export function progressEvent(
  { eventBytes = 0 }: Shape,
  status = "started",
): Uint8Array {
  const encode = (status: string) =>
    encoder.encode(
      `data: ${
        JSON.stringify({ event: "progress", node: "plan", status })
      }\n\n`,
    );
  const shortest = encode(status);
  const missing = eventBytes - shortest.length;
  if (missing <= 0) return shortest;
  const words = " and the next step follows from it,";
  const more = words.repeat(Math.ceil(missing / words.length));
  return encode(status + more.slice(0, missing));
}

/** The bytes of the `complete` event. */
export const COMPLETE: Uint8Array = encoder.encode(
  `data: ${
    JSON.stringify({
      event: "complete",
      instructorState: { explanation: "done" },
    })
  }\n\n`,
);

/** The `progress` events, cut into chunks wherever a chunk is full. */
export function* chunksOf(shape: Shape): Generator<Uint8Array, void> {
  const { events, chunkBytes = CHUNK_BYTES } = shape;
  const event = progressEvent(shape);
  const total = event.length * events;
  for (let start = 0; start < total; start += chunkBytes) {
    const chunk = new Uint8Array(Math.min(chunkBytes, total - start));
    for (let filled = 0; filled < chunk.length;) {
      const part = event.subarray((start + filled) % event.length)
        .subarray(0, chunk.length - filled);
      chunk.set(part, filled);
      filled += part.length;
    }
    yield chunk;
  }
}
