import { setTimeout as sleep } from "node:timers/promises";
import type { Endpoint } from "./service.ts";

/**
 * Starts a TCP forwarder on loopback that makes a service as far away as a link would.
 *
 * Each direction is delayed by half a round trip. Order is kept, and throughput is
 * not limited: what is under way is held in memory. A connection costs a round
 * trip of its own: loopback accepts it at once, so the client's first bytes are
 * held back for that much longer. When one side closes it, so does the other.
 *
 * A real link also delays acknowledgements, which the system answers at once here.
 * A program that leaves Nagle's algorithm on, as Deno's `fetch` does, waits for
 * one round trip more on a real link, before its first request over TLS.
 *
 * @param roundTrip The round-trip time of the link, in milliseconds.
 */
export function delayService(
  service: Endpoint,
  roundTrip: number,
): Endpoint & Disposable {
  const { protocol, port } = new URL(service.url);
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  forwardAll(listener, Number(port), roundTrip);
  return {
    url: `${protocol}//127.0.0.1:${listener.addr.port}`,
    authority: service.authority,
    [Symbol.dispose]: () => listener.close(),
  };
}

async function forwardAll(
  listener: Deno.TcpListener,
  port: number,
  roundTrip: number,
): Promise<void> {
  for await (const client of listener) {
    const opened = performance.now() + roundTrip;
    const service = await Deno.connect({ hostname: "127.0.0.1", port });
    const pairs = [[client, service], [service, client]] as const;
    for (const [from, to] of pairs) {
      to.setNoDelay(true);
      from.readable.pipeThrough(delayed(roundTrip / 2, opened))
        .pipeTo(to.writable)
        .catch(() => {}); // The other side is gone.
    }
  }
}

type Bytes = Uint8Array<ArrayBuffer>;

/** Delays chunks. Those that come before the connection is open count from then. */
function delayed(
  milliseconds: number,
  opened: number,
): TransformStream<Bytes, Bytes> {
  let delivered = Promise.resolve();
  return new TransformStream<Bytes, Bytes>(
    {
      transform(chunk, controller) {
        const due = Math.max(performance.now(), opened) + milliseconds;
        delivered = delivered.then(() => until(due))
          .then(() => controller.enqueue(chunk))
          .catch(() => {}); // The other side is gone.
      },
      flush: () => delivered,
    },
    undefined,
    { highWaterMark: Infinity }, // Chunks are read as they come, so that the times are right.
  );
}

async function until(time: number): Promise<void> {
  for (let left; (left = time - performance.now()) > 0;) {
    await sleep(left);
  }
}
