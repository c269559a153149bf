/** Values that are pulled one by one, synchronously or asynchronously. */
export type Source<T> = Iterable<T> | AsyncIterable<T>;

/**
 * A stream that pulls from its source only as its reader requests.
 *
 * `source` gets a signal that is aborted when the reader cancels. An exception of
 * `source` errors the stream.
 */
export function toByteStream(
  source: (signal: AbortSignal) => AsyncIterator<Uint8Array>,
): ReadableStream<Uint8Array> {
  const dropped = new AbortController();
  const iterator = source(dropped.signal);
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await iterator.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    cancel(reason) {
      dropped.abort(reason);
    },
  }, { highWaterMark: 0 });
}

/** The same bytes in chunks of `size`. */
export async function* rechunk(
  source: AsyncIterable<Uint8Array>,
  size: number,
): AsyncGenerator<Uint8Array, void> {
  let chunk = new Uint8Array(size);
  let length = 0;
  for await (let rest of source) {
    while (rest.length > 0) {
      const taken = rest.subarray(0, size - length);
      chunk.set(taken, length);
      length += taken.length;
      rest = rest.subarray(taken.length);
      if (length < size) continue;
      yield chunk;
      chunk = new Uint8Array(size);
      length = 0;
    }
  }
  if (length > 0) yield chunk.subarray(0, length);
}

/** Resolves after `ms`; rejects, its timer gone, once `signal` is aborted. */
export function sleep(ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.reject(signal.reason);
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", stop);
      resolve();
    }, ms);
    signal.addEventListener("abort", stop, { once: true });
  });
}

/** Rejects with the signal's reason once it is aborted, never resolves. */
export function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) return reject(signal.reason);
    signal.addEventListener("abort", () => reject(signal.reason), {
      once: true,
    });
  });
}
